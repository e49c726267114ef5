import { type Router } from "express";
import { readScenarios } from "../../scenario/read-scenario-file.js";
import { type DashboardContext } from "../context.js";
import { places } from "../dashboard-page.js";
import { pageRoutes } from "../form.js";
import { scenariosPage } from "./scenarios-page.js";

/** Returns the routes of `/developer/scenarios`: the scenarios, and a form that adds one. */
export function scenarios(context: DashboardContext): Router {
  const { sandbox } = context;
  const use = (name: string): string => {
    sandbox.scenario(name);
    return `${places.scenarios}?done=used`;
  };
  return pageRoutes(context, "/", scenariosPage, {
    "/": (input) => use(input.get("scenario") ?? ""),
    "/own": (input) => {
      const added = readScenarios(input.get("json") ?? "", "JSON").map((scenario) =>
        sandbox.addScenario(scenario),
      );
      const last = added.at(-1);
      return input.has("use") && last !== undefined ? use(last) : `${places.scenarios}?done=added`;
    },
  });
}
