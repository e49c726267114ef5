import { type PaymentReport } from "../../model/payment-report.js";
import { type Payment } from "../../model/payment.js";
import { type Decision, type PaymentFact } from "../reconciliation/reconcile.js";
import { type EventRecord, type WebhookRecord } from "../../store/index.js";

/** An event without what recording adds. */
export type EventDraft = Pick<EventRecord, "type" | "payload">;

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

export function detailsOf({ type: _, ...details }: PaymentFact) {
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

export type ReportedPayload = ReturnType<typeof reportedBy>;

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
