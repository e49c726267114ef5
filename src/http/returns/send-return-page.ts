import { request as expressRequest, type Request, type Response } from "express";
import { type ReturnView } from "../../checkout/handle-return.js";
import { type ReturnOptions } from "../../kit/options/return-options.js";
import { type Payment } from "../../model/payment.js";
import { readLanguage } from "../../pages/language.js";
import { newNonce } from "../../pages/page.js";
import { type PageFrame } from "./return-page.js";

/** Returns the input of a request's page, except the payment. */
export function frameFor(returns: ReturnOptions, request: Request, view: ReturnView | undefined): PageFrame {
  return {
    language: languageOf(request, view, Object.keys(returns.translations ?? {})),
    nonce: newNonce(),
    shop: returns,
    backUrl: fillAddress(returns.backUrl, view?.payment),
    orderUrl: fillAddress(returns.orderUrl, view?.payment),
    payAgainUrl: fillAddress(returns.payAgainUrl, view?.payment),
  };
}

/** Returns the language of the payment or of the browser. Works without Express too. */
function languageOf(request: Request, view: ReturnView | undefined, more: readonly string[]): string {
  const acceptsLanguages = (...offered: string[]) =>
    expressRequest.acceptsLanguages.call(request, ...offered);
  return readLanguage({ acceptsLanguages }, view?.payment.locale, more);
}

/** Returns the token, which is the last part of the return address. */
export function returnTokenOf({ params }: Request): string {
  return (params as { token?: string }).token ?? "";
}

/** Redirects to an address, which may be relative. */
export function redirectTo(response: Response, address: string): void {
  response.writeHead(303, { ...privateHeaders, Location: asHeader(address) }).end();
}

/** Returns the address in ASCII for a header. Other characters become escaped UTF-8, as in browsers. */
function asHeader(address: string): string {
  return address.replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}

/** Headers for an address with a token, which must not be cached or sent in a Referer. */
const privateHeaders = {
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
} as const;

/** Sends a page with its security headers. */
export function sendReturnPage(
  response: Response,
  status: number,
  frame: PageFrame,
  markup: string,
  formAction = "'none'",
): void {
  const { nonce, language, shop } = frame;
  const bytes = Buffer.from(markup);
  response.writeHead(status, {
    ...privateHeaders,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": bytes.length,
    "Content-Language": language,
    "Content-Security-Policy":
      `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; ` +
      `img-src ${imageSources(shop.logoUrl)}; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`,
    Vary: "Accept-Language",
  });
  // Node omits the body of an answer to HEAD.
  response.end(bytes);
}

/** Sends a page with a form, which can post to this origin only. */
export function sendForm(response: Response, status: number, frame: PageFrame, markup: string): void {
  sendReturnPage(response, status, frame, markup, "'self'");
}

/** Returns the sources of images in the Content-Security-Policy: `data:`, and the origin of the logo. */
function imageSources(logoUrl: string | undefined): string {
  if (logoUrl === undefined) return "data:";
  return `data: ${/^https:\/\/[^/]+/.exec(logoUrl)?.[0] ?? "'self'"}`;
}

/**
 * Returns the configured address with the escaped values of a payment. Without a payment, returns `undefined`
 * for an address with placeholders.
 */
export function fillAddress(template: string | undefined, payment: Payment | undefined): string | undefined {
  const placeholders = /\{(reference|clientId)\}/g;
  if (payment === undefined) return template?.search(placeholders) === -1 ? template : undefined;
  return template?.replace(placeholders, (_, name: "reference" | "clientId") =>
    encodeURIComponent(payment[name]),
  );
}
