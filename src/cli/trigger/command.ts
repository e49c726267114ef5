import { catalogue, createSandbox, type Delivery, type Scenario } from "../../sandbox/index.js";
import { readScenarioOption } from "../sandbox/options.js";
import { deliveryLine } from "../sandbox/event-line.js";
import { readSigningScheme, signingOptions } from "../sign/make-scheme.js";
import { rankedStatuses } from "../../model/status-order.js";
import { operandError, optionError } from "../terminal/arguments.js";
import { type CommandDefinition } from "../terminal/command.js";
import { oneLine } from "../terminal/output.js";
import { didYouMean, nearest } from "../../shared/nearest.js";
import { type SigningScheme } from "../../webhook/signature/index.js";

export const triggerCommand: CommandDefinition = {
  description: [
    "Sends the webhooks of one payment to an endpoint, for an event or for a scenario, and prints the " +
      "endpoint's answers. An event is payment.completed, payment.failed, or any other status. A scenario " +
      "can have pauses and faults. The command needs no running sandbox, and works with any endpoint.",
    "Never send these webhooks to a shop with real payments. A payment.completed that is signed with the " +
      "shop's own secret completes a payment that nobody has paid.",
  ],
  operand: {
    name: "scenario or event",
    summary:
      "An event such as payment.completed, a scenario (see tillkit help sandbox), or a JSON file, followed by #name " +
      "if the file has several scenarios.",
  },
  options: {
    "--to <url>": "The webhook address. Default: TILLKIT_PUBLIC_URL followed by /webhook.",
    "--client-id <id>": "The payment's clientId. Required.",
    "--total <amount>": 'The amount and the currency of the payment. Default: "1475 KMF".',
    "--id <id>": "The payment's id at the service. Default: 24 random digits.",
    ...signingOptions,
  },
  examples: {
    "report that a payment is completed":
      "tillkit trigger payment.completed --client-id c-1 --env-file .env --to http://localhost:3000/payments/webhook",
    "report an amount that was changed on the way: the endpoint should answer with 401":
      "tillkit trigger amount-tampered --client-id c-1 --env-file .env",
    "use the scheme and the header of a service that signs fields":
      "tillkit trigger payment.completed --client-id c-1 --secret-file s.txt --merchant-id m-7 --header X-Signature --to http://localhost:8080/hook",
  },
  exitCodes: {
    0: "The endpoint answered every genuine webhook with 2xx, and every forged webhook with 4xx.",
    1: "A genuine webhook was not accepted, a forged webhook was accepted, or the endpoint did not answer.",
    2: "The command was used wrongly, the scenario does not exist, or there is no secret.",
    3: "The scenario's file cannot be read.",
  },
  async run(args, context) {
    const { output } = context;
    const { scheme } = await readSigningScheme(args, context);
    const chosen = withMovesAtApproval(await readScenarioOption(args.operand!, context));
    const publicUrl = context.env["TILLKIT_PUBLIC_URL"]?.trim().replace(/(?<!\/)\/+$/, "");
    const to =
      args.get("to") ?? (publicUrl && `${publicUrl}/webhook`) ?? missingOption("to", "the webhook address");
    const clientId = args.get("client-id") ?? missingOption("client-id", "the clientId of the payment");
    const total = readTotal(args.get("total") ?? "1475 KMF");

    const sandbox = createSandbox({
      signature: scheme,
      scenario: chosen,
      webhookUrls: [to],
      allowRemoteWebhooks: true,
      retryDelaysMs: chosen.webhooks?.some(({ loseFirst }) => loseFirst) ? [0] : [],
      webhookTimeoutMs: 15_000,
      now: context.now,
    });
    const deliveries: (Delivery & { forged: boolean })[] = [];
    sandbox.watch((event) => {
      if (event.type !== "delivery") return;
      deliveries.push({ ...event.delivery, forged: !isGenuine(event.delivery, scheme) });
      output.print(deliveryLine(event.delivery, output));
      if (event.delivery.responseBody)
        output.print(`              answered ${oneLine(event.delivery.responseBody).slice(0, 500)}`);
    });
    try {
      const id = args.get("id");
      // Otherwise the amount, or the end of the clientId, could choose another scenario.
      sandbox.scenario(chosen.name, { for: clientId });
      sandbox.create({ clientId, total, ...(id !== undefined && { id }) });
      await sandbox.pay(clientId);
      await sandbox.settled();
    } finally {
      await sandbox.close();
    }
    if (deliveries.length === 0) output.log(`The scenario ${chosen.name} sends no webhook.`);
    output.printJson({ scenario: chosen.name, to, deliveries });
    const [accepted, refused] = [2, 4].map(
      (kind) => (one: Delivery) => Math.floor((one.status ?? 0) / 100) === kind,
    );
    const forged = deliveries.filter((one) => one.forged);
    const word = output.paint("bold", "forged");
    if (forged.some(accepted!))
      output.log(
        `${output.paint("red", "error")} The endpoint accepted a ${word} webhook, so anybody can forge webhooks.`,
      );
    else if (forged.length > 0 && forged.every(refused!))
      output.print(`The endpoint refused every ${word} webhook, as it must.`);
    // Only the last attempt of each webhook counts, because a scenario may lose the first attempt.
    const last = deliveries.filter((one) => !deliveries.some((other) => isRepeated(one, other)));
    return last.every((one) => (one.forged ? refused! : accepted!)(one)) ? 0 : 1;
  },
};

