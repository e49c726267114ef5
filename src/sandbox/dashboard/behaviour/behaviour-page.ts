import { type Router } from "express";
import { moment, timeSpan } from "../../../pages/format.js";
import { type Html, type HtmlFragment, html } from "../../../pages/html.js";
import { type Page } from "../../page.js";
import { intermediateStatuses, type SandboxSettings, settingsSchema } from "../../state/settings.js";
import {
  timeAhead,
  button,
  checkbox,
  code,
  type Field,
  fact,
  link,
  postForm,
  section,
  selectField,
  textField,
} from "../components.js";
import { type DashboardContext, type View, type ViewWith, withTranslations } from "../context.js";
import { dashboardPage, places } from "../dashboard-page.js";
import { fieldForm, FormProblem, pageRoutes, problemId, refusalBy } from "../form.js";
import { behaviourTranslations } from "./translations.js";

type Behaviour = ViewWith<typeof behaviourTranslations>;
type Group = keyof Behaviour["text"]["groups"];
type Kind = "switch" | "status" | "errors" | "statuses" | "number" | "numbers";

type SettingName = keyof SandboxSettings;

/** Every setting with its group and the kind of its field, in the order of the page. */
const settingFields: Readonly<Record<SettingName, readonly [Group, Kind]>> = {
  strict: ["creation", "switch"],
  echoClientId: ["creation", "switch"],
  readBack: ["creation", "switch"],
  readBackBare: ["creation", "switch"],
  successStatus: ["creation", "status"],
  errorBodies: ["creation", "errors"],
  statuses: ["statuses", "statuses"],
  statusWebhooks: ["statuses", "switch"],
  cancelWebhook: ["statuses", "switch"],
  failureWebhook: ["statuses", "switch"],
  webhookDelayMs: ["webhooks", "number"],
  webhookTimeoutMs: ["webhooks", "number"],
  retryDelaysMs: ["webhooks", "numbers"],
  accessTokenTtlSeconds: ["webhooks", "number"],
};

const settingNames = Object.keys(settingFields) as SettingName[];

