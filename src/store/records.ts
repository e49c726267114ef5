import { type PaymentNeed, type WebhookNeed } from "../model/attention.js";
import { type EventType } from "../model/event-map.js";
import { type Evidence, type Payment, type Refund } from "../model/payment.js";
import { type SignedField } from "../model/signed-fields.js";
import { type HandlerKey, type NoteRecord } from "./handler-records.js";

export type * from "./handler-records.js";

/**
 * The result of a verified webhook. `unmatched` and `foreign` change when the webhook's payment is stored.
 * `unconfirmed` waits for the lookup that the option `confirm` requires. A replay can change every outcome
 * except `applied`.
 */
export type Outcome =
  | "applied"
  | "duplicate"
  | "stale"
  | "mismatch"
  | "unmatched"
  | "unconfirmed"
  | "foreign"
  | "unrecognised"
  | "inadmissible";

/** A verified webhook as it is stored. A `duplicate` is counted as a copy of the stored webhook. */
export interface WebhookRecord {
  /** The id that the kit gives at arrival. A second record with this id changes nothing. */
  receiptId: string;
  /** The key of the event. Only one webhook with this key is stored. At most 80 ASCII characters. */
  eventKey: string;
  /** The result of the webhook. */
  outcome: Exclude<Outcome, "duplicate">;
  /** The reason for the outcome, for people: `total.value: expected 1475, got 14750`. */
  reason?: string;
  /** The payment that the message names, if it names one. */
  clientId?: string;
  /** The status that the message reports, if the message names a payment. */
  status?: string;
  /** The exact bytes that arrived. */
  rawBody: Buffer;
  /** The fields that the signature covered when the kit verified it. A later configuration does not apply. */
  covers: "body" | readonly SignedField[];
  /** The time of arrival: ISO 8601 UTC. */
  receivedAt: string;
  /**
   * The number of copies that arrived later. `webhooks` returns it if there are any, and `history` always.
   */
  copies?: number;
  /** `lookup`: the record is the service's answer to a lookup of the kit. Absent for a webhook. */
  kind?: "lookup";
  /** The time when `outcome` was decided, if that was later than the arrival: ISO 8601 UTC. */
  decidedAt?: string;
}

/** A person's decision or action about a payment or a webhook. */
export interface ResolutionRecord {
  /** An id that the kit makes from the resolved case, so that a case cannot be resolved twice. */
  id: string;
  /** The clientId of the payment, or the clientId that the webhook names. */
  clientId: string;
  /** The person's decision or action. */
  action: "accepted" | "refunded" | "dismissed" | "adopted" | "replayed";
  /** The receiptId of the resolved webhook, if a webhook was resolved. */
  receiptId?: string;
  /** With `accepted` and `refunded`: the evidence that the person gave, if any. */
  evidence?: Evidence;
  /**
   * With `refunded`: the refunded amount. Earlier versions stored no amount, because they refunded only the
   * whole amount.
   */
  refund?: Refund;
  /** The payment's state or the webhook's outcome before, at most 64 characters. Absent if there was none. */
  before?: string;
  /** The state or outcome after the resolution. Absent if an earlier version stored the record. */
  after?: string;
  /** The reason as the person wrote it. */
  reason: string;
  /** The name of the person. */
  by: string;
  /** The time of the resolution: ISO 8601 UTC. */
  at: string;
}

/** A durable event as it is stored. */
export interface EventRecord {
  /** The unique id, which the kit makes. */
  id: string;
  /** The name of the event, such as `payment.completed`. */
  type: EventType;
  /** The clientId of the payment that the event is about, if there is one. */
  clientId?: string;
  /** The time when the event was recorded: ISO 8601 UTC. */
  recordedAt: string;
  /** The content that handlers get, as plain JSON. */
  payload: Readonly<Record<string, unknown>>;
}

