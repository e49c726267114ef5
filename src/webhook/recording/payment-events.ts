import { type Difference, type Reported } from "../../model/event-map.js";
import { type PaymentReport } from "../../model/payment-report.js";
import { type Payment } from "../../model/payment.js";
import { type EventRecord, type WebhookRecord } from "../../store/index.js";
import { type Decision, type PaymentFact } from "../reconciliation/reconcile.js";

/** The carrier of a report: the webhook, the answer to a lookup, or a person's evidence. */
export interface Carrier extends Pick<WebhookRecord, "receiptId" | "receivedAt" | "covers"> {
  kind?: Reported["reportedBy"];
}

/** An event without its id, time and clientId, which `stampEvent` adds. */
export type EventDraft = Pick<EventRecord, "type" | "payload">;

/** Returns the event with an id, the time of recording, and the clientId if there is one. */
export function stampEvent(
  { type, payload }: EventDraft,
  stamp: { newId: () => string; recordedAt: string; clientId?: string | undefined },
): EventRecord {
  const { newId, recordedAt, clientId } = stamp;
  const event: EventRecord = { id: newId(), type, recordedAt, payload };
  if (clientId !== undefined) event.clientId = clientId;
  return event;
}

/** Returns the events of a payment that a report has changed. */
export function eventsOfApplied(
  { payment, facts }: Pick<Extract<Decision, { outcome: "applied" }>, "payment" | "facts">,
  fields: EventFields,
): EventDraft[] {
  // These fields mostly repeat the report, and without them SQLite writes fewer pages.
  const { reported: _, service: __, firstWebhookAt: ___, ...shown } = withoutKey(payment);
  const { verified, untrusted, reportedBy } = fields;
  return facts.map((fact): EventDraft => {
    // The object is written field by field, because spreading one object after another is slow.
    const payload = { payment: shown, verified, untrusted, reportedBy };
    return {
      type: fact.type,
      payload: fact.type === "payment.completed" ? payload : { ...payload, ...detailsOf(fact) },
    };
  });
}

function detailsOf({ type: _, ...details }: PaymentFact) {
  return "first" in details ? { ...details, first: withoutKey(details.first) } : details;
}

/** Returns the event `payment.reported`, for a status that the kit does not know. */
export function reportedEvent(payment: Payment, report: PaymentReport, carrier: Carrier): EventDraft {
  const payload = { payment: withoutKey(payment), ...eventFieldsOf(report, carrier) };
  return { type: "payment.reported", payload };
}

/** Returns the event `payment.mismatched`, for a report that differs from the payment. */
export function mismatchedEvent(
  payment: Payment,
  differences: readonly Difference[],
  report: PaymentReport,
  carrier: Carrier,
): EventDraft {
  const { receiptId } = carrier;
  const fields = eventFieldsOf(report, carrier);
  return {
    type: "payment.mismatched",
    payload: { payment: withoutKey(payment), differences, receiptId, ...fields },
  };
}

/** Returns the event `payment.unmatched`, for a webhook whose payment has not been stored. */
export function unmatchedEvent(report: PaymentReport, carrier: Carrier): EventDraft {
  const { receiptId, receivedAt } = carrier;
  const { clientId } = report.verified;
  const payload = { clientId, receiptId, receivedAt, ...eventFieldsOf(report, carrier) };
  return { type: "payment.unmatched", payload };
}

/** Returns the event `payment.unconfirmed`, for a completion that no lookup confirmed. */
export function unconfirmedEvent(payment: Payment, report: PaymentReport, carrier: Carrier): EventDraft {
  const { receiptId, receivedAt } = carrier;
  const payload = {
    payment: withoutKey(payment),
    receiptId,
    receivedAt,
    ...eventFieldsOf(report, carrier),
  };
  return { type: "payment.unconfirmed", payload };
}

/** The fields of a report that events contain. */
export interface EventFields extends Pick<Reported, "reportedBy" | "untrusted"> {
  verified: Partial<Reported["verified"]>;
}

/** Returns the fields of a report that events contain, and the source of the report. */
export function eventFieldsOf(
  { verified, untrusted }: PaymentReport,
  { kind = "webhook" }: Pick<Carrier, "kind">,
): EventFields {
  return { verified, untrusted, reportedBy: kind };
}

/** Returns the payment without the hash of its return token, which no handler needs. */
export function withoutKey({ returnKeyHash: _, ...payment }: Payment): Payment {
  return payment;
}
