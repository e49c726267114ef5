import { randomBytes } from "node:crypto";
import { type HtmlFragment, Html, html } from "./html.js";

/** The parts of a page. */
export interface HtmlPage {
  language: string;
  title: string;
  /** The nonce of the response's policy. A page in a file has no nonce, because its policy has a hash. */
  nonce?: string;
  /** CSS, which must be a constant of the sources, because it is inserted unchanged and not escaped. */
  style: string;
  /** Further elements of the head, before the style. */
  head?: HtmlFragment;
  body: HtmlFragment;
  /**
   * JavaScript, which must be a constant of the sources, like the style. The page also works without the
   * script.
   */
  script?: string | undefined;
  /** @default none, so that the browser asks for no icon */
  icon?: string;
}

/** The languages that are written from right to left. */
const rightToLeft = /^(ar|dv|fa|he|ps|sd|ug|ur|yi)$/;

/** Returns the complete HTML document of a page. The page loads nothing from other addresses. */
export function htmlPage(page: HtmlPage): Html {
  const { language, title, nonce, style, head, body, script, icon = "data:," } = page;
  // The style is not in the template, because a formatter would add spaces, and a hash covers every byte.
  const attribute = nonce === undefined ? "" : html` nonce="${nonce}"`.toString();
  return html`<!doctype html>
    <html lang="${language}" dir="${rightToLeft.test(language) ? "rtl" : "ltr"}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        ${head}
        <title>${title}</title>
        <link rel="icon" href="${icon}" />
        ${new Html(`<style${attribute}>${style}</style>`)}
      </head>
      <body>
        ${body} ${script !== undefined && new Html(`<script${attribute}>${script}</script>`)}
      </body>
    </html>`;
}

/** Returns a new nonce for one response. */
export function newNonce(): string {
  return randomBytes(16).toString("base64");
}

/** The lines of each drawing, in a square of 24 by 24 units. */
const drawings = {
  tick: html`<path d="m5 12.5 4.5 4.5L19 7.5" />`,
  cross: html`<path d="m7 7 10 10m0-10L7 17" />`,
  clock: html`<path d="M12 6v6.5l4 2.5" />`,
  circle: html`<path d="M12 3a9 9 0 1 0 9 9" />`,
  back: html`<path d="M10 7 5 12l5 5M5 12h14" />`,
  alert: html`<path d="M12 5v9M12 18.5h.01" />`,
  search: html`<path d="M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13M15.5 15.5 20 20" />`,
} as const;

type Drawing = keyof typeof drawings;

/** Returns a round sign with a drawing. Screen readers ignore the sign, because the heading says the same. */
export function statusSign(name: Drawing, tone?: "good" | "bad" | "info"): Html {
  return html`<div class="sign ${tone}" aria-hidden="true">${drawing(name)}</div>`;
}

/** Returns a drawing without a sign around it. */
export function drawing(name: Drawing): Html {
  return html`<svg class="drawing ${name}" viewBox="0 0 24 24" aria-hidden="true">${drawings[name]}</svg>`;
}