/** The keys of the payments and webhooks to read and lock before a decision. */
export interface LockKeys {
  /** The clientIds of payments. */
  clientIds?: readonly string[];
  /** References. All payments of these references are read and locked. */
  references?: readonly string[];
  /** The service ids of payments. */
  serviceIds?: readonly string[];
  /** The eventKeys of webhooks, which are not locked. `lock` returns the eventKeys that are stored. */
  eventKeys?: readonly string[];
  /** Whether the caller only reads. `lock` may then lock nothing, and return no eventKeys. */
  readOnly?: boolean;
}

/** The payments and eventKeys that `lock` found. */
export interface Locked {
  /** The payments with any of the keys, and all other payments of their references. Each appears once. */
  payments: Payment[];
  /** The stored ones among the given eventKeys. */
  eventKeys: string[];
}

/** The writes of one transaction. Every list may be empty or absent. */
export interface Changes {
  /** New payments. */
  created?: readonly Payment[];
  /**
   * Payments that `lock` returned in this transaction, in their new form and with every field. The
   * `clientId`, `reference` and `createdAt` of a payment never change, so a store does not have to write them
   * again.
   */
  updated?: readonly Payment[];
  /** New webhooks. */
  webhooks?: readonly WebhookRecord[];
  /** The numbers of further copies of stored webhooks. */
  copies?: readonly { eventKey: string; count: number }[];
  /** The new outcomes of webhooks that were decided again, for example because their payment appeared. */
  rematched?: readonly Rematched[];
  /**
   * The receiptIds of waiting webhooks for which the kit now raises an event. After this, `stray` no longer
   * returns these webhooks. Unknown ids are ignored.
   */
  raised?: readonly string[];
  /** The receiptIds of waiting webhooks that were dismissed. `stray` and `counts` no longer include them. */
  dismissed?: readonly string[];
  /** New resolutions. If an `id` is taken, `save` rejects with `store_conflict`. */
  resolutions?: readonly ResolutionRecord[];
  /**
   * Notes, each with its present version (0 if there is no such note) and its new value. `null` deletes the
   * note. If the version is another one, `save` rejects with `store_conflict`.
   */
  notes?: readonly (Omit<NoteRecord, "value"> & { value: NoteRecord["value"] | null })[];
  /** New events. */
  events?: readonly EventRecord[];
}

/** The new outcome of a webhook that was decided again. */
export interface Rematched {
  /** The receiptId of the webhook. */
  receiptId: string;
  /** The new outcome of the webhook. */
  outcome: WebhookRecord["outcome"];
  /** The reason for the new outcome, for people. Absent: the webhook no longer has a reason. */
  reason?: string;
  /** The time of the new decision: ISO 8601 UTC. */
  decidedAt?: string;
}

/** The rows that `save` did not store. */
export interface Saved {
  /** The clientIds of `created` payments whose clientId or open reference is taken. */
  takenClientIds: string[];
  /** The eventKeys of `webhooks` whose eventKey or receiptId is taken. */
  takenEventKeys: string[];
}

/** The options of `claim`: which dispatches to claim, and for how long. */
export interface ClaimOptions {
  /** The handlers whose dispatches may be claimed. */
  handlers: readonly HandlerKey[];
  /** The maximum number of claims. */
  limit: number;
  /** The duration of the leases, by the database's clock. */
  leaseMs: number;
}

/** A dispatch that this process may run now. */
export interface Claim {
  /** The event that the handler gets. */
  event: EventRecord;
  /** The name of the handler. */
  handler: string;
  /** A number that grows with each claim of this dispatch. `settle` and `renew` refuse an older number. */
  fence: number;
  /** The number of claims since the last revival, this claim included. Released claims do not count. */
  attempt: number;
  /** The number of runs that were settled as failed. */
  failures: number;
}

/** The key of one claimed run of a dispatch. */
export interface RunKey {
  /** The id of the dispatch's event. */
  eventId: string;
  /** The name of the handler. */
  handler: string;
  /** The fence of the claim. */
  fence: number;
}

