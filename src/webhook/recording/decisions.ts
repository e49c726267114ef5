import { type Message, type PaymentReport } from "../../model/payment-report.js";
import { type LastReport, lastReportFields, type Payment } from "../../model/payment.js";
import { isFarther, isKnownStatus } from "../../model/status-order.js";
import { type EventRecord, type Rematched, type WebhookRecord } from "../../store/index.js";
import { fieldRules } from "../message/field-rules.js";
import { reconcile } from "../reconciliation/reconcile.js";
import {
  eventFieldsOf,
  eventsOfApplied,
  mismatchedEvent,
  reportedEvent,
  stampEvent,
  type Carrier,
  type EventDraft,
} from "./payment-events.js";
import { type Policy } from "./recording-parts.js";

/** The outcome of one message, with the events that report it. */
export type Decided =
  { outcome: "duplicate" } | { outcome: WebhookRecord["outcome"]; reason?: string; events: EventDraft[] };

/** The input of decisions, except the payments. */
export interface DecisionParts {
  /** The time of the decisions: ISO 8601 UTC. */
  now: string;
  newId: () => string;
  policy: Policy;
}

/**
 * Decides messages one after another in one transaction, and collects the changes. Each decision uses the
 * payments with the changes of all earlier decisions. Does no I/O.
 */
export class Decisions {
  readonly payments: LockedPayments;
  /** The new outcomes of stored webhooks. */
  readonly rematched: Rematched[] = [];
  readonly events: EventRecord[] = [];
  readonly #parts: DecisionParts;

  constructor(payments: readonly Payment[], parts: DecisionParts) {
    this.payments = new LockedPayments(payments);
    this.#parts = parts;
  }

  /**
   * Decides one message, and updates the locked payment. Does not save the outcome and the events. The caller
   * must pass them to `rematch`, or the events to `raise`.
   *
   * @param isKnown - Whether a webhook with the same eventKey is recorded.
   */
  decide(message: Message, carrier: Carrier, isKnown = false): Decided {
    if (message.kind === "payment") return this.#decideReport(message, carrier, isKnown);
    if (isKnown) return { outcome: "duplicate" };
    const { receiptId } = carrier;
    if (message.kind === "inadmissible") {
      const { reason } = message;
      const event: EventDraft = { type: "webhook.inadmissible", payload: { reason, receiptId } };
      return { outcome: "inadmissible", reason, events: [event] };
    }
    const { topic, type: messageType } = message;
    const event: EventDraft = { type: "webhook.unrecognised", payload: { topic, messageType, receiptId } };
    return { outcome: "unrecognised", reason: `type ${messageType}, topic ${topic}`, events: [event] };
  }

  /** Adds the events of a decision to the saved events. */
  raise(events: readonly EventDraft[], clientId: string | undefined): void {
    const { newId, now: recordedAt } = this.#parts;
    for (const draft of events) this.events.push(stampEvent(draft, { newId, recordedAt, clientId }));
  }

  /** Adds the new outcome of a stored webhook, and its events, to the saved changes. */
  rematch(receiptId: string, decided: Exclude<Decided, { outcome: "duplicate" }>, clientId?: string): void {
    const { outcome, reason, events } = decided;
    const because = reason === undefined ? {} : { reason };
    this.rematched.push({ receiptId, outcome, ...because, decidedAt: this.#parts.now });
    this.raise(events, clientId);
  }

  #decideReport(report: PaymentReport, carrier: Carrier, known: boolean): Decided {
    const { payments } = this;
    const { now, policy } = this.#parts;
    const { clientId, status } = report.verified;
    const payment = payments.find(clientId);
    const decision = reconcile(
      {
        payment,
        siblings: payment ? payments.siblingsOf(payment) : [],
        serviceIdIsTaken: payments.isBoundElsewhere(report),
        known,
        ours: clientId.startsWith(policy.clientIdPrefix ?? ""),
        // The answer to a lookup needs no lookup.
        sufficient: !policy.confirms || carrier.kind === "lookup" || carrier.covers === "body",
        now,
      },
      report,
    );
    switch (decision.outcome) {
      case "duplicate":
        return decision;
      case "applied":
        // The decision has already copied the payment, so it can be changed in place.
        payments.update(noteReport(decision.payment, report, carrier));
        return { outcome: "applied", events: eventsOfApplied(decision, eventFieldsOf(report, carrier)) };
      case "stale":
        return {
          outcome: "stale",
          reason: `${status} after ${payment?.status}`,
          // A known status that comes late needs no event. A status that the kit does not know may need a
          // person.
          events: isKnownStatus(status) ? [] : [reportedEvent(payment!, report, carrier)],
        };
      case "mismatch":
        if (isNews(payment!, report, carrier)) payments.update(noteReport({ ...payment! }, report, carrier));
        return {
          outcome: "mismatch",
          reason: decision.differences
            .map(({ field, expected, got }) => `${field}: expected ${expected}, got ${got}`)
            .join("; "),
          events: [mismatchedEvent(payment!, decision.differences, report, carrier)],
        };
      case "unconfirmed":
        // The lookup that the webhook waits for is due now.
        payments.update(noteReport({ ...payment!, nextLookupAt: now }, report, carrier));
        return { outcome: "unconfirmed", reason: unconfirmedReason, events: [] };
      case "foreign":
        return {
          outcome: "foreign",
          reason: `a clientId without the prefix ${policy.clientIdPrefix}`,
          events: [],
        };
      case "unmatched":
        return { outcome: "unmatched", reason: "no payment with this clientId", events: [] };
    }
  }
}

const unconfirmedReason = "only fields of it are signed, and no lookup has confirmed it";

/** The payments that one transaction has locked, with the changes of all decisions so far. */
class LockedPayments {
  readonly #payments = new Map<string, Payment>();
  readonly #ofReference = new Map<string, Payment[]>();
  /** The clientId of the payment to which a service id belongs, by service id. */
  readonly #byServiceId = new Map<string, string>();
  readonly #changed = new Map<string, Payment>();

