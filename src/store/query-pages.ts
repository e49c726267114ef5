import { type EventType } from "../model/event-map.js";
import { type PaymentNeed, type WebhookNeed } from "../model/attention.js";
import { type PaymentState } from "../model/payment.js";
import { type WebhookRecord } from "./records.js";

/** The place of a payment in the order by creation. */
export interface PaymentPosition {
  /** The time at which the payment was created. */
  createdAt: string;
  /** The clientId, which orders payments of the same moment. */
  clientId: string;
}

/** The page of payments that `due` returns. */
export interface DuePage {
  /** Only payments that were created before this time: ISO 8601 UTC. */
  before: string;
  /** The position of the last payment of the page before. */
  after?: PaymentPosition;
  /** The maximum number of payments. */
  limit: number;
}

/** The page of payments that `list` returns. They match every given condition. */
export interface PaymentPage {
  /** Only payments in this state. */
  state?: PaymentState;
  /** Only payments that a person has to see for this reason: see `needOfPayment`. */
  need?: PaymentNeed;
  /** Only payments of this reference. */
  reference?: string;
  /** Only payments with this `reported.providerId`, whether it is verified or not. */
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

/** The page of records that `history` returns: the newest records of each kind. */
export interface HistoryPage {
  /** The maximum number of webhooks, of events and of resolutions. @default 1000 */
  limit?: number;
  /** The oldest records of the page before. For each kind named here, returns only older records. */
  before?: HistoryPosition;
}

/** The oldest record of each kind on the page before. An absent kind begins with its newest records. */
export interface HistoryPosition {
  /** The oldest webhook of the page before. */
  webhook?: { receivedAt: string; receiptId: string };
  /** The oldest event of the page before. */
  event?: { id: string };
  /** The oldest resolution of the page before. */
  resolution?: { at: string; id: string };
}

/** The position at which `prune` ended. Only the store that made the position reads it. */
export interface PrunePosition {
  /** The position among the webhooks. */
  webhooks: string;
  /** The position among the events. */
  events: string;
}

/** The result of one call of `prune`. */
export interface PrunedBatch {
  /** The number of webhooks whose bytes were deleted. */
  webhooks: number;
  /** The number of deleted events. */
  events: number;
  /** The position from which the next call continues. */
  after?: PrunePosition;
}

/** The page of webhooks that `webhooks` returns. They match every given condition. */
export interface WebhookPage {
  /** Only webhooks that name this payment. */
  clientId?: string;
  /** Only webhooks that name one of these payments. Allowed only with `need`. */
  clientIds?: readonly string[];
  /** Only this webhook. */
  receiptId?: string;
  /** Only webhooks with this outcome. */
  outcome?: WebhookRecord["outcome"];
  /** Only webhooks that a person has to see for this reason, and that no person has resolved or dismissed. */
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

/** The page of dispatches that `dead` returns. They match every given condition. */
export interface DeadPage {
  /** Only dispatches of this event. */
  eventId?: string;
  /** Only dispatches of this handler. */
  handler?: string;
  /** Only dispatches of events of this type. */
  type?: EventType;
  /** A part of the last error. Capital and small letters are equal. */
  error?: string;
  /** Only dispatches that died at this time or later, by the database's clock: ISO 8601 UTC. */
  since?: string;
  /** Leaves out dispatches that were revived under this id. Required with `revive`, which stores the id. */
  run?: string;
  /** The last dispatch of the page before. @default none */
  after?: { eventId: string; handler: string };
  /** Whether to make the dispatches pending again. */
  revive: boolean;
  /** The maximum number of dispatches. */
  limit: number;
}
