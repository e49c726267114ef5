import { type Router } from "express";
import { type Html, html } from "../../../pages/html.js";
import { type Page } from "../../http/page.js";
import { readScenarios } from "../../scenario/read-scenario-file.js";
import { choosingAmount } from "../../scenario/scenario-registry.js";
import { randomName, type Scenario } from "../../scenario/scenario.js";
import { code, section } from "../frame/components.js";
import { button, checkbox, fieldForm, labelled, postForm, problemId } from "../frame/form.js";
import { type DashboardContext, pageRoutes, type View } from "../frame/page-routes.js";
import { dashboardPage, places } from "../frame/dashboard-page.js";

/** The titles of the groups of scenarios. */
const scenarioGroups = {
  own: "Your own",
  usual: "Normal and random",
  webhooks: "Webhooks",
  moves: "Course of the payment",
  creation: "Creating a payment",
  token: "Access tokens",
} as const;
type Group = keyof typeof scenarioGroups;

const randomScenario: Scenario = {
  name: randomName,
  about: "A random scenario of the sandbox for each payment. With a seed, the order is repeatable.",
};

/** Returns the routes of `/developer/scenarios`: the scenarios, and a form that adds one. */
export function scenarioRoutes(context: DashboardContext): Router {
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

function scenariosPage(view: View): Page {
  const all = [...view.sandbox.scenarios, randomScenario];
  const sections = (Object.keys(scenarioGroups) as Group[]).map((group) => groupSection(group, all, view));
  const content = [postForm(view, places.scenarios, sections, "groups"), addSection(view)];
  return dashboardPage(view, {
    place: "scenarios",
    title: "Scenarios",
    lead:
      "A scenario decides what happens to a payment. Choose one for all new payments, or let one payment select it by its " +
      "amount or by the end of its clientId.",
    done: { used: "New payments use this scenario.", added: "The scenario was added." },
    content,
  });
}

/** Returns a group of scenarios. The group with the current scenario is open. */
function groupSection(group: Group, all: readonly Scenario[], view: View): Html | undefined {
  const members = all.filter((scenario) => scenarioGroup(scenario) === group);
  if (members.length === 0) return undefined;
  const isOpen = members.some(({ name }) => name === view.sandbox.currentScenario);
  return html`<details class="panel" ${isOpen && html`open`}>
    <summary>
      <h2>${scenarioGroups[group]}</h2>
      <span class="badge">${members.length}</span>
    </summary>
    <ul class="panel-part">
      ${members.map((scenario) => scenarioItem(scenario, view))}
    </ul>
  </details>`;
}

/** Returns the group of a scenario, by the first part that differs from the normal scenario. */
function scenarioGroup({ name, token, creation, moves, paidWithNext }: Scenario): Group {
  if (name === "normal" || name === randomName) return "usual";
  if (choosingAmount(name) === undefined) return "own";
  if (token) return "token";
  if (creation) return "creation";
  return moves || paidWithNext ? "moves" : "webhooks";
}

function scenarioItem(scenario: Scenario, { sandbox }: View): Html {
  const { name } = scenario;
  const number = choosingAmount(name);
  const amount = number !== undefined && html`amount ${code(number)} · `;
  const about = name;
  const use = button("Use", { kind: "control", about, name: "scenario", value: name });
  const inUse = html`<span class="badge good">In use</span>`;
  return html`<li class="row">
    <span class="what">${name}</span>
    ${name === sandbox.currentScenario ? inUse : use}
    <span class="more">${scenario.about}</span>
    ${name !== randomName && html`<span class="more">${amount}clientId ending in ${code(`:${name}`)}</span>`}
  </li>`;
}

function addSection(view: View): Html {
  const { input, problem } = view;
  const isWrong = problem !== undefined && input?.has("json") === true;
  const more = html`required spellcheck="false" autocomplete="off" aria-invalid="${String(isWrong)}"
  aria-errormessage="${problemId}"`;
  // A browser drops one line break after the tag. Without this one, it would drop a line break of the text.
  const json = html`<textarea id="json" name="json" rows="9" ${more}>
${input?.get("json") ?? example}</textarea>`;
  const form = html`<div class="fields">
    ${labelled({ id: "json", label: "Scenario as JSON" }, json)}
    ${checkbox({ id: "use", label: "Use it from now on" }, input?.has("use") ?? true, "use", "yes")}
    <div class="buttons">${button("Add", { kind: "main" })}</div>
  </div>`;
  const heading = {
    id: "add",
    title: "Add your own",
    lead: "A scenario is a JSON object; docs/sandbox.md describes its fields. A list adds several scenarios.",
  };
  return section(heading, fieldForm(view, `${places.scenarios}/own`, form, "panel"));
}

const example = `{
  "name": "slow-and-twice",
  "about": "The webhook comes late, and twice.",
  "webhooks": [{ "delayMs": 3000, "times": 2 }]
}`;
