import { type Fragment, type Html, html } from "../../pages/html.js";
import { type Scenario } from "../scenario/scenario.js";
import { inLanguages, type Language } from "../../pages/language.js";
import { type View } from "./view.js";

/** One named value of a panel. */
export function fact(name: string, value: Fragment): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

/** One named value of a panel, to copy. Its button is there where the browser can copy. */
export function copyable(view: View, { id, name, value }: { id: string; name: string; value: string }): Html {
  return html`<div class="centred">
    <dt>${name}</dt>
    <dd class="value"><code id="${id}">${value}</code> ${copyButton(view, id, name)}</dd>
  </div>`;
}

/** One named secret: behind a click, and to copy without showing it. */
export function secret(view: View, { id, name, value }: { id: string; name: string; value: string }): Html {
  return html`<div class="centred">
    <dt>${name}</dt>
    <dd class="value">
      <details>
        <summary>${words[view.language].show} <span class="hidden">${name}</span></summary>
        <code id="${id}">${value}</code>
      </details>
      ${copyButton(view, id, name)}
    </dd>
  </div>`;
}

/** Copies the text of the element with this id. */
export function copyButton({ language }: View, id: string, name: string): Html {
  const { copy, copied } = words[language];
  return html`<button type="button" class="button" data-copy="${id}" data-copied="${copied}">
    <span>${copy}</span> <span class="hidden">${name}</span>
  </button>`;
}

/** Ways to the newer and the older part of a list. */
export function pager({ language, root }: View, path: string, { number, of }: Cut): Html | undefined {
  if (of <= 1) return undefined;
  const { newer, older, pages, page } = words[language];
  return html`<nav class="pages" aria-label="${pages}">
    <span>${number > 1 && html`<a href="${root}${path}?page=${number - 1}" rel="prev">← ${newer}</a>`}</span>
    <span>${page(number, of)}</span>
    <span>${number < of && html`<a href="${root}${path}?page=${number + 1}" rel="next">${older} →</a>`}</span>
  </nav>`;
}

/** One part of a list, and which one of how many it is. */
export interface Cut<T = unknown> {
  shown: readonly T[];
  number: number;
  of: number;
  total: number;
}

/** The part of a list that the query asks for, newest first. */
export function cut<T>(oldestFirst: readonly T[], { query }: View, perPage = 25): Cut<T> {
  const of = Math.max(1, Math.ceil(oldestFirst.length / perPage));
  const asked = /^\d{1,6}$/.test(query["page"] ?? "") ? Number(query["page"]) : 1;
  const number = Math.min(Math.max(asked, 1), of);
  const end = oldestFirst.length - (number - 1) * perPage;
  const shown = oldestFirst.slice(Math.max(end - perPage, 0), end).toReversed();
  return { shown, number, of, total: oldestFirst.length };
}

/** What a scenario shows. Where nobody wrote it in this language, its language is not known. */
export function aboutIn(language: Language, scenario: Scenario | undefined): Html | undefined {
  const { about, about_fr: french } = scenario ?? {};
  const own = language === "fr" ? french : about;
  if (own !== undefined) return html`<span>${own}</span>`;
  return about === undefined ? undefined : html`<span lang="">${about}</span>`;
}

/** Whether a box is ticked, or an option chosen: an attribute, or nothing. */
export function ticked(isTicked: boolean): Html | undefined {
  return isTicked ? html`checked` : undefined;
}

export function chosen(isChosen: boolean): Html | undefined {
  return isChosen ? html`selected` : undefined;
}

const words = inLanguages({
  en: {
    show: "Show",
    copy: "Copy",
    copied: "Copied",
    newer: "Newer",
    older: "Older",
    pages: "Pages",
    page: (number: number, of: number) => `Page ${number} of ${of}`,
  },
  fr: {
    show: "Afficher",
    copy: "Copier",
    copied: "Copié",
    newer: "Plus récents",
    older: "Plus anciens",
    pages: "Pages",
    page: (number: number, of: number) => `Page ${number} sur ${of}`,
  },
});
