import { html } from "../../../pages/html.js";
import { inLanguage, translate } from "../../../pages/language.js";
import { type Page } from "../../page.js";
import { fact, link } from "../components.js";
import { type View } from "../context.js";
import { dashboardPage, places } from "../dashboard-page.js";
import { choices } from "./choices.js";

/** Returns the page with the sandbox's choices where the interface document says "not shown". */
export function choicesPage(view: View, allowRemoteWebhooks: boolean): Page {
  const { sandbox, language } = view;
  const { settings, signing, providers } = sandbox;
  const text = choicesTranslations[language];
  const facts = choices.map(({ section, notShown, choice }) => {
    const name = html`<small>${text.section} ${section}</small><br />${inLanguage(notShown, language)}`;
    const chosen = { settings, signing, providers, allowRemoteWebhooks };
    return fact(name, inLanguage(typeof choice === "function" ? choice(chosen) : choice, language));
  });
  return dashboardPage(view, {
    place: "choices",
    title: text.title,
    lead: html`${text.lead} ${link(view, places.behaviour, text.change)}`,
    content: html`<dl class="panel facts">${facts}</dl>`,
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
