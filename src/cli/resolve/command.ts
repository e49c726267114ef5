import { type Evidence, type Payments, type Resolution, type Resolved } from "../../index.js";
import { notesOf } from "../payments/notes-of.js";
import { describeRefund } from "../payments/refund.js";
import { operandError, optionError } from "../terminal/arguments.js";
import { type Arguments, type CommandDefinition, type Context, type ExitCode } from "../terminal/command.js";
import { confirms } from "../terminal/confirm.js";
import { stepLines } from "../terminal/command-line.js";
import { databaseOptions } from "../terminal/database.js";
import { withOfflineKit } from "../terminal/offline-kit.js";
import { oneLine, type Output } from "../terminal/output.js";
import { envFileOption } from "../terminal/read-file.js";
import { requiredOption, requiredOptions } from "../terminal/option-values.js";

export const resolveCommand: CommandDefinition = {
  description: [
    "`accept` completes a payment. `accept` needs a webhook with the outcome mismatch or unconfirmed, " +
      "or evidence such as a row of a statement or a letter from the service.",
    "`refunded` records that all of the money was returned. To record a partial refund, use tillkit " +
      "payments refund.",
    "`dismiss` records that nobody needs to do anything.",
    "The command shows what would change, and asks you before it stores the decision. A repeated " +
      "decision is stored only once. The payment's history shows who made the decision, when and why. The " +
      "application's own processes call the handlers.",
  ],
  operand: { name: "accept|refunded|dismiss", summary: "The decision to store." },
  options: {
    ...databaseOptions,
    "--client-id <id>": "The clientId of the payment.",
    "--receipt-id <id>": "The receiptId of the webhook, if the decision is about a webhook.",
    "--by <name>": "The name of the person who made the decision.",
    "--reason <text>": "The reason, for readers of the history.",
    "--evidence <statement|lookup|letter|webhook>":
      "The kind of evidence for the payment or the refund. Requires --document and --value. webhook also requires " +
      "--receipt-id: to record a refused webhook that the kit kept, use tillkit replay.",
    "--document <text>": "Where the evidence is, such as a file and a line number.",
    "--value <amount>": "The amount that the evidence shows, such as 1475.",
    "--currency <code>": "The currency of --value. Default: the currency of the payment in --client-id.",
    "--service-id <id>": "The payment's id at the service, as the evidence shows it.",
    "--provider-id <id>": "The provider's reference, as the evidence shows it.",
    "--apply": "Stores the decision without asking you.",
    ...envFileOption,
  },
  examples: {
    "complete a payment that a row of the statement shows, but no webhook reported":
      "tillkit resolve accept --client-id c-1 --evidence statement --document november.csv:14 --value 1475 --reason lost " +
      "--by Amina --store shop.db",
    "accept a webhook with a small difference":
      "tillkit resolve accept --receipt-id r-1 --reason short --by Amina --env-file .env",
  },
  exitCodes: {
    0: "The decision is stored now, or was stored before.",
    1: "The command only showed what would change.",
    2: "The command was used wrongly, or a reason, a person or a database is missing.",
    3: "The payment or the webhook cannot be settled in this way, or the database cannot be reached.",
  },
  async run(args, context) {
    const action = args.operand as Resolution["action"];
    if (!["accept", "refunded", "dismiss"].includes(action))
      throw operandError("tillkit resolve needs accept, refunded or dismiss.");
    const person = requiredOptions(args, ["by", "reason"]);
    checkEvidenceOptions(args);
    return withOfflineKit(args, context, async (payments) => {
      const [clientId, receiptId] = [args.get("client-id"), args.get("receipt-id")];
      const evidence = await readEvidence(payments, args);
      return decide(payments, { action, clientId, receiptId, evidence, ...person }, args, context);
    });
  },
};

/**
 * Prints the effect of the decision, and stores it with `--apply` or after the answer yes on standard input.
 */
async function decide(
  payments: Payments,
  given: Resolution,
  args: Arguments,
  context: Context,
): Promise<ExitCode> {
  const { output } = context;
  const would = await payments.resolve({ ...given, dryRun: true });
  if (would.resolved) output.print(describe(given, would));
  const isWanted =
    would.resolved && (args.has("apply") || (await confirms("Store this decision?", args, context)));
  const { resolution, resolved, payment } = isWanted ? await payments.resolve(given) : would;
  const isDry = resolved && !isWanted;
  const state = payment && { state: payment.state };
  output.printJson({ resolution, resolved: resolved && isWanted, ...(isDry && { dryRun: true }), ...state });
  if (isDry) {
    output.print("Nothing was changed; --apply stores the decision.");
    return 1;
  }
  const { action: done, by, at, reason } = resolution;
  const when = resolved ? "Settled now" : "Settled before";
  output.print(
    oneLine(
      `${payment ? `${payment.clientId} is ${payment.state}. ` : ""}${when}: ${done} by ${by} at ${at}: ${reason}`,
    ),
  );
  if (payment && isWanted) await printOpen(payments, payment.clientId, args, output);
  return 0;
}

/**
 * Prints the open entries of the payment. For example, a payment that was accepted late has an open entry.
 */
async function printOpen(
  payments: Payments,
  clientId: string,
  args: Arguments,
  output: Output,
): Promise<void> {
  const { attention } = await payments.history(clientId, { limit: 1 });
  for (const { id, why, next } of attention) {
    output.print(`\n${oneLine(`This payment has an open entry, ${id}: ${why}`)}`);
    for (const line of stepLines(next, args)) output.print(`  ${oneLine(line)}`);
  }
}

/** Returns a description of the decision's effect for people. */
function describe({ action }: Resolution, { resolution, payment }: Resolved): string {
  const { before, after, refund, clientId } = resolution;
  const { reference, total } = payment ?? {};
  const notes = payment && notesOf(payment);
  const about = total ? `, order ${reference}, ${total.value} ${total.currency}` : "";
  const change = refund ? describeRefund(refund) : `${before} → ${after}${notes ? ` (${notes})` : ""}`;
  return `${clientId}${about}: ${action}: ${change}.`;
}

function checkEvidenceOptions(args: Arguments): void {
  const isGiven = args.has("evidence");
  const names = ["document", "value", "currency", "service-id", "provider-id"];
  const alone = !isGiven && names.find((name) => args.has(name));
  if (alone) throw optionError(`--${alone} can only be used with --evidence.`);
  if (isGiven) requiredOptions(args, ["document", "value"]);
}

async function readEvidence(payments: Payments, args: Arguments): Promise<Evidence | undefined> {
  const kind = args.get("evidence") as Evidence["kind"] | undefined;
  if (kind === undefined) return undefined;
  const { document, value } = requiredOptions(args, ["document", "value"]);
  const stored = args.has("currency") ? undefined : await payments.find(args.get("client-id") ?? "");
  const currency = stored?.total.currency ?? requiredOption(args, "currency");
  const [serviceId, providerId] = [args.get("service-id"), args.get("provider-id")];
  return {
    kind,
    document,
    total: { value, currency },
    ...(serviceId !== undefined && { serviceId }),
    ...(providerId !== undefined && { providerId }),
  };
}