/**
 * Returns whether `other` is a later attempt of the same webhook. A delivery's id begins with the webhook's.
 */
function isRepeated(one: Delivery, other: Delivery): boolean {
  return one.id.split("-")[0] === other.id.split("-")[0] && one.attempt < other.attempt;
}

/** Returns whether the webhook has a signature that the service could have made with these settings. */
function isGenuine({ headers, requestBody }: Delivery, scheme: SigningScheme): boolean {
  try {
    const rawBody = Buffer.from(requestBody);
    const { [scheme.header]: given } = headers;
    if (scheme.covers !== "body") return given === scheme.sign(rawBody);
    return scheme.verify({ rawBody, headers: { [scheme.header.toLowerCase()]: given } }) === true;
  } catch {
    // The webhook has no signature, or its body has no fields that can be signed.
    return false;
  }
}

/**
 * Returns the scenario with one list of status changes that run at the approval: the changes at the creation,
 * at the opening of the page, and at the approval or else at the cancel. Each change sends a webhook.
 */
function withMovesAtApproval(chosen: string | Scenario): Scenario {
  const scenario = typeof chosen === "string" ? scenarioOf(chosen) : chosen;
  const { created, opened, approved, canceled } = scenario.moves ?? {};
  const lists = [created, opened, approved ?? canceled].filter((list) => list !== undefined);
  const moves = lists.flat().map((move) => ({ ...move, webhook: true }));
  return { ...scenario, ...(lists.length > 0 && { moves: { approved: moves } }) };
}

function scenarioOf(name: string): Scenario {
  const known = catalogue.find((scenario) => scenario.name === name);
  if (known) {
    if (known.webhooks || known.moves) return known;
    throw operandError(
      `The scenario ${name} is not about webhooks. Run this scenario with: tillkit sandbox --scenario ${name}`,
    );
  }
  const status = /^payment\.([a-z_]{1,32})$/.exec(name)?.[1];
  const meant = status && nearest(status, rankedStatuses);
  // Unknown statuses are allowed as tests. A misspelt status is refused, because it would change nothing.
  if (meant && meant !== status)
    throw operandError(`There is no event "${name}". Did you mean payment.${meant}?`);
  if (status) return { name: status.replaceAll("_", "-"), moves: { approved: [{ status, webhook: true }] } };
  const names = ["payment.completed", ...catalogue.map((scenario) => scenario.name)];
  throw operandError(`There is no scenario or event "${name}".${didYouMean(name, names)}`);
}

function readTotal(text: string): { value: string; currency: string } {
  const [, value, currency] = /^(\d+(?:\.\d+)?) ?([A-Z]{3})$/.exec(text) ?? [];
  if (value !== undefined && currency !== undefined) return { value, currency };
  throw optionError('--total must be an amount and a currency, such as "1475 KMF".');
}

function missingOption(option: string, what: string): never {
  throw optionError(`--${option} is missing: ${what}.`);
}
