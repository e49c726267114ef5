import { type Evidence, type Resolution } from "../../index.js";
import { operandError, optionError } from "../terminal/arguments.js";
import { type Arguments, type CommandDefinition } from "../terminal/command.js";
import { databaseOptions } from "../terminal/database.js";
import { withOfflineKit } from "../terminal/offline-kit.js";
import { envFileOption } from "../terminal/read-file.js";
import { requiredOption } from "../terminal/option-values.js";

export const resolveCommand: CommandDefinition = {
  description: [
    "accept completes a payment: from a webhook that differs or waits, or from evidence, such as a row of a statement or a letter " +
      "of the service. refunded stores that the money was returned. dismiss stores that nothing needs to be done.",
    "Who decided it, why and when stays in the payment's history. The application's own processes call the handlers.",
  ],
  operand: { name: "accept|refunded|dismiss", summary: "What was decided." },
  options: {
    ...databaseOptions,
    "--client-id <id>": "The payment.",
    "--receipt-id <id>": "The webhook, where it is about one.",
    "--by <name>": "Who decided.",
    "--reason <text>": "Why, for readers of the history.",
    "--evidence <statement|lookup|letter|webhook>": "What shows that the payment is paid. Only for accept.",
    "--document <text>": "Where the evidence is, such as a file and its line.",
    "--value <amount>": "The amount that the evidence shows, such as 1475.",
    "--currency <code>": "Its currency.",
    "--service-id <id>": "The service's id on the evidence.",
    "--provider-id <id>": "The provider's reference on the evidence.",
    ...envFileOption,
  },
  examples: {
    "a row of the statement shows a payment whose webhook never came":
      "tillkit resolve accept --client-id c-1 --evidence statement --document november.csv:14 --value 1475 --currency KMF " +
      "--reason lost --by Amina --store shop.db",
    "a webhook with a small difference is accepted":
      "tillkit resolve accept --receipt-id r-1 --reason short --by Amina --env-file .env",
  },
  exitCodes: {
    0: "It is settled now, or was before.",
    2: "Used wrongly; a reason, a person or a database is missing.",
    3: "It cannot be settled in this way, or the database cannot be reached.",
  },
  async run(args, context) {
    const action = args.operand as Resolution["action"];
    if (!["accept", "refunded", "dismiss"].includes(action))
      throw operandError("tillkit resolve needs accept, refunded or dismiss.");
    const evidence = evidenceOf(args);
    const [reason, by] = (["reason", "by"] as const).map((name) => requiredOption(args, name));
    return withOfflineKit(args, context, async (payments) => {
      const [clientId, receiptId] = [args.get("client-id"), args.get("receipt-id")];
      const given = { action, clientId, receiptId, evidence, reason: reason!, by: by! };
      const { resolution, resolved, payment } = await payments.resolve(given);
      const state = payment ? `${payment.clientId} is ${payment.state}. ` : "";
      const when = resolved ? "Settled now" : "Settled before";
      const { action: done, by: who, at, reason: why } = resolution;
      context.output.print(`${state}${when}: ${done} by ${who} at ${at}: ${why}`);
      context.output.printJson({ resolution, resolved, ...(payment && { state: payment.state }) });
      return 0;
    });
  },
};

function evidenceOf(args: Arguments): Evidence | undefined {
  const kind = args.get("evidence") as Evidence["kind"] | undefined;
  const names = ["document", "value", "currency", "service-id", "provider-id"];
  const alone = kind === undefined && names.find((name) => args.has(name));
  if (alone) throw optionError(`--${alone} can only be used with --evidence.`);
  if (kind === undefined) return undefined;
  const total = { value: requiredOption(args, "value"), currency: requiredOption(args, "currency") };
  const [serviceId, providerId] = [args.get("service-id"), args.get("provider-id")];
  return {
    kind,
    document: requiredOption(args, "document"),
    total,
    ...(serviceId !== undefined && { serviceId }),
    ...(providerId !== undefined && { providerId }),
  };
}
