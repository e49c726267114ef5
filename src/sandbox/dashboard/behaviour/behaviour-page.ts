import { type Fragment, type Html, html } from "../../../pages/html.js";
import { type Sandbox } from "../../contract.js";
import { type Page } from "../../page.js";
import { behaviourWords } from "./behaviour-words.js";
import { clockSection } from "./clock-section.js";
import { doneIn } from "../done.js";
import { framed, places } from "../frame.js";
import { type SettingName, settingField } from "./setting-fields.js";
import { type View } from "../view.js";

type Group = keyof (typeof behaviourWords)["en"]["groups"];

const groups: Readonly<Record<Group, readonly SettingName[]>> = {
  creation: ["strict", "echoClientId", "readBack", "successStatus", "errorBodies"],
  statuses: ["statuses", "statusWebhooks", "cancelWebhook", "failureWebhook"],
  webhooks: ["webhookDelayMs", "webhookTimeoutMs", "retryDelaysMs", "accessTokenTtlSeconds"],
};

/** How the sandbox behaves, to be changed while it runs; and its clock. */
export function behaviourPage(sandbox: Sandbox, view: View): Page {
  const words = behaviourWords[view.language];
  return framed(view, {
    place: "behaviour",
    title: words.title,
    done: doneIn(words.done, view),
    head: html`<h1>${words.title}</h1>
      <p class="lead">${words.lead} <a href="${view.root}${places.choices}">${words.choices}</a></p>`,
    content: [clockSection(sandbox, view), settings(sandbox, view)],
  });
}

function settings(sandbox: Sandbox, view: View): Html {
  const words = behaviourWords[view.language];
  // What was typed may belong to the clock.
  const typed = view.typed?.has("successStatus") ? view.typed : undefined;
  return html`<section aria-labelledby="settings">
    <div class="head"><h2 id="settings">${words.settingsTitle}</h2></div>
    <form class="panel" method="post" action="${view.root}${places.behaviour}">
      ${(Object.keys(groups) as Group[]).map((group) => fieldset(group, sandbox, { ...view, typed }))}
      <div class="buttons"><button class="button main">${words.save}</button></div>
    </form>
  </section>`;
}

function fieldset(group: Group, { settings: current }: Sandbox, view: View): Html {
  const words = behaviourWords[view.language];
  const fields: Fragment = groups[group].map((name) => settingField(name, current, view));
  return html`<fieldset class="fieldset fields">
    <legend>${words.groups[group]}</legend>
    ${fields}
  </fieldset>`;
}
