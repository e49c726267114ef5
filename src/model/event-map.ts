import { type Payment } from "./payment.js";
import { type SignedField } from "./signed-fields.js";
import { type Untrusted, type Verified } from "./payment-report.js";

/** One field on which the message and the stored payment, or the message with itself, disagree. */
export interface Difference {
  field: "id" | "total.value" | "total.currency" | "topic" | "captured";
  expected: string;
  got: string;
}

/** What the webhook itself said. */
export interface Reported<Covers extends SignedField = SignedField> {
  /** Fields under the signature: the service said this. */
  verified: Verified<Covers>;
  /** Fields outside the signature: hints at most, whatever they say. */
  untrusted: Untrusted<Covers>;
  /** Who said it: a webhook, or the service's answer to a lookup of the kit's own. */
  reportedBy: "webhook" | "lookup";
}

/**
 * The one map of everything that tillkit tells application code: durable events. Each is recorded in the
 * same transaction as the change it tells of, survives restarts, and is dispatched until its handlers are
 * done or visibly dead.
 */
export interface EventMap<Covers extends SignedField = SignedField> {
  /** The payment is paid: fulfil the order. Once per clientId, and never twice for one reference. */
  "payment.completed": Reported<Covers> & { payment: Payment };
  /** The service reported a status other than `completed`, and it was applied. */
  "payment.updated": Reported<Covers> & { payment: Payment; previousStatus?: string };
  /**
   * The service reported a status that the kit does not know, for a payment that it cannot move any more (a refund of a
   * completed one, perhaps). Recorded, not applied.
   */
  "payment.reported": Reported<Covers> & { payment: Payment };
  /**
   * A signed webhook disagrees with the stored payment; nothing was applied. Look at it by hand, and settle it with
   * `payments.resolve({ receiptId, … })`.
   */
  "payment.mismatched": Reported<Covers> & {
    payment: Payment;
    differences: readonly Difference[];
    receiptId: string;
  };
  /**
   * A signed webhook names a clientId that this store does not know, and `unmatchedAfterMs` later it still does not. It
   * stays parked: `payments.adopt` matches it, `payments.resolve` dismisses it.
   */
  "payment.unmatched": Reported<Covers> & { clientId: string; receiptId: string; receivedAt: string };
  /**
   * With `confirm: "lookup"`: a webhook of which only some fields are signed says that the payment is completed, and
   * `unmatchedAfterMs` later no lookup has confirmed it. Nothing was applied; lookups go on.
   */
  "payment.unconfirmed": Reported<Covers> & { payment: Payment; receiptId: string; receivedAt: string };
  /** A second payment of one reference completed; raised instead of `payment.completed`. Refund one of the two. */
  "payment.paid_twice": Reported<Covers> & {
    payment: Payment;
    firstClientId: string;
    /** The payment that was completed first, as it stood then. */
    first: Payment;
  };
  /**
   * Completed after the attempt was canceled, failed, replaced (by `payment.replacedBy`) or given up (uncertain, or told of
   * as overdue); raised besides the event of the completion.
   */
  "payment.paid_late": Reported<Covers> & {
    payment: Payment;
    because: "canceled" | "failed" | "replaced" | "given_up";
  };
  /** Open for longer than `overdueMs` with no word from the service. */
  "payment.overdue": { payment: Payment };
  /** A person settled something with `payments.resolve`; what it changed is told of besides, by the other events. */
  "payment.resolved": {
    clientId: string;
    action: "accepted" | "refunded" | "dismissed";
    reason: string;
    by: string;
    /** Where it was about one webhook. */
    receiptId?: string;
    /** As it stood then, where the store had it. */
    payment?: Payment;
  };
  /** Correctly signed, but not about a payment. */
  "webhook.unrecognised": { topic: string; type: string; receiptId: string };
  /** Correctly signed, but not a message of the interface; kept as it arrived. */
  "webhook.inadmissible": { reason: string; receiptId: string };
}

/** The name of a durable event. */
export type EventType = keyof EventMap;

/** Every durable event's name. */
export const eventTypes = [
  "payment.completed",
  "payment.updated",
  "payment.reported",
  "payment.mismatched",
  "payment.unmatched",
  "payment.unconfirmed",
  "payment.paid_twice",
  "payment.paid_late",
  "payment.overdue",
  "payment.resolved",
  "webhook.unrecognised",
  "webhook.inadmissible",
] as const satisfies readonly EventType[];

/** A typed fact, handed to a handler. */
export type TillkitEvent<Type extends EventType = EventType, Covers extends SignedField = SignedField> = {
  [T in Type]: Readonly<
    {
      /** Unique; the same in every run of every handler. */
      id: string;
      type: T;
      /** When it was recorded: ISO 8601 UTC. */
      recordedAt: string;
    } & EventMap<Covers>[T]
  >;
}[Type];

/**
 * Notices: things this process noticed, told at once to listeners of this process and never recorded. For
 * alarms and counters; nothing about money may depend on one.
 */
export interface NoticeMap {
  /** A webhook was refused before anything was recorded. `bodyHash` is a prefix of the body's SHA-256. */
  "webhook.rejected": { code: string; status: number; bodyHash?: string };
  /** The store could not take a webhook, and the spool did; it is recorded when the store is back. */
  "webhook.spooled": { receiptId: string; error: unknown };
  /** A spooled webhook could not be recorded although the store was there: somebody must look at the file. */
  "webhook.set_aside": { reason: string; file: string };
  /** A run of a handler failed and will be tried again. */
  "dispatch.failed": { event: TillkitEvent; handler: string; failures: number; error: unknown };
  /** A dispatch used up its tries; it stays in the store, visible, until it is replayed. */
  "dispatch.dead": { event: TillkitEvent; handler: string; error: string };
  /** The service could not be asked about a payment, or its answer not be used; it is asked again later. */
  "lookup.failed": { clientId?: string; error: unknown };
  /** The store did not take a record or a claim; the kit goes on trying. */
  "store.unavailable": { during: "record" | "claim" | "start"; error: unknown };
}

/** The name of a notice. */
export type NoticeType = keyof NoticeMap;
