import { type AdoptedPayment, type Adoption } from "../../index.js";
import { type RunAction } from "../terminal/actions.js";
import { optionError } from "../terminal/arguments.js";
import { confirms } from "../terminal/confirm.js";
import { confirmNeeded, givenPolicy } from "../terminal/offline-kit.js";
import { requiredOptions } from "../terminal/option-values.js";

/** Without it, a webhook that the application would withhold until a lookup would complete the payment. */
const confirmMissing =
  "Its webhooks are decided with the adoption, and their signatures cover only fields, " + confirmNeeded;

/** Says how the waiting webhooks fit what is to be adopted. */
function describeWebhooks({ payment, webhooks = [] }: AdoptedPayment): string {
  const other = webhooks.filter(({ outcome }) => outcome === "mismatch");
  if (other.length > 0)
    return other.map(({ reason }) => `The payment's webhook does not match: ${reason}.`).join("\n");
  return webhooks.length > 0
    ? `The payment's webhook matches: the payment would be ${payment.state}.`
    : "No waiting webhook names this payment.";
}

/** Says what would be adopted, and adopts it with `--apply` or after a yes on standard input. */
export const adopt: RunAction = async (payments, args, context) => {
  const { output } = context;
  const needed = ["reference", "amount", "currency", "by", "reason"] as const;
  const { reference, amount, currency, by, reason } = requiredOptions(args, needed);
  const clientId = args.object!;
  const total = { value: amount, currency };
  const given: Adoption = { clientId, reference, total, serviceId: args.get("service-id"), by, reason };
  const would = await payments.adopt({ ...given, dryRun: true });
  const isNew = would.adopted;
  if (isNew) {
    output.print(`${clientId}: order ${reference}, ${amount} ${currency}.`);
    const webhooks = await payments.store.webhooks({ clientId, limit: 1000 });
    const isWeak = webhooks.some(({ covers }) => covers !== "body");
    if (isWeak && givenPolicy(args, context).confirm === undefined) throw optionError(confirmMissing);
    output.print(describeWebhooks(would));
  }
  const isWanted = isNew && (args.has("apply") || (await confirms("Adopt this payment?", args, context)));
  const { payment, adopted } = isNew && !isWanted ? would : await payments.adopt(given);
  const isDry = isNew && !isWanted;
  output.printJson({
    adopted: adopted && !isDry,
    state: payment.state,
    clientId,
    ...(isDry && { dryRun: true, webhooks: would.webhooks }),
  });
  if (isDry) {
    output.print("Nothing was changed; --apply adopts the payment.");
    return 1;
  }
  output.print(
    adopted
      ? `The payment is adopted now, and is ${payment.state}.`
      : `The store already had this payment, which is ${payment.state}.`,
  );
  return 0;
};
