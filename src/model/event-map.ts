import { type AttentionEntry, type ClosedEntry } from "./attention.js";
import { type CompletedPayment, type Evidence, type Money, type Payment, type Refund } from "./payment.js";
import { type SignedField } from "./signed-fields.js";
import { type Untrusted, type Verified } from "./payment-report.js";

/** One field in which a webhook differs from the stored payment, or contradicts itself. */
export interface Difference {
  /** The field of the webhook. */
  field: "id" | "total.value" | "total.currency" | "topic" | "captured" | "providerId" | "submittedAt";
  /** The value that the stored payment or the other fields require. */
  expected: string;
  /** The value in the webhook. */
  got: string;
}

/** The newest attempt of a reference, and the amount that it asks for. */
export interface LastAsked {
  /** The clientId of the newest attempt. */
  clientId: string;
  /** The amount that the newest attempt asks for. */
  total: Money;
}

/** A report about a payment. */
export interface Reported<Covers extends SignedField = SignedField> {
  /** The fields that the signature covers: the service sent these values. */
  verified: Verified<Covers>;
  /** The fields that the signature does not cover. Use them as hints at most. */
  untrusted: Untrusted<Covers>;
  /**
   * The source of the report: a webhook, the service's answer to a lookup, or a person's evidence. With
   * `person`, `verified` contains the values of the evidence.
   */
  reportedBy: "webhook" | "lookup" | "person";
}

/**
 * The durable events by name, with their payloads. The kit stores each event in the transaction of the change
 * that the event reports. The kit calls the event's handlers until each dispatch is done, dead or retired.
 */
export interface EventMap<Covers extends SignedField = SignedField> {
  /** The payment is paid: fulfil the order. Raised at most once for one reference. */
  "payment.completed": Reported<Covers> & { payment: CompletedPayment };
  /** The service reported a status other than `completed`, and the kit applied the status. */
  "payment.updated": Reported<Covers> & { payment: Payment; previousStatus?: string };
  /**
   * The service reported a status that the kit does not know, and the payment already has a later status. The
   * status may mean a refund of a completed payment. The report was stored, but not applied.
   */
  "payment.reported": Reported<Covers> & { payment: Payment };
  /**
   * A signed webhook differs from the stored payment, or contradicts itself, and was not applied. Compare the
   * webhook with the payment, and settle the webhook with `payments.resolve({ receiptId, … })`.
   */
  "payment.mismatched": Reported<Covers> & {
    payment: Payment;
    differences: readonly Difference[];
    receiptId: string;
  };
  /**
   * A signed webhook has a clientId that the store still does not have after `unmatchedAfterMs`. The webhook
   * stays parked. If the payment is yours, store it with `payments.adopt`. If not, dismiss the webhook with
   * `payments.resolve`.
   */
  "payment.unmatched": Reported<Covers> & { clientId: string; receiptId: string; receivedAt: string };
  /**
   * With `confirm: "lookup"`: a webhook with a signature over fields reports a completion, and no lookup has
   * confirmed it within `unmatchedAfterMs`. Nothing was applied, and lookups continue.
   */
  "payment.unconfirmed": Reported<Covers> & { payment: Payment; receiptId: string; receivedAt: string };
  /** Raised instead of `payment.completed` for a second payment of a reference. Refund this payment. */
  "payment.paid_twice": Reported<Covers> & {
    payment: CompletedPayment;
    firstClientId: string;
    /** The payment that was completed first, in its state at that time. */
    first: Payment;
  };
  /**
   * An attempt was completed after an attempt with another amount or currency had replaced it. Raised instead
   * of `payment.completed`, so the order is not fulfilled. Accept or refund the payment with
   * `payments.resolve`.
   */
  "payment.paid_other_amount": Reported<Covers> & {
    /** The completed payment. Its `total` was paid, or its `received` if it is present. */
    payment: CompletedPayment;
    lastAsked: LastAsked;
  };
  /**
   * The payment was completed after the attempt was canceled, failed, replaced (by `payment.replacedBy`) or
   * given up (uncertain or overdue). Raised in addition to `payment.completed` or `payment.paid_twice`.
   */
  "payment.paid_late": Reported<Covers> & {
    payment: CompletedPayment;
    because: "canceled" | "failed" | "replaced" | "given_up";
  };
  /** The payment has been open for longer than `overdueMs`, and nothing has completed it. */
  "payment.overdue": { payment: Payment };
  /** Money of a completed payment went back. Raised once for each refund, with `payment.resolved`. */
  "payment.refunded": {
    payment: CompletedPayment;
    /** The amount that went back, and the amount that is left. */
    refund: Refund;
    /** The reason, as the person wrote it. */
    reason: string;
    /** The person who recorded the refund. */
    by: string;
    /** The evidence of the refund. */
    evidence?: Evidence;
  };
  /** A person settled a payment or a webhook, with `resolve` or `attend`. Other events report the changes. */
  "payment.resolved": {
    clientId: string;
    action: "accepted" | "refunded" | "dismissed";
    reason: string;
    by: string;
    /** The webhook that was settled, if there was one. */
    receiptId?: string;
    /** The evidence that the payment is paid, or that money went back. */
    evidence?: Evidence;
    /** With `refunded`: the amount that went back, and the amount that is left. */
    refund?: Refund;
    /** The payment in its state at that time, if the store had it. */
    payment?: Payment;
  };
  /** The webhook is correctly signed, but not about a payment. */
  "webhook.unrecognised": { topic: string; messageType: string; receiptId: string };
  /** The webhook is correctly signed, but not a message of the interface. The webhook is stored unchanged. */
  "webhook.inadmissible": { reason: string; receiptId: string };
  /** An entry is open: see `payments.attention`. Raised once, if an `attention` event has a handler. */
  "attention.opened": { entry: AttentionEntry; payment?: Payment };
  /** An announced entry is closed. Raised once. */
  "attention.closed": {
    entry: ClosedEntry;
    /** `settled`: a person has settled the entry with `payments.attend`. `gone`: its cause has ended. */
    how: "settled" | "gone";
    /** The person who settled the entry. */
    by?: string;
    /** The reason, as the person wrote it. */
    reason?: string;
    /** The time from `since` until a sweep noticed that the entry is closed. */
    afterMs: number;
    /** The payment as it is now, if the entry is about one. */
    payment?: Payment;
  };
  /** An entry is still open `attentionReminderMs` after `attention.opened`, or when a later snooze ends. */
  "attention.reminder": { entry: AttentionEntry; payment?: Payment };
}

/** The names of all durable events. */
export const eventTypes = [
  "payment.completed",
  "payment.updated",
  "payment.reported",
  "payment.mismatched",
  "payment.unmatched",
  "payment.unconfirmed",
  "payment.paid_twice",
  "payment.paid_other_amount",
  "payment.paid_late",
  "payment.overdue",
  "payment.refunded",
  "payment.resolved",
  "webhook.unrecognised",
  "webhook.inadmissible",
  "attention.opened",
  "attention.closed",
  "attention.reminder",
] as const satisfies readonly (keyof EventMap)[];

/** The name of a durable event. */
export type EventType = (typeof eventTypes)[number];

/** A durable event as a handler gets it. */
export type TillkitEvent<Type extends EventType = EventType, Covers extends SignedField = SignedField> = {
  [T in Type]: Readonly<
    {
      /** Unique id of the event, identical in every run of every handler. */
      id: string;
      type: T;
      /** The time at which the event was recorded: ISO 8601 UTC. */
      recordedAt: string;
    } & EventMap<Covers>[T]
  >;
}[Type];
