import { html } from "../../../pages/html.js";
import { inLanguage, translate } from "../../../pages/language.js";
import { type Page } from "../../page.js";
import { fact } from "../components.js";
import { type View } from "../context.js";
import { dashboardPage, places } from "../dashboard-page.js";
import { choices } from "./choices.js";

/** The choices of the sandbox where the interface document says "not shown". A real service may choose otherwise. */
export function choicesPage(view: View, { allowRemote }: { allowRemote: boolean }): Page {
  const { sandbox, language } = view;
  const { settings, signing, providers } = sandbox;
  const text = choicesTranslations[language];
  const chosen = {
    settings,
    signing,
    allowRemote,
    sources: providers.map(({ code }) => code).join(", "),
    retries: settings.retryDelaysMs.map((ms) => `${ms / 1000} s`).join(", "),
  };
  return dashboardPage(view, {
    place: "choices",
    title: text.title,
    lead: html`${text.lead} <a href="${view.root}${places.behaviour}">${text.change}</a>`,
    content: html`<dl class="panel facts">
      ${choices.map(({ section, notShown, choice }) =>
        fact(
          html`<small>${text.section} ${section}</small><br />${inLanguage(notShown, language)}`,
          inLanguage(typeof choice === "function" ? choice(chosen) : choice, language),
        ),
      )}
    </dl>`,
  });
}

const choicesTranslations = translate({
  title: ["Where the document says “not shown”", "Là où le document dit « not shown »"],
  lead: [
    "The sandbox follows the interface document. Where the document is silent, it had to choose. A real service may choose otherwise, so a merchant must not rely on any of this.",
    "Le bac à sable suit le document d’interface. Là où le document se tait, il a dû choisir. Un vrai service peut choisir autrement : un marchand ne doit compter sur rien de tout cela.",
  ],
  change: ["Many of these can be changed", "Beaucoup peuvent être changés"],
  section: ["Section", "Section"],
});
