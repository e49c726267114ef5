import { type Chosen } from "./chosen.js";
import { html } from "../../../pages/html.js";
import { type Sandbox } from "../../contract.js";
import { inLanguages } from "../../../pages/language.js";
import { type Page } from "../../page.js";
import { english } from "./choices-english.js";
import { french } from "./choices-french.js";
import { framed, places } from "../frame.js";
import { type View } from "../view.js";
/** Sections of the interface document, in its order. */
const sections: Readonly<Record<keyof typeof english, string>> = {
  operations: "1",
  id: "2.1",
  statuses: "2.4",
  clientId: "2.4",
  amounts: "2.4",
  source: "2.4",
  cancellation: "3",
  successStatus: "4.1",
  callbacks: "4.3",
  registration: "4.4",
  tokens: "5",
  signature: "5",
  topics: "6.2",
  delivery: "6.2",
  errors: "7",
  limits: "8",
  versions: "9",
};

/** What the sandbox does where the interface document says "not shown". A real service may do otherwise. */
export function choicesPage(sandbox: Sandbox, { allowRemote }: { allowRemote: boolean }, view: View): Page {
  const words = choicesWords[view.language];
  const { settings, signing, providers } = sandbox;
  const chosen: Chosen = {
    settings,
    signing,
    allowRemote,
    sources: providers.map(({ code }) => code).join(", "),
    retries: settings.retryDelaysMs.map((ms) => `${ms / 1000} s`).join(", "),
  };
  return framed(view, {
    place: "choices",
    title: words.title,
    head: html`<h1>${words.title}</h1>
      <p class="lead">${words.lead} <a href="${view.root}${places.behaviour}">${words.change}</a></p>`,
    content: html`<dl class="panel facts">
      ${(Object.keys(sections) as (keyof typeof english)[]).map((each) => {
        const { notShown, choice } = words.choices[each];
        return html`<div>
          <dt><small>${words.section} ${sections[each]}</small><br />${notShown}</dt>
          <dd>${choice(chosen)}</dd>
        </div>`;
      })}
    </dl>`,
  });
}

const choicesWords = inLanguages({
  en: {
    title: "Where the document says “not shown”",
    lead: "The sandbox follows the interface document. Where the document is silent, it had to choose. A real service may choose otherwise, so a merchant must not rely on any of this.",
    change: "Much of it can be changed",
    section: "Section",
    choices: english,
  },
  fr: {
    title: "Là où le document dit « not shown »",
    lead: "Le bac à sable suit le document d’interface. Là où le document se tait, il a dû choisir. Un vrai service peut choisir autrement : un marchand ne doit compter sur rien de tout cela.",
    change: "Beaucoup peut se changer",
    section: "Section",
    choices: french,
  },
});
