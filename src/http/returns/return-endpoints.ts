import { request as expressRequest, type Request, type Response } from "express";
import { loggable } from "../../errors/loggable.js";
import { type ReturnKind, type ReturnView } from "../../checkout/handle-return.js";
import { type Payments } from "../../kit/payments.js";
import { type Payment } from "../../model/payment.js";
import { type SignedField } from "../../model/signed-fields.js";
import { type Language, readLanguage } from "../../pages/language.js";
import { newNonce } from "../../pages/page.js";
import { notFoundPage, returnPage, returnStatus, unavailablePage, type PageFrame } from "./return-page.js";
import { replyJson } from "../reply.js";
import { noteFacts } from "../request-log.js";

/** Returns the endpoints of one return address: the page, and the state that the page asks for. */
export function returnEndpoints<Covers extends SignedField, Tx>(
  { handleReturn, options, logger }: Payments<Covers, Tx>,
  kind: ReturnKind,
) {
  const { returns } = options;
  const route = `${options.paths[kind]}/:token`;
  const redirect = kind === "success" ? returns.successUrl : returns.cancelUrl;

  /** Shows the page, or redirects to the merchant's. */
  async function show(request: Request, response: Response): Promise<void> {
    noteFacts(request, { route });
    if (!isReading(request, response)) return;
    const view = await lookUp(request, isVisit(request));
    const frame = frameFor(request, view);
    if (view && redirect !== undefined) {
      const address = asHeader(fillAddress(redirect, view.payment)!);
      response.writeHead(303, { ...privateHeaders, Location: address }).end();
    } else if (view) {
      sendReturnPage(response, 200, frame, renderPage(view, frame));
    } else {
      sendReturnPage(response, 404, frame, notFoundPage(frame));
    }
  }

  /** Returns the current state to the page, which asks for it repeatedly. */
  async function state(request: Request, response: Response): Promise<void> {
    noteFacts(request, { route: `${route}/state` });
    if (!isReading(request, response)) return;
    const view = await lookUp(request, false);
    if (!view) return replyJson(response, 404, { error: "not_found" });
    replyJson(response, 200, returnStatus(view, languageOf(request, view)));
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
      language: languageOf(request, view),
      nonce: newNonce(),
      shop: returns,
      backUrl: fillAddress(returns.backUrl, view?.payment),
      orderUrl: fillAddress(returns.orderUrl, view?.payment),
    };
  }

  /** Handles an error of the store or of the merchant's renderer, which does not change the payment. */
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
      const frame = frameFor(request, undefined);
      sendReturnPage(response, 503, frame, unavailablePage(frame));
    }),
    state: guarded(state, (_request, response) => replyJson(response, 503, { error: "unavailable" })),
  };
}

/** Returns the language of the payment or of the browser. A request has the method only inside of an Express application. */
function languageOf(request: Request, view: ReturnView | undefined): Language {
  const acceptsLanguages = (...offered: string[]) =>
    expressRequest.acceptsLanguages.call(request, ...offered);
  return readLanguage({ acceptsLanguages }, view?.payment.locale);
}

function isReading(request: Request, response: Response): boolean {
  if (request.method === "GET" || request.method === "HEAD") return true;
  replyJson(response, 405, { error: "method_not_allowed" }, { Allow: "GET, HEAD" });
  return false;
}

/** The kit reads no body here. Node would go on receiving one after the answer if the connection were kept. */
function hasUnreadBody({ complete, headers }: Request): boolean {
  return (
    !complete && (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0)
  );
}

/** Returns whether a person came back: HEAD requests and prefetches do not count. */
function isVisit({ method, headers }: Request): boolean {
  const purposes = ["sec-purpose", "purpose", "x-purpose", "x-moz"].flatMap((name) => headers[name] ?? []);
  const isAhead = purposes.some((purpose) => /prefetch|prerender/i.test(purpose));
  // Safari's page of favourites.
  return method === "GET" && !isAhead && headers["x-purpose"] !== "preview";
}

/** Returns the address in ASCII, as headers need it: other characters become escaped UTF-8, as browsers write them. */
function asHeader(address: string): string {
  return address.replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}

/** The address contains the token, which must not be cached or sent in a Referer. */
const privateHeaders = {
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
} as const;

function sendReturnPage(response: Response, status: number, frame: PageFrame, markup: string): void {
  const { nonce, language, shop } = frame;
  const bytes = Buffer.from(markup);
  response.writeHead(status, {
    ...privateHeaders,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": bytes.length,
    "Content-Language": language,
    "Content-Security-Policy":
      `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; ` +
      `img-src ${imageSources(shop.logoUrl)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    Vary: "Accept-Language",
  });
  // Node omits the body of an answer to HEAD.
  response.end(bytes);
}

/** Returns where images may come from: the page itself, and the origin of the logo. */
function imageSources(logoUrl: string | undefined): string {
  if (logoUrl === undefined) return "data:";
  return `data: ${/^https:\/\/[^/]+/.exec(logoUrl)?.[0] ?? "'self'"}`;
}

/**
 * Returns the configured address with the values of a payment, each escaped so that it stays one part of the address. Without
 * a payment, an address with placeholders leads nowhere.
 */
function fillAddress(template: string | undefined, payment: Payment | undefined): string | undefined {
  const placeholders = /\{(reference|clientId)\}/g;
  if (payment === undefined) return template?.search(placeholders) === -1 ? template : undefined;
  return template?.replace(placeholders, (_, name: "reference" | "clientId") =>
    encodeURIComponent(payment[name]),
  );
}
