import { type AdoptedPayment, type Adoption, type Payments } from "../../index.js";
import { type RunAction } from "../terminal/actions.js";
import { optionError } from "../terminal/arguments.js";
import { type Arguments, type InputContext } from "../terminal/command.js";
import { confirms } from "../terminal/confirm.js";
import { confirmNeeded, givenPolicy } from "../terminal/offline-kit.js";
import { webhookPages } from "./find.js";
import { requiredOptions } from "../terminal/option-values.js";

/**
 * The message for a missing `confirm`. Without `confirm`, this command cannot know whether the application
 * would first ask the service.
 */
const confirmMissing =
  "Its webhooks are decided with the adoption, and their signatures cover only fields, " + confirmNeeded;

/** The options that an adoption needs. */
export const adoptionOptions = ["reference", "amount", "currency", "by", "reason"] as const;

/** Returns a sentence about the webhooks that wait for the payment. */
function describeWebhooks({ payment, webhooks = [] }: AdoptedPayment): string {
  if (webhooks.length === 0) return "No waiting webhook names this payment.";
  const isUnconfirmed = webhooks.some(({ outcome }) => outcome === "unconfirmed");
  return isUnconfirmed && payment.state !== "completed"
    ? `The payment's webhook waits until the service confirms it: the payment would be ${payment.state}.`
    : `The payment's webhook matches: the payment would be ${payment.state}.`;
}

/** Returns whether the signature of one of the payment's webhooks covers only fields. */
async function hasWeakWebhook(payments: Payments, clientId: string): Promise<boolean> {
  for await (const page of webhookPages(payments, { clientId }))
    if (page.some(({ covers }) => covers !== "body")) return true;
  return false;
}

/**
 * Prints what the adoption would change. Throws `command_option_invalid` if `confirm` is needed but not
 * given, or if a webhook does not match and `--apply` is given without `--despite-mismatch`.
 */
async function describeAdoption(
  payments: Payments,
  would: AdoptedPayment,
  args: Arguments,
  context: InputContext,
): Promise<void> {
  const { output } = context;
  const { payment, adopted, webhooks = [] } = would;
  const { clientId, reference, total, serviceId } = payment;
  output.print(
    adopted
      ? `${clientId}: order ${reference}, ${total.value} ${total.currency}.`
      : `The store has ${clientId}; the service's id ${serviceId} would be added to it.`,
  );
  if (givenPolicy(args, context).confirm === undefined && (await hasWeakWebhook(payments, clientId)))
    throw optionError(confirmMissing);
  const others = webhooks.filter(({ outcome }) => outcome === "mismatch");
  for (const { reason } of others) output.print(`The payment's webhook does not match: ${reason}.`);
  if (others.length > 0 && args.has("apply") && !args.has("despite-mismatch"))
    throw optionError(
      "A webhook does not match the given values. Correct the values, or give --despite-mismatch if they are right.",
    );
  if (adopted && others.length === 0) output.print(describeWebhooks(would));
  if (adopted && args.get("service-id") === undefined && serviceId !== undefined)
    output.print(
      `Without --service-id, the first matching webhook names the payment's id at the service: ${serviceId}.`,
    );
}

/** Prints the adoption, and stores it with `--apply`, or after the answer yes on standard input. */
export const adopt: RunAction = async (payments, args, context) => {
  const { output } = context;
  const { reference, amount, currency, by, reason } = requiredOptions(args, adoptionOptions);
  const clientId = args.object!;
  const total = { value: amount, currency };
  const given: Adoption = { clientId, reference, total, serviceId: args.get("service-id"), by, reason };
  const would = await payments.adopt({ ...given, dryRun: true });
  // An adoption that only adds the service id to a stored payment is also a change. The kit then decides the
  // outcomes of the payment's waiting webhooks.
  const isChange = would.adopted || would.payment.serviceId !== (await payments.find(clientId))?.serviceId;
  if (isChange) await describeAdoption(payments, would, args, context);
  const isWanted = isChange && (args.has("apply") || (await confirms("Adopt this payment?", args, context)));
  const isDry = isChange && !isWanted;
  const { payment, adopted } = isWanted ? await payments.adopt(given) : would;
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
