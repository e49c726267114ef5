import { type Request, type Response } from "express";
import { type ReturnKind, type ReturnView } from "../../checkout/handle-return.js";
import { type Payments } from "../../kit/payments.js";
import { type SignedField } from "../../model/signed-fields.js";
import { replyJson } from "../reply.js";
import { noteFacts } from "../request-log.js";
import { clientAddress, failureThrottle } from "../webhook/failure-throttle.js";
import { rawBodyReader } from "../webhook/raw-body.js";
import { claimPage, notFoundPage } from "./return-page.js";
import { frameFor, redirectTo, sendForm, sendReturnPage, returnTokenOf } from "./send-return-page.js";

/** The result of a posted claim. With `invalid` and `wait`, the page shows the form again. */
type ClaimAnswer =
  | { outcome: "kept" | "closed" | "unknown" | "foreign" }
  | { outcome: "invalid"; view: ReturnView; number: string }
  | { outcome: "wait"; view?: ReturnView; seconds: number };

/** The maximum size of the body. The form has one short field. */
const limitBytes = 2048;
const bodyTimeoutMs = 10_000;
/** The limit of claims for one payment. A customer may correct a number a few times. */
const perPayment = { perMinute: 1, burst: 5 };
/** The limit of claims from one client address. Many customers of a mobile network share one address. */
const perAddress = { perMinute: 20, burst: 60 };

/**
 * Returns whether the request is for the form of a claim. Reads the address, because only Express adds a
 * `query`.
 */
export function asksForClaim({ url }: Request): boolean {
  return /^[^?]*\?(.*&)?claim(=|&|$)/.test(url);
}

/** Returns the endpoint that takes a posted claim. After a refusal, it may send the form again. */
export function claimEndpoint<Covers extends SignedField, Tx>(
  payments: Payments<Covers, Tx>,
  kind: ReturnKind,
) {
  const receiveClaim = claimReceiver(payments, kind);
  return async (request: Request, response: Response): Promise<void> => {
    const answer = await receiveClaim(request, returnTokenOf(request));
    const view = "view" in answer ? answer.view : undefined;
    const frame = frameFor(payments.options.returns, request, view);
    switch (answer.outcome) {
      case "foreign":
        return replyJson(response, 403, { error: "cross_site" });
      case "unknown":
        return sendReturnPage(response, 404, frame, notFoundPage(frame));
      case "invalid":
        return sendForm(response, 422, frame, claimPage(frame, answer));
      case "wait":
        response.setHeader("Retry-After", answer.seconds);
        return sendForm(response, 429, frame, claimPage(frame, answer));
      default:
        // The redirect leads to the page without the query, so that a reload sends nothing again.
        return redirectTo(response, "?");
    }
  };
}

/** Returns a function that takes a posted claim, with limits for each address and each payment. */
function claimReceiver<Covers extends SignedField, Tx>(
  { claimPaid, handleReturn, options }: Payments<Covers, Tx>,
  kind: ReturnKind,
) {
  const spendOfAddress = failureThrottle(perAddress);
  const spendOfPayment = failureThrottle(perPayment);
  const readBody = rawBodyReader({ limitBytes, bodyTimeoutMs });
  const { origin } = new URL(options.publicUrl);

  return async function receiveClaim(request: Request, token: string): Promise<ClaimAnswer> {
    if (isForeign(request, origin)) return { outcome: "foreign" };
    const tooMany = spendOfAddress(clientAddress(request));
    if (tooMany !== undefined) return { outcome: "wait", seconds: tooMany };
    const view = await handleReturn({ kind, token, visit: false });
    if (!view) return { outcome: "unknown" };
    const { clientId } = view.payment;
    noteFacts(request, { clientId });
    if (!view.canClaim) return { outcome: "closed" };
    const tooOften = spendOfPayment(clientId);
    if (tooOften !== undefined) return { outcome: "wait", view, seconds: tooOften };
    const number = await readNumber(request);
    const outcome = (await claimPaid({ kind, token, number })) ?? "unknown";
    return outcome === "invalid" ? { outcome, view, number: number.slice(0, 40) } : { outcome };
  };

  async function readNumber(request: Request): Promise<string> {
    // The application may have parsed the form before the router got the request.
    const parsed = request.body as { number?: unknown } | undefined;
    if (typeof parsed?.number === "string") return parsed.number;
    try {
      return new URLSearchParams((await readBody(request)).toString()).get("number") ?? "";
    } catch {
      // A body that is too long, too slow, or read by other code counts as an empty number.
      return "";
    }
  }
}

/**
 * Returns whether a page of another site posted the claim. Without `Sec-Fetch-Site`, a claim is accepted if
 * its origin is absent or "null", because old browsers send such claims from the kit's page. Such a claim is
 * safe, because only the address gives the right to post. Another site does not have the address.
 */
function isForeign({ headers }: Request, own: string): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site !== "same-origin";
  const { origin = "null" } = headers;
  return origin !== "null" && origin !== own;
}