  constructor(payments: readonly Payment[]) {
    for (const payment of payments) {
      const { clientId, reference } = payment;
      this.#payments.set(clientId, payment);
      const siblings = this.#ofReference.get(reference);
      if (siblings) siblings.push(payment);
      else this.#ofReference.set(reference, [payment]);
      this.#bind(payment);
    }
  }

  /** Returns the payment, or `undefined` if no locked payment has this clientId. */
  find(clientId: string): Payment | undefined {
    return this.#payments.get(clientId);
  }

  /** Returns all payments of the same reference, including this one. `update` changes the list in place. */
  siblingsOf({ reference }: Payment): readonly Payment[] {
    return this.#ofReference.get(reference)!;
  }

  /** Returns whether the report's service id belongs to another payment. */
  isBoundElsewhere({ verified: { clientId, id } }: PaymentReport): boolean {
    return (this.#byServiceId.get(id) ?? clientId) !== clientId;
  }

  /**
   * Replaces the payment. The reference of a payment never changes, and its service id is set once at most.
   */
  update(payment: Payment): void {
    const { clientId, reference } = payment;
    const before = this.#payments.get(clientId)!;
    const siblings = this.#ofReference.get(reference)!;
    siblings[siblings.indexOf(before)] = payment;
    this.#payments.set(clientId, payment);
    this.#changed.set(clientId, payment);
    if (before.serviceId === undefined) this.#bind(payment);
  }

  /** Returns the payments that were updated, each once. */
  changed(): Payment[] {
    return [...this.#changed.values()];
  }

  #bind({ clientId, serviceId }: Payment): void {
    if (serviceId !== undefined) this.#byServiceId.set(serviceId, clientId);
  }
}

/** Returns whether a report has a later status than the payment, and is newer than the stored report. */
function isNews(
  { status, reported }: Payment,
  { verified }: PaymentReport,
  { receivedAt }: Carrier,
): boolean {
  return isFarther(verified.status, status) && (reported === undefined || reported.at < receivedAt);
}

/** Stores the report in `payment.reported`, and its times in the payment. Returns the payment. */
export function noteReport(
  payment: Payment,
  report: PaymentReport,
  { receivedAt, kind }: Pick<Carrier, "receivedAt" | "kind">,
): Payment {
  // A person's evidence does not come from the service. The kit stores it with the resolution.
  if (kind === "person") return payment;
  const { verified, untrusted } = report;
  const said: Record<string, unknown> = {};
  const proven: LastReport["verified"][number][] = [];
  for (const field of lastReportFields) {
    const isProven = verified[field] !== undefined;
    const given = isProven ? verified[field] : untrusted[field];
    // A field that is not verified may have any value, so it is stored only if it has the interface's form.
    const value = isProven || given === undefined ? given : fieldRules[field].schema.safeParse(given).data;
    if (value === undefined || value === "") continue;
    said[field] = value;
    // The kit itself asked the service in a lookup, so the whole answer comes from the service.
    if (isProven || kind === "lookup") proven.push(field);
  }
  payment.reported = { ...said, status: verified.status, at: receivedAt, verified: proven };
  if (kind !== "lookup") payment.firstWebhookAt ??= receivedAt;
  // The timestamp of a lookup's answer is the kit's own time, and not the service's.
  const reportedAt = kind === "lookup" ? undefined : verified.timestamp;
  const { createdAt } = report;
  if (createdAt !== undefined || reportedAt !== undefined)
    payment.service = {
      ...payment.service,
      ...(createdAt !== undefined && { createdAt }),
      ...(reportedAt !== undefined && { reportedAt }),
    };
  return payment;
}
