import { type Scenario } from "../../sandbox/index.js";
import { type Command, type Context, type Arguments } from "../terminal/command.js";
import { wrap } from "../terminal/output.js";
import { readScenarioOption } from "./read-scenario-option.js";
import { askSandbox, sandboxAddress, sandboxAddressOption } from "./control.js";

export const scenario: Command = {
  name: "scenario",
  summary: "list the bad days of a running sandbox, or switch to one",
  description: [
    "Without a name it lists the scenarios, and marks the one that payments go through. With a name, or a file of a " +
      "scenario of your own, payments go through that one from now on; normal brings the good days back.",
  ],
  operand: {
    name: "scenario",
    optional: true,
    summary: "A name, random, or a JSON file, with #name behind it where it holds several.",
  },
  options: [
    sandboxAddressOption,
    {
      name: "for",
      value: "clientId",
      summary: "Only the payment of this clientId, which need not exist yet.",
    },
  ],
  examples: [
    { summary: "what there is", command: "tillkit scenario" },
    { summary: "every webhook twice from now on", command: "tillkit scenario webhook-doubled" },
    { summary: "for one payment", command: "tillkit scenario paid-twice --for 0198c2f4" },
    { summary: "back to good days", command: "tillkit scenario normal" },
  ],
  exitCodes: {
    0: "It was listed, or switched.",
    2: "Used wrongly; no such scenario, or one that cannot be read.",
    3: "No sandbox answers at the address, or it refused.",
  },
  run: runScenario,
};

async function runScenario(args: Arguments, context: Context) {
  const address = sandboxAddress(args, context.env);
  if (args.operand === undefined) return list(address, context);
  const { output } = context;
  const chosen = await readScenarioOption(args.operand, context);
  const only = args.get("for");
  const path = only === undefined ? "/scenario" : `/payments/${encodeURIComponent(only)}/scenario`;
  await askSandbox(address, path, { method: "PUT", body: JSON.stringify({ scenario: chosen }) });
  const name = typeof chosen === "string" ? chosen : chosen.name;
  output.say(`${only === undefined ? "Payments" : `The payment ${only}`} from now on: ${name}.`);
  output.answer({ scenario: name, ...(only !== undefined && { for: only }) });
  return 0 as const;
}

async function list(address: string, { output }: Context) {
  const response = await askSandbox(address, "/scenarios");
  const answer = (await response.json()) as { current: string; scenarios: Scenario[] };
  const width = Math.max(...answer.scenarios.map(({ name }) => name.length)) + 2;
  for (const { name, about = "" } of answer.scenarios) {
    const mark = name === answer.current ? output.paint("green", "● ") : "  ";
    output.say(mark + name.padEnd(width) + wrap(about, output.width - width - 2, " ".repeat(width + 2)));
  }
  output.answer(answer);
  return 0 as const;
}
