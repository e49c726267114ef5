import { type Response } from "express";
import { baseStyle } from "../../pages/design/base.js";
import { type HtmlFragment, type Html, html } from "../../pages/html.js";
import { type Language, translate } from "../../pages/language.js";
import { type HtmlPage, htmlPage, newNonce } from "../../pages/page.js";
import { type SandboxSettings } from "../state/sandbox-settings.js";

/** The parts of a page. The base style comes before `style`. Only pages for developers have a `script`. */
export interface Page extends Pick<HtmlPage, "title" | "style" | "script"> {
  language: Language;
  /** @default 200 */
  status?: number;
  /** A link before everything else, for screen readers and keyboards. */
  skip?: Html;
  /** The content after the banner. */
  main: HtmlFragment;
}

/** The usual fields of an error response. The interface document shows no error response. */
interface ErrorContent {
  status: number;
  title: string;
  detail: string;
}

/** Sends an error in the form that the settings choose. */
export function sendError(res: Response, form: SandboxSettings["errorBodies"], content: ErrorContent): void {
  res.status(content.status);
  if (form === "problem") res.json(content);
  else if (form === "bare") res.end();
  else sendErrorPage(res, content);
}

/** Sends an HTML page where JSON is expected, as a proxy in front of a service does. */
export function sendErrorPage(res: Response, { status, title, detail }: ErrorContent): void {
  const page = html`<!doctype html>
    <html lang="en">
      <title>${status} ${title}</title>
      <h1>${title}</h1>
      <p>${detail}</p>
    </html>`;
  res.status(status).type("html").send(page.toString());
}

/** Sends a page with the headers that every page has. */
export function respondWithPage(res: Response, page: Page): void {
  const nonce = newNonce();
  const base = `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; base-uri 'none'; frame-ancestors 'none'`;
  // Pages for customers have no form-action. Browsers also apply form-action to redirects after a form, and
  // the merchant's return address may redirect to any host.
  const own = `; script-src 'nonce-${nonce}'; connect-src 'self'; form-action 'self'`;
  const isDevelopers = page.script !== undefined;
  res
    .status(page.status ?? 200)
    .set({
      "Content-Security-Policy": isDevelopers ? base + own : base,
      "Cache-Control": "no-store",
      // With no-referrer, a browser hides the origin of a form even from the page's own server, and
      // `ownOriginOnly` would refuse the form.
      "Referrer-Policy": isDevelopers ? "same-origin" : "no-referrer",
      "X-Content-Type-Options": "nosniff",
      "X-Frame-Options": "DENY",
      Vary: "Accept-Language",
    })
    .type("html")
    .send(documentOf(page, nonce).toString());
}

function documentOf({ language, title, skip, main, style, script }: Page, nonce: string): Html {
  const text = bannerTranslations[language];
  const body = html`${skip}
    <header class="banner"><strong>${text.sandbox}</strong> ${text.noMoney}</header>
    ${main}`;
  return htmlPage({ language, title, nonce, style: baseStyle + bannerStyle + style, body, script, icon });
}

const bannerStyle = `
.banner { padding: 0.5rem 1rem; text-align: center; font-size: 0.875rem; background: var(--warn-tint); color: var(--warn); }
.banner strong { font-weight: 650; }
`;

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' " +
  "rx='9' fill='%235b3fb0'/%3E%3Cpath d='m9 16.5 5 5 9-10' fill='none' stroke='%23fff' stroke-width='3.2' " +
  "stroke-linecap='round' stroke-linejoin='round'/%3E%3C/svg%3E";

const bannerTranslations = translate({
  sandbox: ["Sandbox:", "Bac à sable :"],
  noMoney: ["no real money moves", "aucun argent réel ne circule"],
});
