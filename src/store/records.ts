import { type EventType } from "../model/event-map.js";
import { type Payment, type PaymentState } from "../model/payment.js";
import { type SignedField } from "../model/signed-fields.js";

/**
 * What became of a verified webhook. Two of them wait, and get another one when what they wait for comes: `unmatched`
 * for its payment, `unconfirmed` for the lookup that `confirm` asks for. The others are final.
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

/** A verified webhook as it is kept. `duplicate` is counted on the first copy and never stored itself. */
export interface WebhookRecord {
  /** Made by the kit at arrival; a second record of the same arrival changes nothing. */
  receiptId: string;
  /** What makes two webhooks the same event; unique. At most 80 ASCII characters. */
  eventKey: string;
  outcome: Exclude<Outcome, "duplicate">;
  /** Why, for people: `total.value: expected 1475, got 14750`. */
  reason?: string;
  /** Present where the message named a payment. */
  clientId?: string;
  status?: string;
  /** The exact bytes that arrived. */
  rawBody: Buffer;
  /** What the signature covered when it was verified: whatever is configured later, no more than this was signed. */
  covers: "body" | readonly SignedField[];
  /** ISO 8601 UTC. */
  receivedAt: string;
  /** `lookup`: not a webhook, but the service's answer to a question of the kit. Absent for a webhook. */
  kind?: "lookup";
  /** When `outcome` was decided, where that was not at once: ISO 8601 UTC. */
  decidedAt?: string;
}

/** What a person settled, and why. */
export interface ResolutionRecord {
  /** Made by the kit of what is settled, so that settling it twice is one; unique. */
  id: string;
  clientId: string;
  action: "accepted" | "refunded" | "dismissed";
  /** The webhook that was settled, where it was one. */
  receiptId?: string;
  /** In the words of the person. */
  reason: string;
  /** Who. */
  by: string;
  /** ISO 8601 UTC. */
  at: string;
}

/** A durable event as it is kept: `payload` is plain JSON. */
export interface EventRecord {
  /** Made by the kit; unique. */
  id: string;
  type: EventType;
  clientId?: string;
  recordedAt: string;
  payload: Readonly<Record<string, unknown>>;
}

/** What to read and lock before a decision. */
export interface LockKeys {
  clientIds?: readonly string[];
  references?: readonly string[];
  serviceIds?: readonly string[];
  /** Not locked; answered with those that are already recorded. */
  eventKeys?: readonly string[];
}

/** What `lock` found. */
export interface Locked {
  /** The payments named by any key, and every other payment of their references; each once. */
  payments: Payment[];
  /** Which of the asked eventKeys are recorded. */
  eventKeys: string[];
}

/** What one transaction writes; every list may be empty or absent. */
export interface Changes {
  /** New payments. */
  created?: readonly Payment[];
  /**
   * Payments that `lock` returned in this transaction, whole, with their new content. Their `clientId`, `reference` and
   * `createdAt` never change, so a store need not write them again.
   */
  updated?: readonly Payment[];
  /** New webhooks. */
  webhooks?: readonly WebhookRecord[];
  /** Further copies of webhooks that are already recorded: how many arrived. */
  copies?: readonly { eventKey: string; count: number }[];
  /** Webhooks that were decided again, such as parked ones that found their payment: their new outcome. */
  rematched?: readonly Rematched[];
  /** receiptIds of waiting webhooks that were told of: `stray` answers them no more. Unknown ones are skipped. */
  raised?: readonly string[];
  /** receiptIds of waiting webhooks that nobody waits for any more: neither `stray` nor `counts` knows them. */
  dismissed?: readonly string[];
  /** New resolutions; an `id` that is taken rejects with `store_conflict`. */
  resolutions?: readonly ResolutionRecord[];
  /** New events. */
  events?: readonly EventRecord[];
}

/** A webhook that was decided again. */
export interface Rematched {
  receiptId: string;
  outcome: WebhookRecord["outcome"];
  reason?: string;
  decidedAt?: string;
}

/** What `save` found in its way. */
export interface Saved {
  /** clientIds of `created` payments that were not stored, because their clientId or open reference is taken. */
  takenClientIds: string[];
  /** eventKeys of `webhooks` that were not stored, because their eventKey or receiptId is. */
  takenEventKeys: string[];
}

/** A handler, by the event it wants (`"*"`: every event) and its durable name. */
export interface HandlerKey {
  event: EventType | "*";
  name: string;
}

/** One dispatch that this process may run now. */
export interface Claim {
  event: EventRecord;
  handler: string;
  /** Grows with each claim of this dispatch; `settle` and `renew` refuse an older one. */
  fence: number;
  /** How often it was claimed, this time included. */
  attempt: number;
  /** How often a run was settled as failed. */
  failures: number;
}

/** How a run ended. */
export interface Settlement {
  eventId: string;
  handler: string;
  fence: number;
  /**
   * `done`: never claimed again. `failed`: claimed again after `retryInMs`, with one failure more. `released`:
   * claimed again at once, with nothing counted (attempt goes back by one). `dead`: never claimed again, and kept.
   */
  state: "done" | "failed" | "released" | "dead";
  /**
   * Nothing but the commit comes behind it in this transaction, so that a store may send both together: it then resolves
   * `true`, and where it would have resolved `false`, rolls back and rejects the transaction with `lease_lost`. A store
   * may ignore it.
   */
  isLast?: true;
  /** With `failed`: how long to wait, by the database's clock. */
  retryInMs?: number;
  /** With `failed` and `dead`: for people; at most 2,000 characters. */
  error?: string;
}

/** What {@link PaymentStore.counts} answers. */
export interface StoreCounts {
  /** Dispatches that used up their tries. */
  dead: number;
  /** Webhooks that wait for their payment or for a lookup. */
  parked: number;
  /** When the oldest event was recorded that some remembered handler has not done, if there is one. */
  oldestUndoneAt?: string;
}

/** Which payments {@link PaymentStore.list} answers: those that match every given condition. */
export interface PaymentPage {
  state?: PaymentState;
  reference?: string;
  from?: string;
  to?: string;
  /** The position of the last payment of the page before. */
  after?: { createdAt: string; clientId: string };
  newestFirst: boolean;
  limit: number;
}

/** Which webhooks {@link PaymentStore.webhooks} answers: those that match every given condition. */
export interface WebhookPage {
  clientId?: string;
  receiptId?: string;
  outcome?: WebhookRecord["outcome"];
  from?: string;
  to?: string;
  after?: { receivedAt: string; receiptId: string };
  limit: number;
}

/** Which dispatches {@link PaymentStore.dead} answers. */
export interface DeadPage {
  eventId?: string;
  handler?: string;
  type?: EventType;
  revive: boolean;
  limit: number;
}

/** One handler's dispatch of one event, as it stands. */
export interface DispatchRecord {
  eventId: string;
  type: EventType;
  clientId?: string;
  handler: string;
  state: "pending" | "leased" | "done" | "dead";
  attempt: number;
  failures: number;
  error?: string;
  /** When a run was last settled, by the database's clock: ISO 8601 UTC. */
  settledAt?: string;
}

/** What {@link PaymentStore.history} answers. */
export interface StoredHistory {
  /** Without their bytes; `copies` are those that came after the first. */
  webhooks: (Omit<WebhookRecord, "rawBody"> & { copies: number })[];
  events: EventRecord[];
  dispatches: DispatchRecord[];
  resolutions: ResolutionRecord[];
}
