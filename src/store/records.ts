import { type PaymentNeed, type WebhookNeed } from "../model/attention.js";
import { type EventType } from "../model/event-map.js";
import { type Evidence, type Payment, type Refund } from "../model/payment.js";
import { type SignedField } from "../model/signed-fields.js";
import { type HandlerKey, type NoteRecord } from "./handler-records.js";

export type * from "./handler-records.js";

/**
 * The result of a verified webhook. Two outcomes wait and change later: `unmatched` waits for its payment,
 * `unconfirmed` waits for the lookup that `confirm` asks for. The others are final.
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

/** A verified webhook as it is stored. A `duplicate` is never stored; it is counted as a copy of the first one. */
export interface WebhookRecord {
  /** Made by the kit at arrival. A second record of the same arrival changes nothing. */
  receiptId: string;
  /** Equal for two webhooks about the same event, of which one is stored. At most 80 ASCII characters. */
  eventKey: string;
  /** What became of the webhook. */
  outcome: Exclude<Outcome, "duplicate">;
  /** Why, for people: `total.value: expected 1475, got 14750`. */
  reason?: string;
  /** Present where the message named a payment. */
  clientId?: string;
  /** The status that the message reports, where it names a payment. */
  status?: string;
  /** The exact bytes that arrived. */
  rawBody: Buffer;
  /** What the signature covered when it was verified. A later change of the configuration does not change it. */
  covers: "body" | readonly SignedField[];
  /** ISO 8601 UTC. */
  receivedAt: string;
  /** The number of copies that came after it. Only `webhooks` returns it, where there are any. */
  copies?: number;
  /** `lookup`: not a webhook, but the service's answer to a lookup of the kit. Absent for a webhook. */
  kind?: "lookup";
  /** When `outcome` was decided, if that was later than the arrival: ISO 8601 UTC. */
  decidedAt?: string;
}

/** What a person decided or did about a payment or a webhook. */
export interface ResolutionRecord {
  /** Made by the kit from what is resolved, so that resolving it twice makes one record; unique. */
  id: string;
  /** The payment, or the clientId that the webhook names. */
  clientId: string;
  /** What the person decided or did. */
  action: "accepted" | "refunded" | "dismissed" | "adopted" | "replayed";
  /** The webhook that was resolved, if it was one. */
  receiptId?: string;
  /** With `accepted` and `refunded`, where the person gave some. */
  evidence?: Evidence;
  /** With `refunded`. Absent where an earlier version stored it: then all of the money went back. */
  refund?: Refund;
  /** The state of the payment before, or the outcome of the webhook: at most 64 characters. Absent where there was none. */
  before?: string;
  /** That state or outcome after it. Absent where an earlier version stored it. */
  after?: string;
  /** As the person wrote it. */
  reason: string;
  /** Who. */
  by: string;
  /** ISO 8601 UTC. */
  at: string;
}

/** A durable event as it is stored. `payload` is plain JSON. */
export interface EventRecord {
  /** Made by the kit; unique. */
  id: string;
  /** The name of the event, such as `payment.completed`. */
  type: EventType;
  /** The payment that the event is about, if it is about one. */
  clientId?: string;
  /** When it was recorded: ISO 8601 UTC. */
  recordedAt: string;
  /** What handlers get, as plain JSON. */
  payload: Readonly<Record<string, unknown>>;
}

/** What to read and lock before a decision. */
export interface LockKeys {
  /** Payments by their clientId. */
  clientIds?: readonly string[];
  /** All payments of these references. */
  references?: readonly string[];
  /** Payments by the service's id. */
  serviceIds?: readonly string[];
  /** Not locked. `lock` only says which of them are stored. */
  eventKeys?: readonly string[];
  /** The caller only reads: `lock` may return the payments without waiting for their locks. */
  readOnly?: boolean;
}

/** What `lock` found. */
export interface Locked {
  /** The payments that any key names, and every other payment of their references; each once. */
  payments: Payment[];
  /** Those of the given eventKeys that are stored. */
  eventKeys: string[];
}

/** What one transaction writes. Every list may be empty or absent. */
export interface Changes {
  /** New payments. */
  created?: readonly Payment[];
  /**
   * Payments that `lock` returned in this transaction, with their new content and every field. Their `clientId`,
   * `reference` and `createdAt` never change, so a store need not write these again.
   */
  updated?: readonly Payment[];
  /** New webhooks. */
  webhooks?: readonly WebhookRecord[];
  /** How many further copies of stored webhooks arrived. */
  copies?: readonly { eventKey: string; count: number }[];
  /** The new outcomes of webhooks that were decided again, such as parked ones that found their payment. */
  rematched?: readonly Rematched[];
  /** receiptIds of waiting webhooks that were raised: `stray` no longer returns them. Unknown ones are skipped. */
  raised?: readonly string[];
  /** receiptIds of waiting webhooks that were dismissed: `stray` and `counts` no longer include them. */
  dismissed?: readonly string[];
  /** New resolutions. An `id` that is taken rejects with `store_conflict`. */
  resolutions?: readonly ResolutionRecord[];
  /**
   * Notes, each with the version that it has now (0 where there is none) and its new value; `null` deletes it. Another version rejects
   * with `store_conflict`.
   */
  notes?: readonly (Omit<NoteRecord, "value"> & { value: NoteRecord["value"] | null })[];
  /** New events. */
  events?: readonly EventRecord[];
}

