import { type Message, type PaymentReport } from "../../model/payment-report.js";
import { type Payment } from "../../model/payment.js";
import { isFarther, isKnownStatus } from "../../model/status-order.js";
import { type WebhookRecord } from "../../store/index.js";
import { reconcile, type Decision } from "../reconciliation/reconcile.js";
import { type LockedPayments } from "./locked-payments.js";
import { noteReport } from "./note-report.js";
import { eventFieldsOf, eventsOfApplied, withoutKey, type EventDraft } from "./payment-events.js";

/** The merchant's settings that decisions depend on. */
export interface Policy {
  /** What this shop's clientIds begin with; `undefined` where every webhook is this shop's. */
  clientIdPrefix: string | undefined;
  /** Whether a completion of which only fields are signed waits for a lookup. */
  confirms: boolean;
}

/** The outcome of one message, with the events that report it. */
export type MessageOutcome =
  { outcome: "duplicate" } | { outcome: WebhookRecord["outcome"]; reason?: string; events: EventDraft[] };

/** What a decision needs besides the message and the payments. */
export interface Circumstances {
  /** Whether a webhook with the same eventKey is recorded. */
  known: boolean;
  /** ISO 8601 UTC. */
  now: string;
  /** The webhook, the answer to a lookup, or the person's evidence that carried the message. */
  arrival: Pick<WebhookRecord, "receiptId" | "receivedAt" | "covers"> & { kind?: "lookup" | "person" };
  policy: Policy;
}

/** Decides one message, and updates the locked payment when the message is applied. */
export function decideMessage(
  payments: LockedPayments,
  message: Message,
  circumstances: Circumstances,
): MessageOutcome {
  if (message.kind === "payment") return decideReport(payments, message, circumstances);
  if (circumstances.known) return { outcome: "duplicate" };
  const { receiptId } = circumstances.arrival;
  if (message.kind === "inadmissible") {
    const { reason } = message;
    const event: EventDraft = { type: "webhook.inadmissible", payload: { reason, receiptId } };
    return { outcome: "inadmissible", reason, events: [event] };
  }
  const { topic, type: messageType } = message;
  const event: EventDraft = { type: "webhook.unrecognised", payload: { topic, messageType, receiptId } };
  return { outcome: "unrecognised", reason: `type ${messageType}, topic ${topic}`, events: [event] };
}

/** Decides one payment report, and updates the locked payment when the report is applied. */
export function decideReport(
  payments: LockedPayments,
  report: PaymentReport,
  circumstances: Circumstances,
): MessageOutcome {
  const { known, now, arrival, policy } = circumstances;
  const { verified } = report;
  const payment = payments.find(verified.clientId);
  const decision = reconcile(
    {
      payment,
      siblings: payment ? payments.siblingsOf(payment) : [],
      serviceIdIsTaken: payments.isBoundElsewhere(report),
      known,
      ours: verified.clientId.startsWith(policy.clientIdPrefix ?? ""),
      // The answer to a lookup needs no lookup.
      sufficient: !policy.confirms || arrival.kind === "lookup" || arrival.covers === "body",
      now,
    },
    report,
  );
  // The decision's payment is a copy already, and another one takes time.
  if (decision.outcome === "applied") payments.update(noteReport(decision.payment, report, arrival));
  // The lookup that the webhook waits for is due now.
  if (decision.outcome === "unconfirmed")
    payments.update(noteReport({ ...payment!, nextLookupAt: now }, report, arrival));
  if (decision.outcome === "mismatch" && isNews(payment!, report, arrival))
    payments.update(noteReport({ ...payment! }, report, arrival));
  return outcomeOf(decision, payment, report, circumstances);
}

/** Returns whether a report that is not applied tells more than what the service said before. A replay reads old reports too. */
function isNews(
  { status, reported }: Payment,
  report: PaymentReport,
  { receivedAt }: Circumstances["arrival"],
): boolean {
  return isFarther(report.verified.status, status) && (reported === undefined || reported.at < receivedAt);
}

function outcomeOf(
  decision: Decision,
  payment: Payment | undefined,
  report: PaymentReport,
  { arrival, policy }: Circumstances,
): MessageOutcome {
  const { receiptId } = arrival;
  const fields = eventFieldsOf(report, arrival);
  switch (decision.outcome) {
    case "duplicate":
      return decision;
    case "stale": {
      // A late known status needs no event; a status that the kit does not know may need a person.
      const events: EventDraft[] = isKnownStatus(report.verified.status)
        ? []
        : [{ type: "payment.reported", payload: { payment: withoutKey(payment!), ...fields } }];
      return { outcome: "stale", reason: `${report.verified.status} after ${payment?.status}`, events };
    }
    case "unmatched":
      return { outcome: "unmatched", reason: "no payment with this clientId", events: [] };
    case "foreign": {
      const reason = `a clientId without the prefix ${policy.clientIdPrefix}`;
      return { outcome: "foreign", reason, events: [] };
    }
    case "unconfirmed": {
      const reason = "only fields of it are signed, and no lookup has confirmed it";
      return { outcome: "unconfirmed", reason, events: [] };
    }
    case "mismatch": {
      const { differences } = decision;
      const reason = differences
        .map(({ field, expected, got }) => `${field}: expected ${expected}, got ${got}`)
        .join("; ");
      const payload = { payment: withoutKey(payment!), differences, receiptId, ...fields };
      return { outcome: "mismatch", reason, events: [{ type: "payment.mismatched", payload }] };
    }
    case "applied":
      return { outcome: "applied", events: eventsOfApplied(decision, fields) };
  }
}
