import { type Difference, type LastAsked } from "../../model/event-map.js";
import { type PaymentReport } from "../../model/payment-report.js";
import { firstPaid, hasTotal, newestAttempt, sameTotal } from "../../model/attempts.js";
import { sameValue } from "../../model/money.js";
import { type Money, type Payment } from "../../model/payment.js";
import { capturedFor, isFarther, isKnownStatus, stateOf } from "../../model/status-order.js";
import { isSameNumber } from "../../shared/payment-number.js";

/** The facts on which the decision about a report depends. */
export interface Situation {
  /** The payment that the report's clientId names. */
  payment: Payment | undefined;
  /** All payments of the same reference; may include the payment itself. */
  siblings: readonly Payment[];
  /** Whether another payment is bound to the report's service id. */
  serviceIdIsTaken: boolean;
  /** Whether a webhook with the same eventKey is recorded. */
  known: boolean;
  /** Whether the report's clientId belongs to this shop. Matters only without a stored payment. */
  ours: boolean;
  /** Whether the report may complete a payment without a lookup. */
  sufficient: boolean;
  /** The time that is stored with the decision: ISO 8601 UTC. */
  now: string;
}

/** A fact that a decision reports to the application, in addition to the fields of the webhook. */
export type PaymentFact =
  | { type: "payment.completed" }
  | { type: "payment.updated"; previousStatus?: string }
  | { type: "payment.paid_twice"; firstClientId: string; first: Payment }
  | { type: "payment.paid_other_amount"; lastAsked: LastAsked }
  | { type: "payment.paid_late"; because: LateBecause };

/**
 * The state of the attempt before its late completion. `canceled` means that the service or the customer
 * canceled it, and `given_up` that it was uncertain or overdue.
 */
export type LateBecause = "canceled" | "failed" | "replaced" | "given_up";

/** The result of deciding a verified report. */
export type Decision =
  | { outcome: "duplicate" }
  | { outcome: "unmatched" }
  | { outcome: "foreign" }
  | { outcome: "mismatch"; differences: Difference[] }
  | { outcome: "stale" }
  | { outcome: "unconfirmed" }
  | { outcome: "applied"; payment: Payment; facts: PaymentFact[] };

/**
 * Decides what a verified report does to the stored payment. Does no I/O and reads no clock. There is exactly
 * one decision for every report, with or without a payment. Only fields that the signature covers are used.
 * The tables of `docs/reconciliation-table.md` are generated from this function.
 */
export function reconcile(situation: Situation, { verified }: Pick<PaymentReport, "verified">): Decision {
  const { payment, known, ours, serviceIdIsTaken, sufficient } = situation;
  if (known) return { outcome: "duplicate" };
  if (payment === undefined) return { outcome: ours ? "unmatched" : "foreign" };

  const differences = differencesOf(payment, verified, serviceIdIsTaken);
  if (differences.length > 0) return { outcome: "mismatch", differences };

  if (!isFarther(verified.status, payment.status)) return { outcome: "stale" };
  if (stateOf(verified.status) === "completed" && !sufficient) return { outcome: "unconfirmed" };
  return { outcome: "applied", ...applyReport(situation, payment, verified) };
}

/**
 * Returns the fields in which the report differs from the stored payment, or contradicts itself (interface
 * document, 6.2). Fields that the signature does not cover are not compared.
 */
function differencesOf(
  payment: Payment,
  verified: PaymentReport["verified"],
  serviceIdIsTaken: boolean,
): Difference[] {
  const differences: Difference[] = [];
  const expect = (field: Difference["field"], expected: string, got: string): void =>
    void differences.push({ field, expected, got });
  const { id, status, captured, topic, "total.value": value, "total.currency": currency } = verified;
  const { serviceId } = payment;
  const total = expectedTotal(payment, status, { value, currency });
  if (serviceId !== undefined && serviceId !== id) expect("id", serviceId, id);
  else if (serviceIdIsTaken) expect("id", "an id bound to no other payment", id);
  if (!sameValue(total.value, value)) expect("total.value", total.value, value);
  if (total.currency !== currency) expect("total.currency", total.currency, currency);
  const must = capturedFor(status);
  if (captured !== undefined && must !== undefined && captured !== must)
    expect("captured", String(must), String(captured));
  // Only the topic of a known status can contradict the status, because the document shows no other topics.
  const named = topic?.startsWith("payment.") ? topic.slice("payment.".length) : undefined;
  if (named !== undefined && isKnownStatus(named) && named !== status)
    expect("topic", `payment.${status}`, `payment.${named}`);
  const other = otherTransfer(payment, verified);
  if (other) differences.push(other);
  return differences;
}

