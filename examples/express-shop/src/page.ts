import { type Response } from "express";
import { html, type Html } from "./html.js";
import { shopName, type Language } from "./translations.js";

export { style } from "./style.js";

/** The logo with the shop's name, for these pages and those of the kit. */
export const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 176 36" width="176" height="36">
  <g transform="translate(2 2)" fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round">
    <rect width="32" height="32" rx="9" fill="#0d6e63" stroke="none" />
    <path d="M5 19c4 0 4-4 7.5-4s3.5 4 7 4 3.5-4 7.5-4M5 25c4 0 4-4 7.5-4s3.5 4 7 4 3.5-4 7.5-4" />
    <circle cx="21" cy="9" r="3.5" fill="#ffb84d" stroke="none" />
  </g>
  <text x="44" y="24.5" font-family="system-ui, sans-serif" font-size="18.5" font-weight="700" fill="#0d6e63">${shopName}</text>
</svg>
`;

export interface Page {
  language: Language;
  title: string;
  main: Html;
}

/** Sends a page. It runs nothing, and loads only the shop's own style sheet. */
export function sendPage(res: Response, status: number, { language, title, main }: Page): void {
  const page = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · ${shopName}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body>
        <header>
          <a href="/">
            <img src="/logo.svg" alt="${shopName}" />
          </a>
        </header>
        <main>${main}</main>
      </body>
    </html>`;
  res
    .status(status)
    .set({
      // No form-action, because browsers would apply it to the redirect to the checkout.
      "Content-Security-Policy":
        "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
      "Cache-Control": "no-store",
      "Referrer-Policy": "no-referrer",
      "X-Content-Type-Options": "nosniff",
      Vary: "Accept-Language",
    })
    .type("html")
    .send(page.markup);
}
