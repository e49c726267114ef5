import express, { type Router } from "express";
import { type SandboxSettings } from "../../state/settings.js";
import { behaviourPage } from "./behaviour-page.js";
import { behaviourWords } from "./behaviour-words.js";
import { clockUnits } from "./clock-section.js";
import { type SettingName, settingKinds } from "./setting-fields.js";
import { type Typed } from "../view.js";
import { type Desk } from "../context.js";
import { FormProblem, onForm } from "../form.js";
import { showPage } from "../show-page.js";

const home = "/developer/behaviour";

/** `/developer/behaviour`: every setting in one form, and the clock. */
export function behaviour(desk: Desk): Router {
  const { sandbox } = desk;
  const router = express.Router();
  const show = showPage(desk, behaviourPage);

  router.get("/", (req, res) => show(req, res));
  router.post(
    "/",
    onForm(
      desk,
      (typed) => {
        sandbox.change(readSettings(typed));
        return `${home}?done=saved`;
      },
      show,
    ),
  );
  router.post(
    "/clock",
    onForm(
      desk,
      async (typed) => {
        await sandbox.clock.advance(readSpan(typed));
        return `${home}?done=forward`;
      },
      show,
    ),
  );
  return router;
}

/** Every setting, as the form has it: a box that is not ticked is not sent. The bounds are the sandbox's to judge. */
function readSettings(typed: Typed): Partial<SandboxSettings> {
  const names = Object.keys(settingKinds) as SettingName[];
  const read: Record<string, unknown> = {};
  for (const name of names) {
    const kind = settingKinds[name];
    if (kind === "switch") read[name] = typed.has(name);
    else if (kind === "statuses") read[name] = typed.list(name);
    else if (kind === "numbers") read[name] = listOf(typed.text(name)).map((text) => numberOf(text, name));
    else read[name] = kind === "errors" ? typed.text(name) : numberOf(typed.text(name), name);
  }
  return read;
}

function listOf(text: string): string[] {
  return text.split(/[,;\s]+/).filter((each) => each !== "");
}

function numberOf(text: string, name: SettingName): number {
  if (/^\d{1,12}$/.test(text.trim())) return Number(text);
  throw new FormProblem({
    en: `“${behaviourWords.en.settings[name]}” must be a whole number such as 5000, not “${text}”.`,
    fr: `« ${behaviourWords.fr.settings[name]} » doit être un nombre entier comme 5000, pas « ${text} ».`,
  });
}

function readSpan(typed: Typed): number {
  const unit = typed.text("unit");
  const amount = typed.text("amount").trim().replace(",", ".");
  if (Object.hasOwn(clockUnits, unit) && /^\d{1,9}(\.\d{1,6})?$/.test(amount))
    return Number(amount) * clockUnits[unit as keyof typeof clockUnits];
  throw new FormProblem({
    en: `The clock goes forward by a number above zero such as 10 or 1.5, not by “${amount}”.`,
    fr: `L’horloge avance d’un nombre positif comme 10 ou 1,5, pas de « ${amount} ».`,
  });
}