/**
 * Returns the difference if a completion reports another transfer than the one that completed the payment.
 * The customer may then have paid twice. If both have the provider's number, this number decides, because a
 * service may change the time when it sends a webhook again.
 */
function otherTransfer(
  { state, reported }: Payment,
  { status, providerId, submittedAt }: PaymentReport["verified"],
): Difference | undefined {
  if (state !== "completed" || status !== "completed" || reported?.status !== "completed") return undefined;
  const proven = (field: "providerId" | "submittedAt"): string | undefined =>
    reported.verified.includes(field) ? reported[field] : undefined;
  const [number, time] = [proven("providerId"), proven("submittedAt")];
  if (number && providerId)
    return number === providerId || isSameNumber(number, providerId)
      ? undefined
      : { field: "providerId", expected: number, got: providerId };
  if (!time || !submittedAt || time === submittedAt || Date.parse(time) === Date.parse(submittedAt))
    return undefined;
  return { field: "submittedAt", expected: time, got: submittedAt };
}

/**
 * Returns the amount that the report must have. After a person accepted another amount, a completion with the
 * original total is a difference too. Either the rest of the money came, or all of it came a second time.
 */
function expectedTotal({ total, received }: Payment, status: string, reported: Money): Money {
  return received && status === "completed" && sameTotal(total, reported) ? received : total;
}

/** Returns the changed payment and the facts to report. Also used when a person accepts a mismatch. */
export function applyReport(
  { now, siblings }: Pick<Situation, "now" | "siblings">,
  payment: Payment,
  { id, status }: { id?: string | undefined; status: string },
): { payment: Payment; facts: PaymentFact[] } {
  const state = stateOf(status);
  const ended = state !== "pending";
  // The rest pattern makes a copy. A second copy by spreading would be much slower.
  const { nextLookupAt, attention, ...next } = payment;
  next.state = state;
  next.status = status;
  if (id !== undefined) next.serviceId = id;
  next.open = payment.open && !ended;
  next.updatedAt = now;
  // A completed payment needs no lookup. In any other state, the customer may still pay.
  if (state !== "completed" && nextLookupAt !== undefined) (next as Payment).nextLookupAt = nextLookupAt;
  if (state === "completed") {
    next.completedAt = now;
    const facts = factsOfCompletion(payment, siblings);
    const types = facts.map(({ type }) => type);
    if (types[0] === "payment.paid_other_amount") (next as Payment).withheld = "unsettled";
    else if (types[0] === "payment.paid_twice") (next as Payment).attention = "paid_twice";
    else if (types.includes("payment.paid_late")) (next as Payment).attention = "paid_late";
    return { payment: next, facts };
  }
  // The entry that a person settled was about the payment's old state, so it stays settled only in that
  // state.
  if (attention !== undefined && state === payment.state) (next as Payment).attention = attention;
  const previous = payment.status === undefined ? {} : { previousStatus: payment.status };
  return { payment: next, facts: [{ type: "payment.updated", ...previous }] };
}

/**
 * Returns the facts of a completion. If the order has another paid payment, `payment.paid_twice` replaces
 * `payment.completed`. Otherwise, if the order's newest attempt asks for another amount,
 * `payment.paid_other_amount` replaces `payment.completed`. A person may have accepted another amount than
 * the payment's total. If the newest attempt asks for the accepted amount, nothing is left to accept.
 */
function factsOfCompletion(payment: Payment, siblings: readonly Payment[]): PaymentFact[] {
  const ofOrder = siblings.filter(({ reference }) => reference === payment.reference);
  const first = firstPaid(ofOrder.filter((other) => other.clientId !== payment.clientId));
  const { clientId, total } = newestAttempt(payment, ofOrder);
  const isAsked = hasTotal(payment, total);
  if (!first && !isAsked) return [{ type: "payment.paid_other_amount", lastAsked: { clientId, total } }];
  const facts: PaymentFact[] = first
    ? [{ type: "payment.paid_twice", firstClientId: first.clientId, first }]
    : [{ type: "payment.completed" }];
  const because = whyLate(payment);
  if (because) facts.push({ type: "payment.paid_late", because });
  return facts;
}

function whyLate(payment: Payment): LateBecause | undefined {
  if (payment.state === "canceled" || payment.cancelReturnedAt !== undefined) return "canceled";
  if (payment.state === "failed") return "failed";
  if (payment.replacedBy !== undefined) return "replaced";
  if (payment.state === "uncertain" || payment.overdueAt !== undefined) return "given_up";
  return undefined;
}
