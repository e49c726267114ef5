import { type AttentionEntry, type ClosedEntry } from "./attention.js";
import { type CompletedPayment, type Evidence, type Money, type Payment, type Refund } from "./payment.js";
import { type SignedField } from "./signed-fields.js";
import { type Untrusted, type Verified } from "./payment-report.js";

/** One field in which the message differs from the stored payment, or contradicts itself. */
export interface Difference {
  /** The field of the webhook. */
  field: "id" | "total.value" | "total.currency" | "topic" | "captured" | "providerId" | "submittedAt";
  /** The value that the stored payment or the other fields require. */
  expected: string;
  /** The value of the message. */
  got: string;
}

/** The newest attempt of a reference, and the amount that it asks for. */
export interface LastAsked {
  /** The newest attempt. */
  clientId: string;
  /** The amount that the newest attempt asks for. */
  total: Money;
}

/** A report of the service about a payment. */
export interface Reported<Covers extends SignedField = SignedField> {
  /** The fields that the signature covers: the service sent these values. */
  verified: Verified<Covers>;
  /** The fields that the signature does not cover. Use them as hints at most. */
  untrusted: Untrusted<Covers>;
  /**
   * The source of the report: a webhook, the service's answer to a lookup of the kit, or a person's evidence. With `person`,
   * `verified` has what the evidence shows.
   */
  reportedBy: "webhook" | "lookup" | "person";
}

/**
 * The durable events by name, with their payloads. Each event is recorded in the transaction of the change that it
 * reports, survives restarts, and is dispatched until each of its handlers is done, dead or retired.
 */
export interface EventMap<Covers extends SignedField = SignedField> {
  /** The payment is paid: fulfil the order. Raised once per clientId, and never twice for one reference. */
  "payment.completed": Reported<Covers> & { payment: CompletedPayment };
  /** The service reported a status other than `completed`, and the kit applied it. */
  "payment.updated": Reported<Covers> & { payment: Payment; previousStatus?: string };
  /**
   * The service reported a status that the kit does not know, and the payment already has a later status: perhaps a refund
   * of a completed payment. Recorded, not applied.
   */
  "payment.reported": Reported<Covers> & { payment: Payment };
  /**
   * A signed webhook differs from the stored payment; nothing was applied. Compare the two, and settle the webhook with
   * `payments.resolve({ receiptId, … })`.
   */
  "payment.mismatched": Reported<Covers> & {
    payment: Payment;
    differences: readonly Difference[];
    receiptId: string;
  };
  /**
   * A signed webhook names a clientId that the store still does not know after `unmatchedAfterMs`. The webhook stays
   * parked: `payments.adopt` matches it, `payments.resolve` dismisses it.
   */
  "payment.unmatched": Reported<Covers> & { clientId: string; receiptId: string; receivedAt: string };
  /**
   * With `confirm: "lookup"`: a webhook with a signature over fields says that the payment is completed, and no lookup
   * has confirmed it within `unmatchedAfterMs`. Nothing was applied; lookups go on.
   */
  "payment.unconfirmed": Reported<Covers> & { payment: Payment; receiptId: string; receivedAt: string };
  /** A second payment of one reference is completed. Raised instead of `payment.completed`. Refund one of the two. */
  "payment.paid_twice": Reported<Covers> & {
    payment: CompletedPayment;
    firstClientId: string;
    /** The payment that was completed first, in its state at that time. */
    first: Payment;
  };
  /**
   * An attempt is completed that was replaced by one with another amount or currency. Raised instead of
   * `payment.completed`, so the order is not fulfilled. Accept or refund the payment with `payments.resolve`.
   */
  "payment.paid_other_amount": Reported<Covers> & {
    /** `total` is what was paid. */
    payment: CompletedPayment;
    lastAsked: LastAsked;
  };
  /**
   * Completed after the attempt was canceled, failed, replaced (by `payment.replacedBy`) or given up (uncertain or
   * reported as overdue). Raised in addition to the event of the completion.
   */
  "payment.paid_late": Reported<Covers> & {
    payment: CompletedPayment;
    because: "canceled" | "failed" | "replaced" | "given_up";
  };
  /** The payment is open for longer than `overdueMs`, and nothing has completed it. */
  "payment.overdue": { payment: Payment };
  /** Money of a completed payment went back, all of it or a part. Raised once for each refund, in addition to `payment.resolved`. */
  "payment.refunded": {
    payment: CompletedPayment;
    /** How much went back, and how much is left. */
    refund: Refund;
    /** Why, as the person wrote it. */
    reason: string;
    /** The person who recorded it. */
    by: string;
    /** What shows the refund. */
    evidence?: Evidence;
  };
  /** A person settled a payment or a webhook with `payments.resolve`. Other events report the changes. */
  "payment.resolved": {
    clientId: string;
    action: "accepted" | "refunded" | "dismissed";
    reason: string;
    by: string;
    /** The webhook that was settled, if it was one. */
    receiptId?: string;
    /** The evidence that the payment is paid, or that money went back. */
    evidence?: Evidence;
    /** With `refunded`: how much went back, and how much is left. */
    refund?: Refund;
    /** The payment in its state at that time, if the store had it. */
    payment?: Payment;
  };
  /** The webhook is correctly signed, but not about a payment. */
  "webhook.unrecognised": { topic: string; messageType: string; receiptId: string };
  /** The webhook is correctly signed, but not a message of the interface. It is kept as it arrived. */
  "webhook.inadmissible": { reason: string; receiptId: string };
  /** Something needs a person: see `payments.attention`. Raised by a sweep, once until it is closed, where a handler has its name. */
  "attention.opened": { entry: AttentionEntry; payment?: Payment };
  /** An entry that was announced is closed. Raised once. */
  "attention.closed": {
    entry: ClosedEntry;
    /** `settled`: a person has settled it with `payments.attend`. `gone`: its cause is gone in another way. */
    how: "settled" | "gone";
    /** Who settled it. */
    by?: string;
    /** Why, as the person wrote it. */
    reason?: string;
    /** The time from its `since` until a sweep saw that it is closed. */
    afterMs: number;
    /** The payment as it is now, if it is about one. */
    payment?: Payment;
  };
  /** An entry is open for longer than `attentionReminderMs`, or the time is over until which a person snoozed it. */
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
      /** When the event was recorded: ISO 8601 UTC. */
      recordedAt: string;
    } & EventMap<Covers>[T]
  >;
}[Type];
