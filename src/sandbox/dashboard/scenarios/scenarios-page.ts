import { type Router } from "express";
import { type Html, html } from "../../../pages/html.js";
import { type Page } from "../../page.js";
import { readScenarios } from "../../scenario/read-scenario-file.js";
import { choosingAmount } from "../../scenario/scenario-registry.js";
import { randomName, type Scenario } from "../../scenario/scenario.js";
import { aboutIn, button, checkbox, code, labelled, postForm, section } from "../components.js";
import { type DashboardContext, type View, type ViewWith, withTranslations } from "../context.js";
import { dashboardPage, places } from "../dashboard-page.js";
import { fieldForm, pageRoutes, problemId } from "../form.js";
import { scenariosTranslations } from "./translations.js";

type Scenarios = ViewWith<typeof scenariosTranslations>;
type Group = keyof Scenarios["text"]["groups"];

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

/** Returns the page with every scenario, the one in use, and a form that adds one. */
function scenariosPage(given: View): Page {
  const view = withTranslations(given, scenariosTranslations);
  const { title, lead, done, random, groups } = view.text;
  const all = [...view.sandbox.scenarios, { name: randomName, about: random, about_fr: random }];
  const sections = (Object.keys(groups) as Group[]).map((group) => groupSection(group, all, view));
  const content = [
    currentPanel(all, view),
    postForm(view, places.scenarios, sections, "sections"),
    addSection(view),
  ];
  return dashboardPage(view, { place: "scenarios", title, lead, done, content });
}

/** Returns the scenario in use, with a button that goes back to the normal one. */
function currentPanel(all: readonly Scenario[], view: Scenarios): Html {
  const { language, sandbox, text } = view;
  const current = sandbox.currentScenario;
  const scenario = all.find(({ name }) => name === current);
  const back = button(text.backToNormal, { name: "scenario", value: "normal" });
  const shown = html`<div class="inline">
    <div>
      <p class="hint">${text.current}</p>
      <p class="label" lang="en">${current}</p>
      <p class="hint">${aboutIn(language, scenario)}</p>
    </div>
    ${current !== "normal" && back}
  </div>`;
  return postForm(view, places.scenarios, shown, "panel");
}

function groupSection(group: Group, all: readonly Scenario[], view: Scenarios): Html | undefined {
  const members = all.filter((scenario) => groupOf(scenario) === group);
  if (members.length === 0) return undefined;
  const items = members.map((scenario) => scenarioItem(scenario, view));
  const heading = { id: `group-${group}`, title: view.text.groups[group] };
  const content = html`<ul class="panel">
    ${items}
  </ul>`;
  return section(heading, content);
}

/** Returns the group by the first thing that differs from the normal scenario. */
function groupOf({ name, token, creation, moves, paidWithNext }: Scenario): Group {
  if (name === "normal" || name === randomName) return "usual";
  if (choosingAmount(name) === undefined) return "own";
  if (token) return "token";
  if (creation) return "creation";
  return moves || paidWithNext ? "moves" : "webhooks";
}

function scenarioItem(scenario: Scenario, { language, sandbox, text }: Scenarios): Html {
  const { name } = scenario;
  const number = choosingAmount(name);
  const amount = number !== undefined && html`${text.amount} ${code(number)} · `;
  const about = html`<span lang="en">${name}</span>`;
  const use = button(text.use, { kind: "control", about, name: "scenario", value: name });
  const inUse = html`<span class="badge good">${text.current}</span>`;
  return html`<li class="row">
    <span class="what" lang="en">${name}</span>
    ${name === sandbox.currentScenario ? inUse : use}
    <span class="more">${aboutIn(language, scenario)}</span>
    ${name !== randomName && html`<span class="more">${amount}${text.clientId} ${code(`:${name}`)}</span>`}
  </li>`;
}

function addSection(view: Scenarios): Html {
  const { input, problem, text } = view;
  const isWrong = problem !== undefined && input?.has("json") === true;
  const more = html`required spellcheck="false" autocomplete="off" aria-invalid="${String(isWrong)}"
  aria-errormessage="${problemId}"`;
  // A browser drops the line break after the tag, and keeps every other one.
  const json = html`<textarea id="json" name="json" rows="9" ${more}>
${input?.get("json") ?? example}</textarea>`;
  const file = html`<input id="file" type="file" accept="application/json,.json" />`;
  const form = html`<div class="fields">
    ${labelled({ id: "json", label: text.json }, json)}
    <div data-fills="json">${labelled({ id: "file", label: text.file }, file)}</div>
    ${checkbox({ id: "use", label: text.useIt }, input?.has("use") ?? true, "use", "yes")}
    <div class="buttons">${button(text.addButton, { kind: "main" })}</div>
  </div>`;
  const heading = { id: "add", title: text.add, lead: text.addLead };
  return section(heading, fieldForm(view, `${places.scenarios}/own`, form, "panel"));
}

const example = `{
  "name": "slow-and-twice",
  "about": "The webhook comes late, and twice.",
  "webhooks": [{ "delayMs": 3000, "times": 2 }]
}`;
