import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { type ReadableStream } from "node:stream/web";
import { type SandboxEvent } from "../../sandbox/index.js";
import { type Command, type Context, type Arguments } from "../terminal/command.js";
import { askSandbox, sandboxAddress, sandboxAddressOption } from "./control.js";
import { lineOf } from "./line-of.js";

export const listen: Command = {
  name: "listen",
  summary: "print every webhook of a running sandbox as it is sent",
  description: [
    "Prints a line for every payment that is created or moves, and for every attempt to send a webhook, with the " +
      "answer, until it is stopped with Ctrl-C or the sandbox ends.",
  ],
  options: [
    sandboxAddressOption,
    { name: "webhooks-only", summary: "Leaves out what happens to payments." },
    { name: "bodies", summary: "Prints the body of each webhook, and of its answer, below its line." },
  ],
  examples: [
    { summary: "the sandbox that npm start, or tillkit sandbox, runs", command: "tillkit listen" },
    { summary: "with what was said", command: "tillkit listen --webhooks-only --bodies" },
    {
      summary: "for a program: one JSON object a line",
      command: "tillkit listen --json | jq .delivery.status",
    },
  ],
  exitCodes: {
    0: "It was stopped, or the sandbox ended.",
    2: "Used wrongly.",
    3: "No sandbox answers at the address.",
  },
  run: runListen,
};

async function runListen(args: Arguments, context: Context) {
  const { output, env, signal } = context;
  const address = sandboxAddress(args, env);
  if (signal?.aborted) return 0 as const;
  const events = await askSandbox(address, "/events", { ...(signal && { signal }) });
  output.remark(`Listening to ${address}. Ctrl-C ends it.`);
  const lines = createInterface({ input: Readable.fromWeb(events.body as ReadableStream) });
  try {
    for await (const line of lines) {
      const event = JSON.parse(line) as SandboxEvent;
      if (event.type !== "delivery" && args.has("webhooks-only")) continue;
      output.answer(event);
      output.say(lineOf(event, output));
      if (event.type === "delivery" && args.has("bodies")) {
        output.say(`             sent     ${event.delivery.requestBody}`);
        output.say(`             answered ${event.delivery.responseBody ?? event.delivery.error}`);
      }
    }
  } catch (error) {
    // The sandbox went away in the middle, or somebody pressed Ctrl-C: neither is a failure of listening.
    if (!signal?.aborted) output.remark(`The sandbox ended: ${(error as Error).message}.`);
  }
  return 0 as const;
}
