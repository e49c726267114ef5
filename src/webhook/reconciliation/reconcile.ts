import { type Difference } from "../../model/event-map.js";
import { type PaymentReport } from "../../model/payment-report.js";
import { type Payment } from "../../model/payment.js";
import { differencesFromPayment, differencesWithin } from "./differences.js";
import { isFarther, stateOf } from "../../model/status-order.js";

/** What is known at the moment of the decision. */
export interface Situation {
  /** The payment that the report's clientId names. */
  payment: Payment | undefined;
  /** All payments of the same reference; may include the payment itself. */
  siblings: readonly Payment[];
  /** Whether another payment is bound to the report's service id. */
  serviceIdIsTaken: boolean;
  /** Whether a webhook with the same eventKey is recorded. */
  known: boolean;
  /** Whether the report's clientId can be one of this shop's, where no payment has it. */
  ours: boolean;
  /** Whether the report may complete a payment by itself, without a second opinion. */
  sufficient: boolean;
  /** The time to write down: ISO 8601 UTC. */
  now: string;
}

/** What a decision tells the application, besides what the webhook itself said. */
export type PaymentFact =
  | { type: "payment.completed" }
  | { type: "payment.updated"; previousStatus?: string }
  | { type: "payment.paid_twice"; firstClientId: string; first: Payment }
  | { type: "payment.paid_late"; because: LateBecause };

/** What had become of the attempt before it was paid. `given_up`: uncertain, or told of as overdue. */
export type LateBecause = "canceled" | "failed" | "replaced" | "given_up";

/** What becomes of a verified report. */
export type Decision =
  | { outcome: "duplicate" }
  | { outcome: "unmatched" }
  | { outcome: "foreign" }
  | { outcome: "mismatch"; differences: Difference[] }
  | { outcome: "stale" }
  | { outcome: "unconfirmed" }
  | { outcome: "applied"; payment: Payment; facts: PaymentFact[] };

/**
 * Decides what a verified report means for the merchant's books. Pure: no I/O, and no clock but the one passed in.
 * Total: every payment or none, and every report, has exactly one decision. It sees only fields that the signature
 * covers. `docs/reconciliation-table.md` shows every case, made from this code.
 */
export function reconcile(situation: Situation, report: PaymentReport): Decision {
  const { payment, known, ours, serviceIdIsTaken, sufficient } = situation;
  if (known) return { outcome: "duplicate" };
  if (payment === undefined) return { outcome: ours ? "unmatched" : "foreign" };

  const differences = differencesFromPayment(payment, report, serviceIdIsTaken);
  differences.push(...differencesWithin(report));
  if (differences.length > 0) return { outcome: "mismatch", differences };

  if (!isFarther(report.status, payment.status)) return { outcome: "stale" };
  if (stateOf(report.status) === "completed" && !sufficient) return { outcome: "unconfirmed" };
  return { outcome: "applied", ...applyReport(situation, payment, report) };
}

/** The payment as the report leaves it, and what there is to tell; also where a person overrules a mismatch. Pure. */
export function applyReport(
  { now, siblings }: Pick<Situation, "now" | "siblings">,
  payment: Payment,
  report: Pick<PaymentReport, "status"> & { serviceId: string | undefined },
): { payment: Payment; facts: PaymentFact[] } {
  const state = stateOf(report.status);
  const ended = state !== "pending";
  // What is taken apart is a copy already; to spread it and add to it costs eight times as much.
  const { nextLookupAt, ...next } = payment;
  next.state = state;
  next.status = report.status;
  if (report.serviceId !== undefined) next.serviceId = report.serviceId;
  next.open = payment.open && !ended;
  next.updatedAt = now;
  // What is completed is asked about no more; anything else may still be paid.
  if (state !== "completed" && nextLookupAt !== undefined) (next as Payment).nextLookupAt = nextLookupAt;
  if (state === "completed") next.completedAt = now;
  if (state === "completed") return { payment: next, facts: factsOfCompletion(payment, siblings) };
  const previous = payment.status === undefined ? {} : { previousStatus: payment.status };
  return { payment: next, facts: [{ type: "payment.updated", ...previous }] };
}

/** One fulfilment per reference: a second completed payment is told of instead of fulfilled (ARCHITECTURE.md, invariant G). */
function factsOfCompletion(payment: Payment, siblings: readonly Payment[]): PaymentFact[] {
  const first = siblings.find(
    ({ clientId, reference, state }) =>
      state === "completed" && reference === payment.reference && clientId !== payment.clientId,
  );
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
