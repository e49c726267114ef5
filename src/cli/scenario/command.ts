import { type Scenario } from "../../sandbox/index.js";
import {
  askSandbox,
  readScenarioOption,
  sandboxAddress,
  sandboxAddressOption,
} from "../sandbox/ask-sandbox.js";
import { type Context, type CommandDefinition } from "../terminal/command.js";
import { wrap } from "../terminal/output.js";

export const scenarioCommand: CommandDefinition = {
  description: [
    "Without a name it lists the scenarios, and marks the one that new payments get. With a name, or with a file of your " +
      "own, new payments get that scenario from now on; normal switches the faults off.",
  ],
  operand: {
    name: "scenario",
    optional: true,
    summary: "A name, random, or a JSON file, followed by #name if it has several.",
  },
  options: {
    ...sandboxAddressOption,
    "--for <clientId>": "Only the payment with this clientId. The payment may not exist yet.",
  },
  examples: {
    "list the scenarios": "tillkit scenario",
    "send every webhook twice from now on": "tillkit scenario webhook-doubled",
    "for one payment": "tillkit scenario paid-twice --for 0198c2f4",
    "switch the faults off": "tillkit scenario normal",
  },
  exitCodes: {
    0: "The scenarios were listed, or one was switched on.",
    2: "Used wrongly; there is no such scenario, or its file cannot be used.",
    3: "No sandbox answers at the address, or it refused.",
  },
  async run(args, context) {
    const address = sandboxAddress(args, context.env);
    if (args.operand === undefined) return listScenarios(address, context);
    const { output } = context;
    const chosen = await readScenarioOption(args.operand, context);
    const only = args.get("for");
    const path = only === undefined ? "/scenario" : `/payments/${encodeURIComponent(only)}/scenario`;
    await askSandbox(address, path, { method: "PUT", body: JSON.stringify({ scenario: chosen }) });
    const name = typeof chosen === "string" ? chosen : chosen.name;
    output.print(
      `The scenario of ${only === undefined ? "new payments" : `payment ${only}`} is now ${name}.`,
    );
    output.printJson({ scenario: name, ...(only !== undefined && { for: only }) });
    return 0;
  },
};

async function listScenarios(address: string, { output }: Context) {
  const response = await askSandbox(address, "/scenarios");
  const answer = (await response.json()) as { current: string; scenarios: Scenario[] };
  const width = Math.max(...answer.scenarios.map(({ name }) => name.length)) + 2;
  for (const { name, about = "" } of answer.scenarios) {
    const mark = name === answer.current ? output.paint("green", "● ") : "  ";
    output.print(mark + name.padEnd(width) + wrap(about, output.width - width - 2, " ".repeat(width + 2)));
  }
  output.printJson(answer);
  return 0 as const;
}
