import express, { type Router } from "express";
import { readScenarios } from "../../scenario/read-scenario-file.js";
import { scenariosPage } from "./scenarios-page.js";
import { type Desk } from "../context.js";
import { onForm } from "../form.js";
import { showPage } from "../show-page.js";

const home = "/developer/scenarios";

/** `/developer/scenarios`: which scenarios there are, which is in use, and one's own. */
export function scenarios(desk: Desk): Router {
  const { sandbox } = desk;
  const router = express.Router();
  const show = showPage(desk, scenariosPage);

  router.get("/", (req, res) => show(req, res));
  router.post(
    "/",
    onForm(
      desk,
      (typed) => {
        sandbox.scenario(typed.text("scenario"));
        return `${home}?done=used`;
      },
      show,
    ),
  );
  router.post(
    "/own",
    onForm(
      desk,
      (typed) => {
        const names = readScenarios(typed.text("json"), "JSON").map((scenario) =>
          sandbox.addScenario(scenario),
        );
        const last = names.at(-1);
        if (!typed.has("use") || last === undefined) return `${home}?done=added`;
        sandbox.scenario(last);
        return `${home}?done=used`;
      },
      show,
    ),
  );
  return router;
}
