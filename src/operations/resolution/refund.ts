import { createHash } from "node:crypto";
import { TillkitError } from "../../errors/index.js";
import {
  hasTotal,
  isPaidBack,
  newestAttempt,
  paysOrder,
  receivedOf,
  sameTotal,
} from "../../model/attempts.js";
import { canonicalValue, checkAmount, decimalOf, isAmount, minorUnits } from "../../model/money.js";
import { type Money, type Payment, type Refund } from "../../model/payment.js";
import { isText } from "../../shared/is-text.js";
import { type Changes, type ResolutionRecord } from "../../store/index.js";
import { type EventDraft, withoutKey } from "../../webhook/recording/payment-events.js";
import { notPossible, type Resolution, resolutionInvalid, resolvedEvent } from "./resolution.js";

/** Throws `resolution_invalid` for an invalid field of a refund, or for such a field in another action. */
export function checkRefund({ action, amount, key, reversal, clientId, receiptId }: Resolution): void {
  if (action !== "refunded") {
    if ((amount ?? key ?? reversal) === undefined) return;
    throw resolutionInvalid("Only refunded takes amount, key and reversal.");
  }
  if (clientId === undefined || receiptId !== undefined)
    throw resolutionInvalid("refunded needs the clientId of the payment, and no receiptId.");
  if (amount !== undefined && !isAmount(amount))
    throw resolutionInvalid('amount must be a decimal string such as "500" or "10.50".');
  if (key !== undefined && !isText(key, 200))
    throw resolutionInvalid("key must be a string of 1 to 200 characters.");
  if (reversal !== undefined && typeof reversal !== "boolean")
    throw resolutionInvalid("reversal must be true or false.");
}

/**
 * Returns the id of a refund. Two calls describe the same refund if they have the same key, or the same
 * amount and the same document or reason. A refund with neither a key nor an amount is identified by its
 * payment.
 */
export function refundId(given: Resolution, clientId: string): string {
  const { key, evidence, reason } = given;
  const amount = statedAmount(given);
  if (amount === undefined && key === undefined) return `refunded:${clientId}`;
  const about = key === undefined ? [canonicalValue(amount!), evidence?.document ?? reason] : [key];
  const digest = createHash("sha256").update(JSON.stringify([clientId, ...about]));
  return `refunded:${digest.digest("hex")}`;
}

function statedAmount({ amount, evidence }: Resolution): string | undefined {
  return amount ?? evidence?.total.value;
}

/** Throws `resolution_not_possible` if the stored refund has another kind or amount than the given refund. */
export function refuseOtherRefund({ refund }: ResolutionRecord, given: Resolution): void {
  const kind = given.reversal ? "reversal" : "refund";
  if (refund && refund.kind !== kind)
    throw notPossible(
      `it is recorded as a ${refund.kind} already; if this ${kind} is another one, give a key of its own`,
    );
  const value = statedAmount(given);
  if (value === undefined || !refund || sameTotal(refund.amount, { ...refund.amount, value })) return;
  const { amount, key } = refund;
  throw notPossible(`the key ${key ?? ""} belongs to a refund of ${amount.value} ${amount.currency}`);
}

/**
 * Returns the payment after a refund, the refund to store, and its events. Throws `resolution_not_possible`
 * if nothing or less than the amount is left. Throws `resolution_invalid` or `evidence_mismatch` if the
 * amount does not fit the payment or the evidence.
 */
export function applyRefund(
  resolution: ResolutionRecord,
  given: Resolution,
  { stored, payments }: { stored: Payment; payments: readonly Payment[] },
  earlier: readonly ResolutionRecord[],
): Changes & { drafts: EventDraft[] } {
  const received = receivedOf(stored);
  const { currency } = received;
  const units = (value: string): bigint => minorUnits(value, currency);
  const money = (amount: bigint): Money => ({ value: decimalOf(amount, currency), currency });
  // An earlier version stored refunds without an amount. Such a refund returned all of the money.
  const isAllBack = earlier.some((one) => one.action === "refunded" && !one.refund);
  const before = isAllBack ? 0n : units(received.value) - units(stored.refunded ?? "0");
  const amount = checkedAmount(given, stored, money(before));
  const rest = before - units(amount);
  if (rest < 0n || before === 0n)
    throw notPossible(`${money(before).value} ${currency} are left of ${stored.clientId}`);
  const { key, reversal } = given;
  const refund: Refund = {
    kind: reversal ? "reversal" : "refund",
    amount: money(before - rest),
    before: money(before),
    rest: money(rest),
    ...(key !== undefined && { key }),
  };
  const payment: Payment = {
    ...stored,
    refunded: decimalOf(units(received.value) - rest, currency),
    ...(stored.withheld && rest === 0n && { withheld: "refunded" as const }),
    updatedAt: resolution.at,
  };
  // After a full refund, a second or late payment no longer needs a person.
  if (rest === 0n) delete payment.attention;
  const kept = { ...resolution, refund };
  const { reason, by, evidence } = resolution;
  const payload = { payment: withoutKey(payment), refund, reason, by, ...(evidence && { evidence }) };
  return {
    updated: [payment, ...noSecondAnyMore(payment, payments)],
    resolutions: [kept],
    drafts: [{ type: "payment.refunded", payload }, resolvedEvent(kept, payment)],
  };
}

/**
 * Returns the order's second payment without `paid_twice`, if the other payments of the order are paid back.
 * A person must not refund this payment too. The mark stays if the newest attempt asks for another amount,
 * because this payment alone does not pay the order.
 */
function noSecondAnyMore(refunded: Payment, payments: readonly Payment[]): Payment[] {
  const { clientId, reference, updatedAt } = refunded;
  const all = payments.map((one) => (one.clientId === clientId ? refunded : one));
  const ofOrder = all.filter((one) => one.reference === reference);
  const [last, another] = ofOrder.filter((one) => paysOrder(one) && !isPaidBack(one));
  if (last?.attention !== "paid_twice" || another || last.clientId === clientId) return [];
  if (!hasTotal(last, newestAttempt(last, ofOrder).total)) return [];
  const { attention: _, ...rest } = last;
  return [{ ...rest, updatedAt }];
}

/**
 * Returns the given amount of the refund, or all that is left. Throws `resolution_invalid` or
 * `evidence_mismatch` if the amount does not fit the payment or the evidence.
 */
function checkedAmount(given: Resolution, { serviceId }: Payment, left: Money): string {
  const { evidence } = given;
  const value = statedAmount(given);
  if (value === undefined) return left.value;
  const money = { value, currency: left.currency };
  const problem = checkAmount(money);
  if (problem) throw resolutionInvalid(problem.message.replace("total.value", "amount"));
  const isOther = serviceId !== undefined && (evidence?.serviceId ?? serviceId) !== serviceId;
  if (evidence && (isOther || !sameTotal(evidence.total, money)))
    throw new TillkitError("evidence_mismatch", "The evidence shows another payment or another amount.");
  return value;
}
