import { type Request, type Response } from "express";
import { loggable } from "../errors/loggable.js";
import { type ReturnKind, type ReturnView } from "../checkout/handle-return.js";
import { fillAddress } from "./fill-address.js";
import { type Payments } from "../kit/create-payments.js";
import { type SignedField } from "../model/signed-fields.js";
import { readLanguage, type Language } from "../pages/language.js";
import { newNonce } from "../pages/page.js";
import { isFinal, notFoundPage, returnPage, unavailablePage, type PageFrame } from "./pages/return-page.js";
import { returnTranslations } from "./pages/translations.js";
import { replyJson } from "./reply.js";
import { noteFacts } from "./request-facts.js";

/** The two addresses that the customer's browser comes back to, and what their pages ask. */
export function returnEndpoints<Covers extends SignedField, Tx>(
  { handleReturn, options, logger }: Payments<Covers, Tx>,
  kind: ReturnKind,
) {
  const { returns } = options;
  const redirect = kind === "success" ? returns.successUrl : returns.cancelUrl;

  /** The page itself, or the merchant's. */
  async function show(request: Request, response: Response): Promise<void> {
    noteFacts(request, { route: `/${kind}/:token` });
    if (!isReading(request, response)) return;
    const view = await lookUp(request, isVisit(request));
    const frame = frameFor(request, view);
    if (view && redirect !== undefined) {
      const address = asHeader(fillAddress(redirect, view.payment));
      response.writeHead(303, { ...privateHeaders, Location: address }).end();
    } else if (view) {
      sendPage(response, 200, frame, renderPage(view, frame));
    } else {
      sendPage(response, 404, frame, notFoundPage(frame));
    }
  }

  /** What the live page asks for. */
  async function state(request: Request, response: Response): Promise<void> {
    noteFacts(request, { route: `/${kind}/:token/state` });
    if (!isReading(request, response)) return;
    const view = await lookUp(request, false);
    if (!view) return replyJson(response, 404, { error: "not_found" });
    const { title, message } = returnTranslations[languageFor(request, view)][view.state];
    replyJson(response, 200, { state: view.state, title, message, final: isFinal(view.state) });
  }

  async function lookUp(request: Request, visit: boolean): Promise<ReturnView | undefined> {
    const { token = "" } = request.params as { token?: string };
    const view = await handleReturn({ kind, token, visit });
    if (view) noteFacts(request, { clientId: view.payment.clientId });
    return view;
  }

  function renderPage(view: ReturnView, frame: PageFrame): string {
    const { nonce, language } = frame;
    return returns.render?.(view, { nonce, language }) ?? returnPage(view, frame);
  }

  function frameFor(request: Request, view: ReturnView | undefined): PageFrame {
    return {
      language: languageFor(request, view),
      nonce: newNonce(),
      shopName: returns.shopName,
      backUrl: view && returns.backUrl !== undefined ? fillAddress(returns.backUrl, view.payment) : undefined,
    };
  }

  /** An error of the store or of the merchant's renderer: the customer's payment is not touched by it. */
  function guarded(
    answer: (request: Request, response: Response) => Promise<void>,
    apologise: (request: Request, response: Response) => void,
  ) {
    return async (request: Request, response: Response): Promise<void> => {
      try {
        await answer(request, response);
      } catch (error) {
        logger.error({ err: loggable(error), route: `/${kind}/:token` }, "a return could not be shown");
        if (response.headersSent) return response.destroy() && undefined;
        apologise(request, response);
      }
    };
  }

  return {
    show: guarded(show, (request, response) => {
      const frame = frameFor(request, undefined);
      sendPage(response, 503, frame, unavailablePage(frame));
    }),
    state: guarded(state, (_request, response) => replyJson(response, 503, { error: "unavailable" })),
  };
}

/** The payment's language first: it is the one that the merchant chose for this customer. */
function languageFor(request: Request, view: ReturnView | undefined): Language {
  return readLanguage(request, view?.payment.locale);
}

function isReading(request: Request, response: Response): boolean {
  if (request.method === "GET" || request.method === "HEAD") return true;
  replyJson(response, 405, { error: "method_not_allowed" }, { Allow: "GET, HEAD" });
  return false;
}

/** HEAD requests and prefetches are not a person coming back. */
function isVisit({ method, headers }: Request): boolean {
  const purposes = [headers["sec-purpose"], headers["purpose"]].flat();
  return method === "GET" && !purposes.some((purpose) => purpose?.includes("prefetch"));
}

/** Headers hold ASCII only. Letters beyond it are written as browsers do, as their bytes in UTF-8. */
function asHeader(address: string): string {
  return address.replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}

/** The address carries the token: no copy of it may stay in a cache or travel in a Referer. */
const privateHeaders = {
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
} as const;

function sendPage(response: Response, status: number, { nonce, language }: PageFrame, markup: string): void {
  const bytes = Buffer.from(markup);
  response.writeHead(status, {
    ...privateHeaders,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": bytes.length,
    "Content-Language": language,
    "Content-Security-Policy":
      `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; ` +
      "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    Vary: "Accept-Language",
  });
  // Node itself leaves the body out of an answer to HEAD.
  response.end(bytes);
}
