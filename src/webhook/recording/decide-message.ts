import {
  type EventDraft,
  eventsOfApplied,
  unmatchedEvent,
  unconfirmedEvent,
  reportedBy,
  withoutKey,
} from "./payment-events.js";
import { type Message, type PaymentReport } from "../../model/payment-report.js";
import { type Payment } from "../../model/payment.js";
import { reconcile, type Decision } from "../reconciliation/reconcile.js";
import { isKnownStatus } from "../../model/status-order.js";
import { type WebhookRecord } from "../../store/index.js";
import { type Books } from "./books.js";
import { isOurs, isSufficient, type Policy } from "./policy.js";
/** The outcome of one message, with the events that tell of it. */
export type Decided =
  { outcome: "duplicate" } | { outcome: WebhookRecord["outcome"]; reason?: string; events: EventDraft[] };

/** What a decision needs besides the message. */
export interface Circumstances {
  /** Whether a webhook with the same eventKey is recorded. */
  known: boolean;
  /** ISO 8601 UTC. */
  now: string;
  /** The webhook itself. */
  arrival: Pick<WebhookRecord, "receiptId" | "receivedAt" | "kind" | "covers">;
  policy: Policy;
}

/** Decides one message on the books. */
export function decideMessage(books: Books, message: Message, circumstances: Circumstances): Decided {
  if (message.kind === "payment") return decideReport(books, message.report, circumstances);
  if (circumstances.known) return { outcome: "duplicate" };
  const { receiptId } = circumstances.arrival;
  if (message.kind === "inadmissible") {
    const { reason } = message;
    return {
      outcome: "inadmissible",
      reason,
      events: [{ type: "webhook.inadmissible", payload: { reason, receiptId } }],
    };
  }
  const { topic, type } = message;
  return {
    outcome: "unrecognised",
    reason: `type ${type}, topic ${topic}`,
    events: [{ type: "webhook.unrecognised", payload: { topic, type, receiptId } }],
  };
}

/** Decides one report on the books, and writes it into them when it is applied. */
export function decideReport(books: Books, report: PaymentReport, circumstances: Circumstances): Decided {
  const { known, now, arrival, policy } = circumstances;
  const payment = books.find(report.clientId);
  const decision = reconcile(
    {
      payment,
      siblings: payment ? books.siblingsOf(payment) : [],
      serviceIdIsTaken: books.isBoundElsewhere(report),
      known,
      ours: isOurs(policy, report.clientId),
      sufficient: isSufficient(policy, arrival),
      now,
    },
    report,
  );
  if (decision.outcome === "applied") books.write(decision.payment);
  // The lookup that it waits for is due now.
  if (decision.outcome === "unconfirmed") books.write({ ...payment!, nextLookupAt: now });
  return describe(decision, payment, report, circumstances);
}

function describe(
  decision: Decision,
  payment: Payment | undefined,
  report: PaymentReport,
  { arrival, policy }: Circumstances,
): Decided {
  const { receiptId } = arrival;
  const reported = reportedBy(report, arrival);
  switch (decision.outcome) {
    case "duplicate":
      return decision;
    case "stale": {
      // A late `pending` is news to nobody; a word that the kit does not know may be.
      const told = isKnownStatus(report.status)
        ? []
        : [{ type: "payment.reported" as const, payload: { payment: withoutKey(payment!), ...reported } }];
      return { outcome: "stale", reason: `${report.status} after ${payment?.status}`, events: told };
    }
    case "unmatched": {
      const reason = "no payment with this clientId";
      return {
        outcome: "unmatched",
        reason,
        events: policy.hasGrace ? [] : [unmatchedEvent(report, arrival)],
      };
    }
    case "foreign":
      return {
        outcome: "foreign",
        reason: `a clientId without the prefix ${policy.clientIdPrefix}`,
        events: [],
      };
    case "unconfirmed": {
      const reason = "only fields of it are signed, and no lookup has confirmed it";
      const events = policy.hasGrace ? [] : [unconfirmedEvent(payment!, report, arrival)];
      return { outcome: "unconfirmed", reason, events };
    }
    case "mismatch": {
      const { differences } = decision;
      const reason = differences
        .map(({ field, expected, got }) => `${field}: expected ${expected}, got ${got}`)
        .join("; ");
      const payload = { payment: withoutKey(payment!), differences, receiptId, ...reported };
      return { outcome: "mismatch", reason, events: [{ type: "payment.mismatched", payload }] };
    }
    case "applied":
      return { outcome: "applied", events: eventsOfApplied(decision, reported) };
  }
}
