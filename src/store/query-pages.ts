import { type EventType } from "../model/event-map.js";
import { type PaymentNeed, type WebhookNeed } from "../model/attention.js";
import { type PaymentState } from "../model/payment.js";
import { type WebhookRecord } from "./records.js";

/** The place of a payment in the order by creation. */
export interface PaymentPosition {
  /** When the payment was created. */
  createdAt: string;
  /** The clientId, for payments of one moment. */
  clientId: string;
}

/** Which payments `due` returns. */
export interface DuePage {
  /** Only payments that were created before this time: ISO 8601 UTC. */
  before: string;
  /** The position of the last payment of the page before. */
  after?: PaymentPosition;
  /** The maximum number of payments. */
  limit: number;
}

/** Which payments `list` returns: those that match every given condition. */
export interface PaymentPage {
  /** Only payments in this state. */
  state?: PaymentState;
  /** Only payments about which a person has to see this: see `needOfPayment`. */
  need?: PaymentNeed;
  /** Only payments of this order. */
  reference?: string;
  /** `reported.providerId`, whether it is verified or not. */
  providerId?: string;
  /** Only payments that were created at this time or later: ISO 8601 UTC. */
  from?: string;
  /** Only payments that were created before this time: ISO 8601 UTC. */
  to?: string;
  /** The position of the last payment of the page before. */
  after?: PaymentPosition;
  /** Whether the newest payment comes first. */
  newestFirst: boolean;
  /** The maximum number of payments. */
  limit: number;
}

/** Which records `history` returns: the newest ones of each kind. */
export interface HistoryPage {
  /** The number of webhooks, of events and of resolutions at most. @default 1000 */
  limit?: number;
  /** Of each kind that is named only those before this record, the oldest one of the page before. */
  before?: HistoryPosition;
}

/** Where a page of a history begins. Of a kind that is not named the page has the newest records. */
export interface HistoryPosition {
  /** The oldest webhook of the page before. */
  webhook?: { receivedAt: string; receiptId: string };
  /** The oldest event of the page before. */
  event?: { id: string };
  /** The oldest resolution of the page before. */
  resolution?: { at: string; id: string };
}

/** Where `prune` ended: only its store reads it. */
export interface PrunePosition {
  /** Where the webhooks ended. */
  webhooks: string;
  /** Where the events ended. */
  events: string;
}

/** What one call of `prune` deleted. */
export interface PrunedBatch {
  /** The number of webhooks whose bytes were deleted. */
  webhooks: number;
  /** The number of deleted events. */
  events: number;
  /** Where the next call goes on. */
  after?: PrunePosition;
}

/** Which webhooks `webhooks` returns: those that match every given condition. */
export interface WebhookPage {
  /** Only webhooks that name this payment. */
  clientId?: string;
  /** Only webhooks that name one of these payments; only with `need`. */
  clientIds?: readonly string[];
  /** Only this webhook. */
  receiptId?: string;
  /** Only webhooks with this outcome. */
  outcome?: WebhookRecord["outcome"];
  /** Only webhooks about which a person has to see this, and that no resolution names. */
  need?: WebhookNeed;
  /** Only webhooks that arrived at this time or later: ISO 8601 UTC. */
  from?: string;
  /** Only webhooks that arrived before this time: ISO 8601 UTC. */
  to?: string;
  /** The position of the last webhook of the page before. */
  after?: { receivedAt: string; receiptId: string };
  /** The maximum number of webhooks. */
  limit: number;
}

/** Which dispatches `dead` returns: those that match every given condition. */
export interface DeadPage {
  /** Only dispatches of this event. */
  eventId?: string;
  /** Only dispatches of this handler. */
  handler?: string;
  /** Only dispatches of events of this type. */
  type?: EventType;
  /** A part of the last error, in capital or small letters. */
  error?: string;
  /** Only those that died at this time or later, by the database's clock: ISO 8601 UTC. */
  since?: string;
  /** Leaves out those that were revived under this id. Required with `revive`, which stores it. */
  run?: string;
  /** The last dispatch of the page before. @default none */
  after?: { eventId: string; handler: string };
  /** Whether to make them pending again. */
  revive: boolean;
  /** The maximum number of dispatches. */
  limit: number;
}
