import { randomBytes } from "node:crypto";
import { type Response } from "express";
import { Html, html } from "../pages/html.js";
import { inLanguages, type Language } from "../pages/language.js";
import { baseStyle } from "../pages/style/base-style.js";

/** What differs from page to page. */
export interface Page {
  language: Language;
  title: string;
  /** Stands before everything else, for those who do not see the page. */
  skip?: Html;
  /** What follows the banner. */
  main: Html;
  /** The styles of this kind of page, besides those that every page shares. */
  style: (nonce: string) => Html;
  /**
   * For the developer's pages: a script of the sandbox's own, which adds comfort and is needed for nothing. Their forms
   * go to the sandbox only.
   */
  script?: string;
}

/** Sends a page with the headers that every page carries. */
export function sendPage(res: Response, status: number, page: Page): void {
  const nonce = randomBytes(16).toString("base64");
  const base = `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; base-uri 'none'; frame-ancestors 'none'`;
  // No form-action for customers: browsers apply it to redirects after a form, and the merchant's return address may
  // itself redirect to wherever the shop lives.
  const own = `; script-src 'nonce-${nonce}'; connect-src 'self'; form-action 'self'`;
  const isDevelopers = page.script !== undefined;
  res
    .status(status)
    .set({
      "Content-Security-Policy": isDevelopers ? base + own : base,
      "Cache-Control": "no-store",
      // With no-referrer, a browser hides the origin of a form even from the page's own server.
      "Referrer-Policy": isDevelopers ? "same-origin" : "no-referrer",
      "X-Content-Type-Options": "nosniff",
      "X-Frame-Options": "DENY",
      Vary: "Accept-Language",
    })
    .type("html")
    .send(layout(page, nonce).toString());
}

function layout({ language, title, skip, main, style, script }: Page, nonce: string): Html {
  const words = wordings[language];
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link
          rel="icon"
          href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='9' fill='%230b6650'/%3E%3Cpath d='m9 16.5 5 5 9-10' fill='none' stroke='%23fff' stroke-width='3.2' stroke-linecap='round' stroke-linejoin='round'/%3E%3C/svg%3E"
        />
        ${baseStyle(nonce)} ${style(nonce)}
      </head>
      <body>
        ${skip}
        <header class="banner">
          <p><strong>${words.sandbox}</strong> ${words.noMoney}</p>
        </header>
        ${main}
        ${
          // The script is a constant of the sources: nothing that was typed or received is in it.
          script !== undefined &&
          html`<script nonce="${nonce}">
            ${new Html(script)};
          </script>`
        }
      </body>
    </html>`;
}

const wordings = inLanguages({
  en: { sandbox: "Sandbox:", noMoney: "no real money moves" },
  fr: { sandbox: "Bac à sable :", noMoney: "aucun argent réel ne circule" },
});
