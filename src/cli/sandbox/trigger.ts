import { TillkitError } from "../../errors/index.js";
import { catalogue, createSandbox, type Delivery, type Scenario } from "../../sandbox/index.js";
import { type Command, type Context, type Arguments } from "../terminal/command.js";
import { readEnvironment } from "../terminal/environment.js";
import { nearest } from "../terminal/nearest.js";
import { deliveryLine } from "./line-of.js";
import { readScenarioOption } from "./read-scenario-option.js";
import { makeSigningScheme } from "../sign/make-scheme.js";
import { signatureOptions } from "../sign/signature-options.js";
import { readSignatureSettings, remarkOnSecret, requireSecret } from "../sign/signature-settings.js";

export const trigger: Command = {
  name: "trigger",
  summary: "sign a webhook, or the webhooks of a bad day, and send them to an endpoint",
  description: [
    "Sends what the service would send about one payment: for an event (payment.completed, payment.failed, or any " +
      "other status) one webhook; for a scenario all of its webhooks, with their pauses, spoiled as the scenario has it. " +
      "Prints how the endpoint answered. No sandbox need run, and the endpoint may be anybody's.",
  ],
  operand: {
    name: "scenario or event",
    summary:
      "payment.completed, a scenario's name (see tillkit help sandbox), or a JSON file, with #name behind it.",
  },
  options: [
    {
      name: "to",
      value: "url",
      summary: "The webhook address. Default: TILLKIT_PUBLIC_URL with /webhook behind it.",
    },
    { name: "client-id", value: "id", summary: "The payment's clientId. Required." },
    { name: "total", value: "amount", summary: 'Amount and currency. Default: "1475 KMF".' },
    { name: "id", value: "id", summary: "The service's id of the payment. Default: 24 random digits." },
    ...signatureOptions.map((option) =>
      option.name === "scheme" ? { ...option, value: "hmac|fields", choices: ["hmac", "fields"] } : option,
    ),
  ],
  examples: [
    {
      summary: "a payment completes",
      command:
        "tillkit trigger payment.completed --client-id c-1 --env-file .env --to http://localhost:3000/payments/webhook",
    },
    {
      summary: "the amount was changed on the way: the answer should be 401",
      command: "tillkit trigger amount-tampered --client-id c-1 --env-file .env",
    },
    {
      summary: "a service that signs fields, and its header",
      command:
        "tillkit trigger payment.completed --client-id c-1 --secret-file s.txt --merchant-id m-7 --header X-Signature --to http://localhost:8080/hook",
    },
  ],
  exitCodes: {
    0: "Every webhook was answered 2xx.",
    1: "Some webhook was answered otherwise, or not at all.",
    2: "Used wrongly; no such scenario, or no secret.",
    3: "The scenario's file cannot be read.",
  },
  run: runTrigger,
};

async function runTrigger(args: Arguments, context: Context) {
  const { output } = context;
  remarkOnSecret(args, context);
  const environment = await readEnvironment(args, context);
  const settings = await readSignatureSettings(args, context, environment);
  requireSecret(settings, environment);
  const chosen = playable(await readScenarioOption(args.operand!, context));
  const publicUrl = environment["TILLKIT_PUBLIC_URL"]?.replace(/\/+$/, "");
  const to = args.get("to") ?? (publicUrl && `${publicUrl}/webhook`) ?? needed("to", "the webhook address");
  const clientId = args.get("client-id") ?? needed("client-id", "the clientId of the payment");
  const total = readTotal(args.get("total") ?? "1475 KMF");

  const sandbox = createSandbox({
    signature: makeSigningScheme(settings, undefined),
    scenario: chosen,
    webhookUrls: [to],
    allowRemoteWebhooks: true,
    retryDelaysMs: chosen.webhooks?.some(({ loseFirst }) => loseFirst) ? [0] : [],
    webhookTimeoutMs: 15_000,
    ...(context.now && { now: context.now }),
  });
  const deliveries: Delivery[] = [];
  sandbox.watch((event) => {
    if (event.type !== "delivery") return;
    deliveries.push(event.delivery);
    output.say(deliveryLine(event.delivery, output));
    if (event.delivery.responseBody)
      output.say(`             answered ${event.delivery.responseBody.slice(0, 500)}`);
  });
  try {
    const id = args.get("id");
    sandbox.create({ clientId, total, ...(id !== undefined && { id }) });
    await sandbox.pay(clientId);
    await sandbox.settled();
  } finally {
    await sandbox.close();
  }
  if (deliveries.length === 0) output.remark(`The scenario ${chosen.name} sends no webhook.`);
  output.answer({ scenario: chosen.name, to, deliveries });
  return deliveries.every(({ status = 0 }) => status >= 200 && status < 300) ? (0 as const) : (1 as const);
}

/** The scenario as one that begins with the customer's approval: here nobody opens a page, or cancels. */
function playable(chosen: string | Scenario): Scenario {
  const scenario = typeof chosen === "string" ? named(chosen) : chosen;
  const { created, opened, approved, canceled } = scenario.moves ?? {};
  const moves = approved ?? opened ?? created ?? canceled;
  return {
    ...scenario,
    ...(moves && { moves: { approved: moves.map((move) => ({ ...move, webhook: true })) } }),
  };
}

function named(name: string): Scenario {
  const known = catalogue.find((scenario) => scenario.name === name);
  if (known) {
    if (known.webhooks || known.moves) return known;
    const message = `The scenario ${name} is not about webhooks. Play it with: tillkit sandbox --scenario ${name}`;
    throw new TillkitError("command_operand_invalid", message);
  }
  const status = /^payment\.([a-z_]{1,32})$/.exec(name)?.[1];
  if (status) return { name: status.replaceAll("_", "-"), moves: { approved: [{ status, webhook: true }] } };
  const meant = nearest(name, ["payment.completed", ...catalogue.map((scenario) => scenario.name)]);
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  throw new TillkitError("command_operand_invalid", `There is no scenario or event "${name}".${hint}`);
}

function readTotal(text: string): { value: string; currency: string } {
  const [, value, currency] = /^(\d[\d.]*) ?([A-Z]{3})$/.exec(text.trim()) ?? [];
  if (value !== undefined && currency !== undefined) return { value, currency };
  throw new TillkitError(
    "command_option_invalid",
    '--total must be an amount and a currency, such as "1475 KMF".',
  );
}

function needed(option: string, what: string): never {
  throw new TillkitError("command_option_invalid", `--${option} is missing: ${what}.`);
}
