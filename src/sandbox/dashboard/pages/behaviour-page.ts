import { type Router } from "express";
import { type Html, type HtmlFragment, html } from "../../../pages/html.js";
import { type Page } from "../../http/page.js";
import { intermediateStatuses, type SandboxSettings } from "../../state/sandbox-settings.js";
import { settingsSchema } from "../../state/settings-schema.js";
import { code, namedValue, section, timeAhead } from "../frame/components.js";
import { button, checkbox, type Field, fieldForm, problemId, selectField, textField } from "../frame/form.js";
import {
  type DashboardContext,
  FormProblem,
  pageRoutes,
  refusalBy,
  type View,
} from "../frame/page-routes.js";
import { dashboardPage, places } from "../frame/dashboard-page.js";
import { moment } from "../frame/format.js";

type Kind = "switch" | "status" | "errors" | "statuses" | "number" | "numbers";
type SettingName = keyof SandboxSettings;
type SettingField = readonly [kind: Kind, label: string];

/** Every setting with the kind of its field and its label, in the groups and the order of the page. */
const settingGroups = {
  "Creating a payment": {
    strict: ["switch", "Refuse what the document does not allow"],
    echoClientId: ["switch", "The answer carries clientId"],
    readBack: ["switch", "Payments can be read back with GET"],
    readBackBare: ["switch", "They then stand alone, without data"],
    successStatus: ["status", "Status of the answer"],
    errorBodies: ["errors", "Errors are answered"],
  },
  Statuses: {
    statuses: ["statuses", "Statuses on the way to completed"],
    statusWebhooks: ["switch", "A webhook for each of those statuses"],
    cancelWebhook: ["switch", "A cancel sends payment.canceled"],
    failureWebhook: ["switch", "A failure sends payment.failed"],
  },
  "Webhooks and tokens": {
    webhookDelayMs: ["number", "Pause before a webhook, in ms"],
    webhookTimeoutMs: ["number", "Time that the shop has to answer, in ms"],
    retryDelaysMs: ["numbers", "Pauses before further attempts, in ms"],
    accessTokenTtlSeconds: ["number", "Lifetime of a token, in seconds"],
  },
} satisfies Record<string, Partial<Record<SettingName, SettingField>>>;

const settingFields: Readonly<Record<SettingName, SettingField>> = Object.assign(
  {},
  ...Object.values(settingGroups),
);
const settingNames = Object.keys(settingFields) as SettingName[];

const errorForms = { problem: "as JSON", bare: "without a body", html: "as a page" };

