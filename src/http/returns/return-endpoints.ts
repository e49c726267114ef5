import { type Request, type Response } from "express";
import { loggable } from "../../errors/conceal-secrets.js";
import { type ReturnKind, type ReturnView } from "../../checkout/handle-return.js";
import { type Payments } from "../../kit/payments.js";
import { type SignedField } from "../../model/signed-fields.js";
import { asksForClaim, claimEndpoint } from "./receive-claim.js";
import { claimPage, notFoundPage, returnPage, returnStatus, unavailablePage } from "./return-page.js";
import {
  fillAddress,
  frameFor,
  redirectTo,
  sendForm,
  sendReturnPage,
  returnTokenOf,
} from "./send-return-page.js";
import { replyJson } from "../reply.js";
import { noteFacts } from "../request-log.js";

/** Returns the endpoints of one return address: for the page, and for the state, which the page reads. */
export function returnEndpoints<Covers extends SignedField, Tx>(
  payments: Payments<Covers, Tx>,
  kind: ReturnKind,
) {
  const { handleReturn, options, logger } = payments;
  const { returns } = options;
  const receiveClaim = claimEndpoint(payments, kind);
  const route = `${options.paths[kind]}/:token`;
  const redirect = kind === "success" ? returns.successUrl : returns.cancelUrl;

  /** Sends the page, or redirects to the merchant's page. Takes a claim that is posted to this address. */
  async function show(request: Request, response: Response): Promise<void> {
    noteFacts(request, { route });
    const isClaim = asksForClaim(request);
    if (isClaim && request.method === "POST") return receiveClaim(request, response);
    if (!isReading(request, response)) return;
    const view = await lookUp(request, isVisit(request));
    const frame = frameFor(returns, request, view);
    if (!view) return sendReturnPage(response, 404, frame, notFoundPage(frame));
    if (redirect !== undefined) return redirectTo(response, fillAddress(redirect, view.payment)!);
    if (isClaim && view.canClaim) return sendForm(response, 200, frame, claimPage(frame));
    const page = returns.render?.(view, { nonce: frame.nonce, language: frame.language });
    sendReturnPage(response, 200, frame, page ?? returnPage(view, frame));
  }

  /** Sends the current state to the page, which asks for it repeatedly. */
  async function state(request: Request, response: Response): Promise<void> {
    noteFacts(request, { route: `${route}/state` });
    if (!isReading(request, response)) return;
    const view = await lookUp(request, false);
    if (!view) return replyJson(response, 404, { error: "not_found" });
    replyJson(response, 200, returnStatus(view, frameFor(returns, request, view)));
  }

  async function lookUp(request: Request, visit: boolean): Promise<ReturnView | undefined> {
    const view = await handleReturn({ kind, token: returnTokenOf(request), visit });
    if (view) noteFacts(request, { clientId: view.payment.clientId });
    return view;
  }

  /** Handles an error of the store or of the merchant's renderer. The payment does not change. */
  function guarded(
    endpoint: (request: Request, response: Response) => Promise<void>,
    onError: (request: Request, response: Response) => void,
  ) {
    return async (request: Request, response: Response): Promise<void> => {
      if (hasUnreadBody(request)) response.setHeader("Connection", "close");
      try {
        await endpoint(request, response);
      } catch (error) {
        logger.error({ err: loggable(error), route }, "a return page could not be shown");
        if (response.headersSent) return response.destroy() && undefined;
        onError(request, response);
      }
    };
  }

  return {
    show: guarded(show, (request, response) => {
      const frame = frameFor(returns, request, undefined);
      sendReturnPage(response, 503, frame, unavailablePage(frame));
    }),
    state: guarded(state, (_request, response) => replyJson(response, 503, { error: "unavailable" })),
  };
}

function isReading(request: Request, response: Response): boolean {
  if (request.method === "GET" || request.method === "HEAD") return true;
  replyJson(response, 405, { error: "method_not_allowed" }, { Allow: "GET, HEAD" });
  return false;
}

/** Returns whether a body is unread. Node continues to receive the body unless the connection is closed. */
function hasUnreadBody({ complete, headers }: Request): boolean {
  return (
    !complete && (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0)
  );
}

/** Returns whether a person opened the page. HEAD requests and prefetches do not count. */
function isVisit({ method, headers }: Request): boolean {
  const purposes = ["sec-purpose", "purpose", "x-purpose", "x-moz"].flatMap((name) => headers[name] ?? []);
  const isAhead = purposes.some((purpose) => /prefetch|prerender/i.test(purpose));
  // Safari sends `preview` to show the page in its favourites.
  return method === "GET" && !isAhead && headers["x-purpose"] !== "preview";
}