/** A webhook that was decided again. */
export interface Rematched {
  /** The webhook. */
  receiptId: string;
  /** Its new outcome. */
  outcome: WebhookRecord["outcome"];
  /** Why, for people. Absent: the webhook has no reason any more. */
  reason?: string;
  /** When it was decided again: ISO 8601 UTC. */
  decidedAt?: string;
}

/** What `save` did not store. */
export interface Saved {
  /** clientIds of `created` payments that were not stored, because their clientId or open reference is taken. */
  takenClientIds: string[];
  /** eventKeys of `webhooks` that were not stored, because their eventKey or receiptId is taken. */
  takenEventKeys: string[];
}

/** Which dispatches to claim, and for how long. */
export interface ClaimOptions {
  /** The handlers whose dispatches may be claimed. */
  handlers: readonly HandlerKey[];
  /** The maximum number of claims. */
  limit: number;
  /** How long the leases last, by the database's clock. */
  leaseMs: number;
}

/** One dispatch that this process may run now. */
export interface Claim {
  /** The event that the handler gets. */
  event: EventRecord;
  /** The name of the handler. */
  handler: string;
  /** Grows with each claim of this dispatch. `settle` and `renew` refuse an older one. */
  fence: number;
  /** How often it was claimed, this time included. */
  attempt: number;
  /** How often a run was settled as failed. */
  failures: number;
}

/** What identifies one claimed run of a dispatch. */
export interface RunKey {
  /** The event of the dispatch. */
  eventId: string;
  /** The name of the handler. */
  handler: string;
  /** The fence of the claim. */
  fence: number;
}

/** How a run ended. */
export interface Settlement extends RunKey {
  /**
   * `done`: never claimed again. `failed`: claimed again after `retryInMs`, with one failure more. `released`: claimed
   * again after `retryInMs`, and this attempt is not counted. `dead`: never claimed again, and kept.
   */
  state: "done" | "failed" | "released" | "dead";
  /**
   * Only the commit follows in this transaction, so a store may send the settlement and the commit in one message. It
   * then resolves to `true`; where it would have resolved to `false`, it rolls back and rejects the transaction with
   * `lease_lost`. A store may ignore it.
   */
  isLast?: true;
  /** With `failed` and `released`: how long to wait, by the database's clock. @default 0 */
  retryInMs?: number;
  /** With `failed` and `dead`: for people; at most 2,000 characters. */
  error?: string;
}

/** How much is waiting. */
export interface StoreCounts {
  /** Dispatches that are dead. */
  dead: number;
  /** Webhooks that wait for their payment or for a lookup. */
  parked: number;
  /** The number of payments and of webhooks that a person has to see, by the reason: at most 10,000 of each. Absent for none. */
  needs?: { readonly [Need in PaymentNeed | WebhookNeed]?: number };
  /** When the oldest event was recorded that some registered handler has not done, if there is one. */
  oldestUndoneAt?: string;
  /**
   * The handlers whose oldest undone dispatch could be claimed now, the type of its event, and since when. Where a process calls the handler, this
   * lasts for a moment. Absent: nothing is said about handlers that no process has.
   */
  waiting?: readonly { handler: string; event?: EventType; since: string }[];
  /** The clock that leases go by, if it is not that of this machine: ISO 8601 UTC. */
  clock?: string;
}

/** The present state of one handler's dispatch of one event. */
export interface DispatchRecord {
  /** The event. */
  eventId: string;
  /** The name of the event. */
  type: EventType;
  /** The payment that the event is about, if it is about one. */
  clientId?: string;
  /** The name of the handler. */
  handler: string;
  /** `pending` and `leased` are open; `done`, `dead` and `retired` are ended. */
  state: "pending" | "leased" | "done" | "dead" | "retired";
  /** How often it was claimed. */
  attempt: number;
  /** How often a run was settled as failed. The last run of a dead dispatch is not among them: it was settled as dead. */
  failures: number;
  /** The message of its last failure, for people. */
  error?: string;
  /** When a run was last settled, or the dispatch retired, by the database's clock: ISO 8601 UTC. */
  settledAt?: string;
  /** When a pending one may run, by the database's clock: ISO 8601 UTC. Absent: immediately. */
  dueAt?: string;
  /** How it ended each time before it was revived, oldest first; the last 20. Absent if it never was. */
  past?: readonly PastEnd[];
  /** The id under which it was last revived. */
  run?: string;
}

/** How a dispatch was dead before it was revived. */
export type PastEnd = Pick<DispatchRecord, "attempt" | "failures" | "error" | "settledAt">;

/** What is stored about one clientId. */
export interface StoredHistory {
  /** The webhooks without their bytes. `copies` is the number of repetitions. */
  webhooks: (Omit<WebhookRecord, "rawBody"> & { copies: number })[];
  /** The events about the payment, oldest first. */
  events: EventRecord[];
  /** The dispatches of these events. */
  dispatches: DispatchRecord[];
  /** What people decided about the payment, or about webhooks that name it. */
  resolutions: ResolutionRecord[];
}
