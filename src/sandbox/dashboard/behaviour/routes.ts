import { type Router } from "express";
import { type SandboxSettings } from "../../state/settings.js";
import { type DashboardContext } from "../context.js";
import { places } from "../dashboard-page.js";
import { FormProblem, pageRoutes } from "../form.js";
import { behaviourPage, clockUnits, type SettingName, settingFields } from "./behaviour-page.js";
import { behaviourTranslations } from "./translations.js";

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
  const read: Record<string, unknown> = {};
  for (const [name, [, kind]] of Object.entries(settingFields)) {
    const value = input.get(name) ?? "";
    const number = (text: string): number => numberOf(text, name as SettingName);
    if (kind === "switch") read[name] = input.has(name);
    else if (kind === "statuses") read[name] = input.getAll(name);
    else if (kind === "errors") read[name] = value;
    else if (kind === "numbers") read[name] = (value.match(/[^,;\s]+/g) ?? []).map(number);
    else read[name] = number(value);
  }
  return read;
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