/** The end of a run. */
export interface Settlement extends RunKey {
  /**
   * The result of the run:
   * - `done`: the dispatch is never claimed again
   * - `failed`: the dispatch is claimed again after `retryInMs`, with one failure more
   * - `released`: the dispatch is claimed again after `retryInMs`, and this attempt is not counted
   * - `dead`: the dispatch is claimed again only after it was revived
   */
  state: "done" | "failed" | "released" | "dead";
  /**
   * Whether only the commit follows in this transaction. A store may then send the settlement with the
   * commit. In that case `settle` resolves to `true`. If the lease was lost, the store rolls back and rejects
   * the transaction with `lease_lost`. A store may ignore this field.
   */
  isLast?: true;
  /** With `failed` and `released`: the wait before the next claim, by the database's clock. @default 0 */
  retryInMs?: number;
  /** With `failed` and `dead`: the error message for people, at most 2,000 characters. */
  error?: string;
}

/** The numbers of records that wait for a handler, a payment or a person. */
export interface StoreCounts {
  /** The number of dead dispatches. A store of `storeOver` counts at most 10,000. */
  dead: number;
  /**
   * The number of webhooks that wait for their payment or for a lookup. A store of `storeOver` counts at most
   * 10,000.
   */
  parked: number;
  /** The numbers of payments and webhooks that a person has to see for each reason, at most 10,000 each. */
  needs?: { readonly [Need in PaymentNeed | WebhookNeed]?: number };
  /** The `recordedAt` of the oldest event with an open or future dispatch of a registered handler. */
  oldestUndoneAt?: string;
  /**
   * The handlers whose oldest open dispatch is due now, with the type of its event and the time since which
   * it is due. If a process has the handler, the handler stays in this list only for a moment. A store may
   * leave this list out.
   */
  waiting?: readonly { handler: string; event?: EventType; since: string }[];
  /** The time of the clock that leases use: ISO 8601 UTC. May be absent if it is this machine's clock. */
  clock?: string;
}

/** The present state of one handler's dispatch of one event. */
export interface DispatchRecord {
  /** The id of the event. */
  eventId: string;
  /** The name of the event. */
  type: EventType;
  /** The clientId of the payment that the event is about, if there is one. */
  clientId?: string;
  /** The name of the handler. */
  handler: string;
  /** `pending` and `leased` are open; `done`, `dead` and `retired` are ended. */
  state: "pending" | "leased" | "done" | "dead" | "retired";
  /** The number of claims since the last revival. Released claims do not count. */
  attempt: number;
  /** The number of runs that were settled as failed. The last run of a dead dispatch is not counted here. */
  failures: number;
  /** The message of the last failure, for people. */
  error?: string;
  /** The time when a run was last settled or the dispatch retired, by the database's clock: ISO 8601 UTC. */
  settledAt?: string;
  /** The time when a pending dispatch may run, by the database's clock: ISO 8601 UTC. Absent: immediately. */
  dueAt?: string;
  /** The states before the revivals, oldest first, at most the last 20. Absent if there was no revival. */
  past?: readonly PastEnd[];
  /** The id under which the dispatch was last revived. */
  run?: string;
}

/** The state of a dead dispatch before it was revived. */
export type PastEnd = Pick<DispatchRecord, "attempt" | "failures" | "error" | "settledAt">;

/** The stored records of one clientId. */
export interface StoredHistory {
  /** The webhooks without their bytes. `copies` is the number of later copies. */
  webhooks: (Omit<WebhookRecord, "rawBody"> & { copies: number })[];
  /** The events about the payment, oldest first. */
  events: EventRecord[];
  /** The dispatches of these events. */
  dispatches: DispatchRecord[];
  /** The decisions of people about the payment, or about webhooks that name it. */
  resolutions: ResolutionRecord[];
}
