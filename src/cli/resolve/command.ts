import { type Evidence, type Payments, type Resolution, type Resolved } from "../../index.js";
import { notesOf } from "../payments/notes-of.js";
import { describeRefund } from "../payments/refund.js";
import { operandError, optionError } from "../terminal/arguments.js";
import { type Arguments, type CommandDefinition, type Context, type ExitCode } from "../terminal/command.js";
import { confirms } from "../terminal/confirm.js";
import { databaseOptions } from "../terminal/database.js";
import { withOfflineKit } from "../terminal/offline-kit.js";
import { envFileOption } from "../terminal/read-file.js";
import { requiredOption, requiredOptions } from "../terminal/option-values.js";

export const resolveCommand: CommandDefinition = {
  description: [
    "accept completes a payment. It uses a webhook that differs or waits, or evidence, such as a row of a " +
      "statement or a letter of the service. refunded stores that all of the money was returned. For a part " +
      "of it, use tillkit payments refund. dismiss stores that nobody needs to do anything.",
    "It shows what it would change, and asks first. It stores the same decision only once. The payment's " +
      "history has who decided it, when and why. The application's own processes call the handlers.",
  ],
  operand: { name: "accept|refunded|dismiss", summary: "What was decided." },
  options: {
    ...databaseOptions,
    "--client-id <id>": "The payment.",
    "--receipt-id <id>": "The webhook, where it is about one.",
    "--by <name>": "Who decided.",
    "--reason <text>": "Why, for readers of the history.",
    "--evidence <statement|lookup|letter|webhook>":
      "What shows that the payment is paid, or that money went back. Needs --document and --value.",
    "--document <text>": "Where the evidence is, such as a file and its line.",
    "--value <amount>": "The amount that the evidence shows, such as 1475.",
    "--currency <code>": "Its currency. Default: that of the payment of --client-id.",
    "--service-id <id>": "The service's id on the evidence.",
    "--provider-id <id>": "The provider's reference on the evidence.",
    "--apply": "Settles it without a question.",
    ...envFileOption,
  },
  examples: {
    "a row of the statement shows a payment whose webhook never came":
      "tillkit resolve accept --client-id c-1 --evidence statement --document november.csv:14 --value 1475 --reason lost " +
      "--by Amina --store shop.db",
    "a webhook with a small difference is accepted":
      "tillkit resolve accept --receipt-id r-1 --reason short --by Amina --env-file .env",
  },
  exitCodes: {
    0: "It is settled now, or was before.",
    1: "It was only shown.",
    2: "Used wrongly; a reason, a person or a database is missing.",
    3: "It cannot be settled in this way, or the database cannot be reached.",
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

/** Says what the decision would change, and stores it with `--apply` or after a yes on standard input. */
async function decide(
  payments: Payments,
  given: Resolution,
  args: Arguments,
  context: Context,
): Promise<ExitCode> {
  const { output } = context;
  const would = await payments.resolve({ ...given, dryRun: true });
  if (would.resolved) output.print(describe(given, would));
  const isWanted = would.resolved && (args.has("apply") || (await confirms("Settle it?", args, context)));
  const { resolution, resolved, payment } = isWanted ? await payments.resolve(given) : would;
  const isDry = resolved && !isWanted;
  const state = payment && { state: payment.state };
  output.printJson({ resolution, resolved: resolved && isWanted, ...(isDry && { dryRun: true }), ...state });
  if (isDry) {
    output.print("Nothing was changed; --apply settles it.");
    return 1;
  }
  const { action: done, by, at, reason } = resolution;
  const when = resolved ? "Settled now" : "Settled before";
  output.print(
    `${payment ? `${payment.clientId} is ${payment.state}. ` : ""}${when}: ${done} by ${by} at ${at}: ${reason}`,
  );
  return 0;
}

/** Returns what the decision would change, for people. */
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