/** The number of milliseconds in each unit that the clock can be put forward by. */
const clockUnits = { seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;

/** Returns the routes of `/developer/behaviour`: every setting in one form, and the clock. */
export function behaviour(context: DashboardContext): Router {
  const { sandbox } = context;
  return pageRoutes(context, "/", behaviourPage, {
    "/": (input) => {
      sandbox.change(readSettings(input));
      return `${places.behaviour}?done=saved`;
    },
    "/clock": async (input) => {
      await sandbox.clock.advance(readSpan(input));
      return `${places.behaviour}?done=forward`;
    },
  });
}

/** Reads every setting. A box that is not ticked is not sent. The sandbox checks the bounds itself. */
function readSettings(input: URLSearchParams): Partial<SandboxSettings> {
  return Object.fromEntries(settingNames.map((name) => [name, readSetting(name, input)]));
}

function readSetting(name: SettingName, input: URLSearchParams): unknown {
  const [, kind] = settingFields[name];
  const value = input.get(name) ?? "";
  const number = (text: string): number => numberOf(text, name);
  if (kind === "switch") return input.has(name);
  if (kind === "statuses") return input.getAll(name);
  if (kind === "errors") return value;
  if (kind === "numbers") return (value.match(/[^,;\s]+/g) ?? []).map(number);
  return number(value);
}

/** Returns what is wrong with what was typed for a setting. The sandbox says its bounds in English. */
function errorOf(name: SettingName, typed: URLSearchParams, { language }: Behaviour): HtmlFragment {
  try {
    const { error } = settingsSchema.shape[name].safeParse(readSetting(name, typed));
    return error && html`<span lang="en">${error.issues[0]!.message}</span>`;
  } catch (error) {
    return refusalBy(error, language).text;
  }
}

function numberOf(value: string, name: SettingName): number {
  if (/^\d{1,12}$/.test(value.trim())) return Number(value);
  throw new FormProblem([
    `“${behaviourTranslations.en.settings[name]}” must be a whole number such as 5000, not “${value}”.`,
    `« ${behaviourTranslations.fr.settings[name]} » doit être un nombre entier comme 5000, pas « ${value} ».`,
  ]);
}

/** Reads the number of milliseconds that the clock is put forward by. */
function readSpan(input: URLSearchParams): number {
  const unit = input.get("unit") ?? "";
  const amount = input.get("amount")?.trim().replace(",", ".") ?? "";
  if (Object.hasOwn(clockUnits, unit) && /^\d{1,9}(\.\d{1,6})?$/.test(amount))
    return Number(amount) * clockUnits[unit as keyof typeof clockUnits];
  throw new FormProblem([
    `The clock goes forward by a number above zero such as 10 or 1.5, not by “${amount}”.`,
    `L’horloge avance d’un nombre positif comme 10 ou 1,5, pas de « ${amount} ».`,
  ]);
}

/** Returns the page with the settings, which can be changed while the sandbox runs, and with its clock. */
function behaviourPage(given: View): Page {
  const view = withTranslations(given, behaviourTranslations);
  const { text } = view;
  return dashboardPage(view, {
    place: "behaviour",
    title: text.title,
    done: text.done,
    lead: html`${text.lead} ${link(view, places.choices, text.choices)}`,
    content: [clockSection(view), settingsSection(view)],
  });
}

function clockSection(view: Behaviour): Html {
  const { language, sandbox, text } = view;
  const { clock, seed } = sandbox;
  const now = clock.now();
  const content = html`<div class="panel">
    <dl class="panel-part facts">
      ${fact(text.now, html`${moment(now, language)}<br /><span class="hint">${timeAhead(now, view)}</span>`)}
      ${fact(text.seed, seed === undefined ? text.noSeed : code(seed))}
    </dl>
    ${clockForms(view)}
  </div>`;
  return section({ id: "clock", title: text.clock }, content);
}

function clockForms(view: Behaviour): Html {
  const { input, language, problem, text } = view;
  const path = `${places.behaviour}/clock`;
  const one = html`<input type="hidden" name="amount" value="1" />`;
  const steps = (["minutes", "hours", "days"] as const).map((unit) => {
    const step = timeSpan(clockUnits[unit], language);
    return postForm(view, path, [one, button(`+ ${step}`, { name: "unit", value: unit })]);
  });
  const more = html`inputmode="decimal" required
  aria-invalid="${String(problem?.path.endsWith(path) === true)}" aria-errormessage="${problemId}"`;
  const amount = { id: "amount", label: text.by };
  const unit = { id: "unit", label: text.unit };
  const fields = [
    textField(amount, input?.get("amount"), more),
    selectField(unit, Object.entries(text.units), input?.get("unit") ?? "minutes"),
    button(text.advance),
  ];
  return html`<div class="fields">
    <p class="hint">${text.clockHint}</p>
    <div class="buttons" role="group" aria-label="${text.forward}">${steps}</div>
    ${fieldForm(view, path, fields, "advance")}
  </div>`;
}

function settingsSection(view: Behaviour): Html {
  const { text } = view;
  const groups = Object.entries(text.groups).map(([group, title]) => {
    const names = settingNames.filter((name) => settingFields[name][0] === group);
    return html`<fieldset class="fields">
      <legend>${title}</legend>
      ${names.map((name) => settingField(name, view))}
    </fieldset>`;
  });
  const save = html`<div class="buttons">${button(text.save, { kind: "main" })}</div>`;
  const form = fieldForm(view, places.behaviour, [groups, save], "panel");
  return section({ id: "settings", title: text.settingsTitle }, form);
}

/** Returns the field of one setting, with what was typed where the form was refused. */
function settingField(name: SettingName, view: Behaviour): Html {
  const { sandbox, input, text } = view;
  // What was typed may belong to the clock.
  const typed = input?.has("successStatus") ? input : undefined;
  const current = sandbox.settings[name];
  const [, kind] = settingFields[name];
  const error = typed && errorOf(name, typed, view);
  const field = { id: name, label: text.settings[name], hint: code(name), error };
  const shown = typed?.get(name) ?? String(current).replaceAll(",", ", ");
  if (kind === "switch") return checkbox(field, typed?.has(name) ?? current === true);
  if (kind === "statuses") return statusBoxes(typed?.getAll(name) ?? sandbox.settings.statuses, field);
  if (kind === "errors") return selectField(field, Object.entries(text.errorForms), shown);
  if (kind === "number") return textField(field, shown, html`inputmode="numeric"`);
  if (kind === "numbers") return textField({ ...field, hint: html`${text.retryHint} ${field.hint}` }, shown);
  return selectField(field, ["200", "201", "202"], shown);
}

function statusBoxes(on: readonly string[], { id, label, hint }: Field): Html {
  const boxes = intermediateStatuses.map((status) => {
    const field = { id: `status-${status}`, label: html`<span lang="en">${status}</span>` };
    return checkbox(field, on.includes(status), id, status);
  });
  return html`<div class="field" role="group" aria-labelledby="${id}">
    <span class="label" id="${id}">${label}</span>
    <span class="hint">${hint}</span>
    <div class="buttons">${boxes}</div>
  </div>`;
}