/** The milliseconds of each unit in which the clock can be put forward. */
const clockUnits = { seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;

/** Returns the routes of `/developer/behaviour`: every setting in one form, and the clock. */
export function behaviourRoutes(context: DashboardContext): Router {
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

/**
 * Reads every setting. A switch that the form does not contain is off, because a browser does not send a box
 * that is not ticked. The sandbox checks the values.
 */
function readSettings(input: URLSearchParams): Partial<SandboxSettings> {
  return Object.fromEntries(settingNames.map((name) => [name, readSetting(name, input)]));
}

function readSetting(name: SettingName, input: URLSearchParams): unknown {
  const [kind] = settingFields[name];
  const value = input.get(name) ?? "";
  const number = (text: string): number => numberOf(text, name);
  if (kind === "switch") return input.has(name);
  if (kind === "statuses") return input.getAll(name);
  if (kind === "errors") return value;
  if (kind === "numbers") return (value.match(/[^,;\s]+/g) ?? []).map(number);
  return number(value);
}

/** Returns the error of the value that was typed for a setting; `undefined` if the value is allowed. */
function errorOf(name: SettingName, typed: URLSearchParams): HtmlFragment {
  try {
    const { error } = settingsSchema.shape[name].safeParse(readSetting(name, typed));
    return error?.issues[0]!.message;
  } catch (error) {
    return refusalBy(error).text;
  }
}

function numberOf(value: string, name: SettingName): number {
  if (/^\d{1,12}$/.test(value.trim())) return Number(value);
  throw new FormProblem(`“${settingFields[name][1]}” must be a whole number such as 5000, not “${value}”.`);
}

/** Reads the number of milliseconds that the clock is put forward by. */
function readSpan(input: URLSearchParams): number {
  const unit = input.get("unit") ?? "";
  const amount = input.get("amount")?.trim().replace(",", ".") ?? "";
  if (Object.hasOwn(clockUnits, unit) && /^\d{1,9}(\.\d{1,6})?$/.test(amount))
    return Number(amount) * clockUnits[unit as keyof typeof clockUnits];
  throw new FormProblem(
    `The clock goes forward by a number above zero such as 10 or 1.5, not by “${amount}”.`,
  );
}

function behaviourPage(view: View): Page {
  return dashboardPage(view, {
    place: "behaviour",
    title: "Behaviour",
    done: { saved: "The settings are saved.", forward: "The clock was put forward." },
    lead: html`What the sandbox does where the interface document specifies nothing, and its clock.
    ${code("docs/sandbox.md")} lists every choice.`,
    content: [clockSection(view), settingsSection(view)],
  });
}

function clockSection(view: View): Html {
  const { sandbox } = view;
  const { clock, seed } = sandbox;
  const now = clock.now();
  const content = html`<div class="panel">
    <dl class="panel-part facts">
      ${namedValue("The sandbox’s time", html`${moment(now)}<br /><span class="hint">${timeAhead(now)}</span>`)}
      ${namedValue("Seed", seed === undefined ? "none: ids differ at every start" : code(seed))}
    </dl>
    ${clockForms(view)}
  </div>`;
  return section({ id: "clock", title: "Clock" }, content);
}

function clockForms(view: View): Html {
  const { input, problem } = view;
  const path = `${places.behaviour}/clock`;
  const more = html`inputmode="decimal" required
  aria-invalid="${String(problem?.path.endsWith(path) === true)}" aria-errormessage="${problemId}"`;
  const amount = { id: "amount", label: "By" };
  const unit = { id: "unit", label: "Unit" };
  const fields = [
    textField(amount, input?.get("amount"), more),
    selectField(unit, Object.keys(clockUnits), input?.get("unit") ?? "minutes"),
    button("Put forward"),
  ];
  return html`<div class="fields">
    <p class="hint">
      Put it forward, and everything that becomes due happens: retries, delayed webhooks, tokens that expire.
    </p>
    ${fieldForm(view, path, fields, "advance")}
  </div>`;
}

function settingsSection(view: View): Html {
  const fieldsets = Object.entries(settingGroups).map(([title, fields]) => {
    const names = Object.keys(fields) as SettingName[];
    return html`<fieldset class="fields">
      <legend>${title}</legend>
      ${names.map((name) => settingField(name, view))}
    </fieldset>`;
  });
  const save = html`<div class="buttons">${button("Save", { kind: "main" })}</div>`;
  const form = fieldForm(view, places.behaviour, [fieldsets, save], "panel");
  return section({ id: "settings", title: "Settings" }, form);
}

/** Returns the field of one setting. After a refusal, the field keeps the typed value. */
function settingField(name: SettingName, view: View): Html {
  const { sandbox, input } = view;
  // The input may come from the form of the clock. Only the form of the settings has `successStatus`.
  const typed = input?.has("successStatus") ? input : undefined;
  const current = sandbox.settings[name];
  const [kind, label] = settingFields[name];
  const error = typed && errorOf(name, typed);
  const field = { id: name, label, hint: code(name), error };
  const shown = typed?.get(name) ?? String(current).replaceAll(",", ", ");
  if (kind === "switch") return checkbox(field, typed?.has(name) ?? current === true);
  if (kind === "statuses") return statusBoxes(typed?.getAll(name) ?? sandbox.settings.statuses, field);
  if (kind === "errors") return selectField(field, Object.entries(errorForms), shown);
  if (kind === "number") return textField(field, shown, html`inputmode="numeric"`);
  if (kind === "numbers")
    return textField({ ...field, hint: html`Separated by commas; empty sends once. ${field.hint}` }, shown);
  return selectField(field, ["200", "201", "202"], shown);
}

function statusBoxes(on: readonly string[], { id, label, hint }: Field): Html {
  const boxes = intermediateStatuses.map((status) => {
    const field = { id: `status-${status}`, label: status };
    return checkbox(field, on.includes(status), id, status);
  });
  return html`<div class="field" role="group" aria-labelledby="${id}">
    <span class="label" id="${id}">${label}</span>
    <span class="hint">${hint}</span>
    <div class="buttons">${boxes}</div>
  </div>`;
}
