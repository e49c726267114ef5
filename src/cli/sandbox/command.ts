import { once } from "node:events";
import { createSandbox, type Sandbox } from "../../sandbox/index.js";
import { isLoopback } from "../../shared/is-loopback.js";
import { type Context, type CommandDefinition } from "../terminal/command.js";
import { eventLine } from "./event-line.js";
import { readSandboxOptions, readScenarioOption, sandboxOptions } from "./options.js";

export const sandboxCommand: CommandDefinition = {
  description: [
    "Emulates the payment service on this machine: access tokens, payments, the checkout page, " +
      "webhooks, and the merchant's dashboard. Prints the sandbox's credentials, and then a line for " +
      "every payment and webhook. To stop the sandbox, press Ctrl-C.",
  ],
  options: sandboxOptions,
  examples: {
    "send webhooks to a shop on this machine":
      "tillkit sandbox --webhook http://localhost:3000/payments/webhook",
    "emulate a service that signs fields, and keep the state in a file":
      "tillkit sandbox --scheme fields --merchant-id m-7 --state sandbox.db",
    "choose a random scenario for every payment, with the same choices in each run":
      "tillkit sandbox --scenario random --seed 7",
  },
  exitCodes: {
    0: "The sandbox was stopped.",
    2: "The command was used wrongly; the message lists every problem.",
    3: "The port is in use, or the state file cannot be used.",
  },
  async run(args, context) {
    const { output, signal } = context;
    const given = args.get("scenario");
    const scenario = given === undefined ? undefined : await readScenarioOption(given, context);
    const running = createSandbox({ ...readSandboxOptions(args, context), scenario });
    try {
      if (signal?.aborted) return 0;
      await running.start().catch(throwStartError);
      warnOfNetwork(args.get("host"), context);
      printStart(running, context);
      running.watch((event) => {
        output.printJson(event);
        output.print(eventLine(event, output));
      });
      // `once` does not see Ctrl-C if it came during the start.
      if (!signal?.aborted) await (signal ? once(signal, "abort") : new Promise(() => {}));
    } finally {
      await running.close();
    }
    output.log("The sandbox has stopped.");
    return 0;
  },
};

/** Throws the error of the start. If another program uses the port, the error gets a fix. */
function throwStartError(error: NodeJS.ErrnoException): never {
  const fix =
    "Another program uses this port, perhaps a sandbox in another terminal. Stop that program; or give another " +
    "--port here, and set the new address in the shop's TILLKIT_SERVICE_URL and TILLKIT_TOKEN_URL.";
  throw error.code === "EADDRINUSE" ? Object.assign(error, { fix }) : error;
}

/** Warns if other machines can reach the sandbox, and so read its secrets and make it send webhooks. */
function warnOfNetwork(host: string | undefined, { output }: Context): void {
  if (host === undefined || host === "localhost" || isLoopback(host)) return;
  output.log(
    `warning sandbox_in_network: every machine that reaches ${host} can read the sandbox's secrets and make the sandbox send webhooks, ` +
      "but cannot see the answers to these webhooks. Leave --host out to listen on this machine only.",
  );
}

function printStart(running: Sandbox, { output }: Context): void {
  const { url, tokenUrl, client, signing, webhookAddresses, currentScenario: scenario, variables } = running;
  output.printJson({
    type: "started",
    url,
    tokenUrl,
    client,
    signing,
    webhookAddresses,
    scenario,
    variables,
  });
  output.print(`${output.paint("bold", "The sandbox listens on")} ${output.paint("cyan", url)}`);
  output.print();
  output.print("For the shop's environment:");
  for (const [name, value] of Object.entries(variables)) output.print(`  ${name}=${value}`);
  output.print();
  const addresses = webhookAddresses.map((address) => address.url).join(", ");
  if (addresses !== "") output.print(`Webhooks are sent to ${addresses}.`);
  else output.print(`No webhook address yet: add one with --webhook, or at ${url}/developer/webhooks.`);
  output.print(`The scenario of new payments is ${scenario}; switch it at ${url}/developer/scenarios`);
  output.print("Stop with Ctrl-C.");
  output.print();
}
