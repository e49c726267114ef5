import { type Html, html } from "../../../pages/html.js";
import { intermediateStatuses, type SandboxSettings } from "../../state/settings.js";
import { behaviourWords } from "./behaviour-words.js";
import { chosen, ticked } from "../pieces.js";
import { type View } from "../view.js";

export type SettingName = keyof SandboxSettings;

/** Which kind of field each setting has. A new setting without one does not compile. */
export const settingKinds = {
  strict: "switch",
  successStatus: "status",
  errorBodies: "errors",
  echoClientId: "switch",
  readBack: "switch",
  statuses: "statuses",
  statusWebhooks: "switch",
  cancelWebhook: "switch",
  failureWebhook: "switch",
  accessTokenTtlSeconds: "number",
  webhookDelayMs: "number",
  webhookTimeoutMs: "number",
  retryDelaysMs: "numbers",
} as const satisfies Readonly<Record<SettingName, string>>;

/** The field of one setting: as it was typed where the form was refused, otherwise as it is. */
export function settingField(name: SettingName, current: Readonly<SandboxSettings>, view: View): Html {
  const kind = settingKinds[name];
  if (kind === "switch") return switchField(name, current[name] === true, view);
  if (kind === "statuses") return statusBoxes(current.statuses, view);
  if (kind === "status") return choiceField(name, ["200", "201", "202"], String(current[name]), view);
  if (kind === "errors") {
    const forms = behaviourWords[view.language].errorForms;
    return choiceField(name, Object.keys(forms), String(current[name]), view, forms);
  }
  return numberField(name, kind, String(current[name]).replaceAll(",", ", "), view);
}

function switchField(name: SettingName, isOn: boolean, view: View): Html {
  const isTicked = view.typed === undefined ? isOn : view.typed.has(name);
  return html`<div class="check">
    <input type="checkbox" id="${name}" name="${name}" value="on" ${ticked(isTicked)} />
    <label for="${name}">${behaviourWords[view.language].settings[name]}</label>
    <span class="hint"><code>${name}</code></span>
  </div>`;
}

function statusBoxes(current: readonly string[], view: View): Html {
  const on = view.typed === undefined ? current : view.typed.list("statuses");
  return html`<div class="field" role="group" aria-labelledby="statuses">
    <span class="label" id="statuses">${behaviourWords[view.language].settings.statuses}</span>
    <span class="hint"><code>statuses</code></span>
    <div class="boxes">
      ${intermediateStatuses.map(
        (status) =>
          html`<div class="check">
            <input
              type="checkbox"
              id="status-${status}"
              name="statuses"
              value="${status}"
              ${ticked(on.includes(status))}
            />
            <label for="status-${status}" lang="en">${status}</label>
          </div>`,
      )}
    </div>
  </div>`;
}

function choiceField(
  name: SettingName,
  values: readonly string[],
  current: string,
  view: View,
  texts: Readonly<Record<string, string>> = {},
): Html {
  const picked = view.typed?.text(name) ?? current;
  return html`<div class="field">
    <label for="${name}">${behaviourWords[view.language].settings[name]}</label>
    <select id="${name}" name="${name}" aria-describedby="${name}-hint">
      ${values.map(
        (value) =>
          html`<option value="${value}" ${chosen(value === picked)}>${texts[value] ?? value}</option>`,
      )}
    </select>
    <span class="hint" id="${name}-hint"><code>${name}</code></span>
  </div>`;
}

function numberField(name: SettingName, kind: "number" | "numbers", current: string, view: View): Html {
  const words = behaviourWords[view.language];
  return html`<div class="field">
    <label for="${name}">${words.settings[name]}</label>
    <input
      id="${name}"
      name="${name}"
      inputmode="${kind === "number" ? "numeric" : "text"}"
      autocomplete="off"
      value="${view.typed?.text(name) ?? current}"
      aria-describedby="${name}-hint"
    />
    <span class="hint" id="${name}-hint">${kind === "numbers" && words.retryHint} <code>${name}</code></span>
  </div>`;
}
