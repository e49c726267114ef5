import { type Html, html } from "../../../pages/html.js";
import { type Sandbox } from "../../contract.js";
import { choosingAmount } from "../../scenario/scenario-registry.js";
import { randomName, type Scenario } from "../../scenario/scenario.js";
import { type Page } from "../../page.js";
import { doneIn } from "../done.js";
import { framed, places } from "../frame.js";
import { aboutIn, ticked } from "../pieces.js";
import { scenariosWords } from "./scenarios-words.js";
import { type View } from "../view.js";

type Group = keyof (typeof scenariosWords)["en"]["groups"];

const order: readonly Group[] = ["own", "usual", "webhooks", "moves", "creation", "token"];

/** Every scenario, which of them is in use, and a form for one's own. */
export function scenariosPage(sandbox: Sandbox, view: View): Page {
  const { language, root } = view;
  const words = scenariosWords[language];
  const random: Scenario = { name: randomName, about: words.random, about_fr: words.random };
  const all = [...sandbox.scenarios, random];
  return framed(view, {
    place: "scenarios",
    title: words.title,
    done: doneIn(words.done, view),
    head: html`<h1>${words.title}</h1>
      <p class="lead">${words.lead}</p>`,
    content: [
      inUse(sandbox.currentScenario, all, view),
      html`<form class="groups" method="post" action="${root}${places.scenarios}">
        ${order.map((group) => section(group, all, sandbox.currentScenario, view))}
      </form>`,
      addForm(view),
    ],
  });
}

/** The one in use, and the way back to a good day. */
function inUse(current: string, all: readonly Scenario[], { language, root }: View): Html {
  const words = scenariosWords[language];
  const scenario = all.find(({ name }) => name === current);
  return html`<form class="panel" method="post" action="${root}${places.scenarios}">
    <div class="inline">
      <div>
        <p class="hint">${words.current}</p>
        <p class="label" lang="en">${current}</p>
        <p class="hint">${aboutIn(language, scenario)}</p>
      </div>
      ${
        current !== "normal" &&
        html`<button class="button" name="scenario" value="normal">${words.backToNormal}</button>`
      }
    </div>
  </form>`;
}

function section(group: Group, all: readonly Scenario[], current: string, view: View): Html | undefined {
  const words = scenariosWords[view.language];
  const own = all.filter((scenario) => groupOf(scenario) === group);
  if (own.length === 0) return undefined;
  return html`<section aria-labelledby="group-${group}">
    <div class="head"><h2 id="group-${group}">${words.groups[group]}</h2></div>
    <ul class="panel">
      ${own.map((scenario) => scenarioRow(scenario, scenario.name === current, view))}
    </ul>
  </section>`;
}

/** By the first thing that goes otherwise. */
function groupOf(scenario: Scenario): Group {
  const { name, token, creation, moves, paidWithNext } = scenario;
  if (name === "normal" || name === randomName) return "usual";
  if (choosingAmount(name) === undefined) return "own";
  if (token) return "token";
  if (creation) return "creation";
  return moves || paidWithNext ? "moves" : "webhooks";
}

function scenarioRow(scenario: Scenario, isCurrent: boolean, { language }: View): Html {
  const words = scenariosWords[language];
  const { name } = scenario;
  const amount = choosingAmount(name);
  return html`<li class="row">
    <span class="what" lang="en">${name}</span>
    ${
      isCurrent
        ? html`<span class="pill good">${words.current}</span>`
        : html`<button class="button control" name="scenario" value="${name}">
            ${words.use} <span class="hidden" lang="en">${name}</span>
          </button>`
    }
    <span class="more">${aboutIn(language, scenario)}</span>
    ${
      name !== randomName &&
      html`<span class="more">
        ${amount !== undefined && html`${words.amount} <code>${amount}</code> · `}${words.clientId}
        <code>:${name}</code>
      </span>`
    }
  </li>`;
}

function addForm({ language, root, typed, problem }: View): Html {
  const words = scenariosWords[language];
  const isWrong = problem !== undefined && typed?.has("json") === true;
  return html`<section aria-labelledby="add">
    <div class="head"><h2 id="add">${words.add}</h2></div>
    <p class="lead">${words.addLead}</p>
    <div class="panel">
      <form class="fields" method="post" action="${root}${places.scenarios}/own">
        <div class="field">
          <label for="json">${words.json}</label>
          <textarea
            id="json"
            name="json"
            rows="9"
            required
            spellcheck="false"
            autocomplete="off"
            aria-invalid="${isWrong ? "true" : "false"}"
          >
${typed?.text("json") ?? example}</textarea>
        </div>
        <div class="field" data-fills="json">
          <label for="file">${words.file}</label>
          <input id="file" type="file" accept="application/json,.json" />
        </div>
        <div class="check">
          <input type="checkbox" id="use" name="use" value="yes" ${ticked(typed?.has("use") ?? true)} />
          <label for="use">${words.useIt}</label>
        </div>
        <div class="buttons"><button class="button main">${words.addButton}</button></div>
      </form>
    </div>
  </section>`;
}

const example = JSON.stringify(
  {
    name: "slow-and-twice",
    about: "The webhook comes late, and twice.",
    webhooks: [{ delayMs: 3000, times: 2 }],
  },
  undefined,
  2,
);
