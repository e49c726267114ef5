import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { type ReadableStream } from "node:stream/web";
import { type SandboxEvent } from "../../sandbox/index.js";
import { askSandbox, sandboxAddress, sandboxAddressOption } from "../sandbox/ask-sandbox.js";
import { eventLine } from "../sandbox/event-line.js";
import { type CommandDefinition } from "../terminal/command.js";
import { oneLine } from "../terminal/output.js";

export const listenCommand: CommandDefinition = {
  description: [
    "Prints a line for every payment that is created or changes its status, for every request that is refused, with the " +
      "reason, and for every attempt to send a webhook, with the answer, until you stop it with Ctrl-C or the sandbox stops.",
  ],
  options: {
    ...sandboxAddressOption,
    "--webhooks-only": "Prints webhooks only, and no payments.",
    "--bodies": "Prints the body of each webhook and of its answer below its line.",
  },
  examples: {
    "the sandbox that npm start or tillkit sandbox runs": "tillkit listen",
    "webhooks with their bodies": "tillkit listen --webhooks-only --bodies",
    "for a program: one JSON object on each line": "tillkit listen --json | jq .delivery.status",
  },
  exitCodes: {
    0: "It was stopped, or the sandbox stopped.",
    2: "Used wrongly.",
    3: "No sandbox answers at the address.",
  },
  async run(args, context) {
    const { output, env, signal } = context;
    const address = sandboxAddress(args, env);
    if (signal?.aborted) return 0;
    const events = await askSandbox(address, "/events", { ...(signal && { signal }) });
    output.log(`Listening to ${address}. Stop with Ctrl-C.`);
    const lines = createInterface({ input: Readable.fromWeb(events.body as ReadableStream) });
    try {
      for await (const line of lines) {
        const event = JSON.parse(line) as SandboxEvent;
        if (event.type !== "delivery" && args.has("webhooks-only")) continue;
        output.printJson(event);
        output.print(eventLine(event, output));
        if (event.type === "delivery" && args.has("bodies")) {
          output.print(`             sent     ${oneLine(event.delivery.requestBody)}`);
          output.print(
            `             answered ${oneLine(event.delivery.responseBody ?? event.delivery.error ?? "")}`,
          );
        }
      }
    } catch (error) {
      // Both are normal ends: the sandbox stopped, or somebody pressed Ctrl-C.
      if (!signal?.aborted) output.log(`The sandbox stopped: ${(error as Error).message}.`);
    }
    return 0;
  },
};
