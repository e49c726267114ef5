import { type Message, type PaymentReport } from "../../model/payment-report.js";
import { type Payment } from "../../model/payment.js";
import { reconcile, type Decision, type PaymentFact } from "../reconciliation/reconcile.js";
import { isKnownStatus } from "../../model/status-order.js";
import { type EventRecord, type WebhookRecord } from "../../store/index.js";
import { type Books } from "./books.js";
import { isOurs, isSufficient, type Policy } from "./policy.js";

/** An event without what recording adds. */
export type EventDraft = Pick<EventRecord, "type" | "payload">;
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

/** The events of a payment that changed. */
export function eventsOfApplied(
  { payment, facts }: Pick<Extract<Decision, { outcome: "applied" }>, "payment" | "facts">,
  reported: ReportedPayload,
): EventDraft[] {
  const told = withoutKey(payment);
  const { verified, untrusted, reportedBy } = reported;
  return facts.map((fact): EventDraft => {
    // Field by field: to spread one object behind another costs as much as to decide.
    const payload = { payment: told, verified, untrusted, reportedBy };
    return {
      type: fact.type,
      payload: fact.type === "payment.completed" ? payload : { ...payload, ...detailsOf(fact) },
    };
  });
}

function detailsOf({ type: _, ...details }: PaymentFact) {
  return "first" in details ? { ...details, first: withoutKey(details.first) } : details;
}

/** Tells of a webhook whose payment did not appear. */
export function unmatchedEvent(
  report: PaymentReport,
  { receiptId, receivedAt, kind }: Pick<WebhookRecord, "receiptId" | "receivedAt" | "kind">,
): EventDraft {
  const payload = { clientId: report.clientId, receiptId, receivedAt, ...reportedBy(report, { kind }) };
  return { type: "payment.unmatched", payload };
}

/** Tells of a completion that no lookup confirmed. */
export function unconfirmedEvent(
  payment: Payment,
  report: PaymentReport,
  { receiptId, receivedAt, kind }: Pick<WebhookRecord, "receiptId" | "receivedAt" | "kind">,
): EventDraft {
  const payload = { payment: withoutKey(payment), receiptId, receivedAt, ...reportedBy(report, { kind }) };
  return { type: "payment.unconfirmed", payload };
}

type ReportedPayload = ReturnType<typeof reportedBy>;

/** What the webhook itself said, as events carry it. */
export function reportedBy(
  { verified, untrusted }: Pick<PaymentReport, "verified" | "untrusted">,
  { kind = "webhook" }: { kind?: "lookup" | undefined | "webhook" },
) {
  return { verified, untrusted, reportedBy: kind };
}

/** The hash of the return addresses is of no use to a handler. */
export function withoutKey({ returnKeyHash: _, ...payment }: Payment): Payment {
  return payment;
}
