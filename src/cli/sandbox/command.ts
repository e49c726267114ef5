import { once } from "node:events";
import { createSandbox, type Sandbox } from "../../sandbox/index.js";
import { type Command, type Context, type Arguments } from "../terminal/command.js";
import { lineOf } from "./line-of.js";
import { readScenarioOption } from "./read-scenario-option.js";
import { sandboxOptions } from "./options-of.js";
import { sandboxOptionSpecs } from "./option-specs.js";

export const sandbox: Command = {
  name: "sandbox",
  summary: "start a stand-in for the payment service, and print what happens in it",
  description: [
    "Serves everything of the interface document on this machine: access tokens, payments, the checkout page, webhooks, " +
      "and the merchant's dashboard, where bad days are switched on. Prints its credentials, and then a line for " +
      "every payment and webhook, until it is stopped with Ctrl-C.",
  ],
  options: sandboxOptionSpecs,
  examples: [
    {
      summary: "for a shop on this machine",
      command: "tillkit sandbox --webhook http://localhost:3000/payments/webhook",
    },
    {
      summary: "a service that signs fields, in a file that lasts",
      command: "tillkit sandbox --scheme fields --merchant-id m-7 --state sandbox.db",
    },
    {
      summary: "every payment has a bad day, the same ones each time",
      command: "tillkit sandbox --scenario random --seed 7",
    },
  ],
  exitCodes: {
    0: "It was stopped.",
    2: "Used wrongly; everything that is wrong is named at once.",
    3: "The port is taken, or the state file cannot be used.",
  },
  run: runSandbox,
};

async function runSandbox(args: Arguments, context: Context) {
  const { output, signal } = context;
  const given = args.get("scenario");
  const scenario = given === undefined ? undefined : await readScenarioOption(given, context);
  const running = createSandbox({ ...sandboxOptions(args, context), scenario });
  try {
    if (signal?.aborted) return 0 as const;
    await running.start();
    introduce(running, context);
    running.watch((event) => {
      output.answer(event);
      output.say(lineOf(event, output));
    });
    await (signal ? once(signal, "abort") : new Promise(() => {}));
  } finally {
    await running.close();
  }
  output.remark("The sandbox has ended.");
  return 0 as const;
}

/** What a developer copies into the shop's environment. */
function introduce(running: Sandbox, { output }: Context): void {
  const { url, tokenUrl, client, signing, webhookAddresses, currentScenario } = running;
  const variables = {
    TILLKIT_SERVICE_URL: url,
    TILLKIT_TOKEN_URL: tokenUrl,
    TILLKIT_CLIENT_ID: client.clientId,
    TILLKIT_CLIENT_SECRET: client.clientSecret,
    ...(signing.scheme !== "custom" && { TILLKIT_SIGNATURE: signing.scheme }),
    ...(signing.secret !== undefined && { TILLKIT_WEBHOOK_SECRET: signing.secret }),
    ...(signing.merchantId !== undefined && { TILLKIT_MERCHANT_ID: signing.merchantId }),
    ...(signing.header !== "Service-Signature" && { TILLKIT_SIGNATURE_HEADER: signing.header }),
  };
  output.answer({
    type: "started",
    url,
    tokenUrl,
    client,
    signing,
    webhookAddresses,
    scenario: currentScenario,
    variables,
  });
  output.say(`${output.paint("bold", "The sandbox listens on")} ${output.paint("cyan", url)}`);
  output.say();
  output.say("For the shop's environment:");
  for (const [name, value] of Object.entries(variables)) output.say(`  ${name}=${value}`);
  output.say();
  const addresses = webhookAddresses.map((address) => address.url);
  if (addresses.length > 0) output.say(`Webhooks go to ${addresses.join(", ")}.`);
  else output.say(`Webhooks go nowhere yet: add an address with --webhook, or at ${url}/developer/webhooks.`);
  output.say(`Payments go through the scenario ${currentScenario}; switch it with: tillkit scenario`);
  output.say("Ctrl-C ends it.");
  output.say();
}
