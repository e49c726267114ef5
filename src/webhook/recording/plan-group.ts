import { type Message } from "../../model/payment-report.js";
import {
  type Changes,
  type EventRecord,
  type Locked,
  type Outcome,
  type Rematched,
  type WebhookRecord,
} from "../../store/index.js";
import { Books } from "./books.js";
import { decideMessage } from "./decide-message.js";
import { type Policy } from "./policy.js";

/** A verified webhook, or an answer to a lookup, on its way to the record. */
export interface Arrival {
  receiptId: string;
  message: Message;
  rawBody: Buffer;
  /** What the signature covered. */
  covers: WebhookRecord["covers"];
  receivedAt: string;
  /** The service's answer to a question of the kit, instead of a webhook. */
  kind?: "lookup";
}

/** What became of one arrival. */
export interface Receipt {
  receiptId: string;
  /** `spooled`: on disk in the spool, and not decided yet. */
  outcome: Outcome | "spooled";
  clientId?: string;
}

/** Everything one transaction is to write, and what to answer to each arrival. */
export interface Plan {
  changes: Required<Pick<Changes, "updated" | "webhooks" | "copies" | "rematched" | "events">>;
  receipts: Receipt[];
}

/** The keys that must be locked before these are decided. */
export function keysOf(arrivals: readonly Pick<Arrival, "message">[]) {
  const clientIds = new Set<string>();
  const serviceIds = new Set<string>();
  const eventKeys = new Set<string>();
  for (const { message } of arrivals) {
    eventKeys.add(keyOf(message));
    if (message.kind !== "payment") continue;
    clientIds.add(message.report.clientId);
    serviceIds.add(message.report.serviceId);
  }
  return { clientIds: [...clientIds], serviceIds: [...serviceIds], eventKeys: [...eventKeys] };
}

/** What planning needs besides what is locked. */
export interface Planning {
  now: string;
  newId: () => string;
  policy: Policy;
  /** The recorded webhooks that wait for one of these lookups, by eventKey. */
  unconfirmed?: ReadonlyMap<string, WebhookRecord>;
}

/**
 * Decides a group of arrivals in their order, each on the books as the one before left them. Pure, but for the
 * ids that `newId` makes. An answer to a lookup that says the same as a webhook which waits for it decides that webhook.
 */
export function planGroup(
  locked: Locked,
  arrivals: readonly Arrival[],
  { now, newId, policy, unconfirmed = new Map() }: Planning,
): Plan {
  const books = new Books(locked.payments);
  const recorded = new Set(locked.eventKeys);
  const copies = new Map<string, number>();
  const webhooks: WebhookRecord[] = [];
  const rematched: Rematched[] = [];
  const events: EventRecord[] = [];

  const receipts = arrivals.map((arrival): Receipt => {
    const { receiptId, message, rawBody, covers, receivedAt, kind } = arrival;
    const eventKey = keyOf(message);
    const waiting = kind === "lookup" ? unconfirmed.get(eventKey) : undefined;
    const known = recorded.has(eventKey) && !waiting;
    const decided = decideMessage(books, message, { known, now, arrival, policy });
    const { outcome } = decided;
    const { clientId, status } = message.kind === "payment" ? message.report : nobody;
    if (outcome === "duplicate" || waiting) copies.set(eventKey, (copies.get(eventKey) ?? 0) + 1);
    if (decided.outcome === "duplicate") return receiptOf(receiptId, outcome, clientId);
    const { reason } = decided;
    if (waiting) {
      const why = reason ?? "confirmed by a lookup";
      rematched.push({ receiptId: waiting.receiptId, outcome: decided.outcome, reason: why, decidedAt: now });
    } else {
      recorded.add(eventKey);
      const webhook: WebhookRecord = {
        receiptId,
        eventKey,
        outcome: decided.outcome,
        rawBody,
        covers,
        receivedAt,
      };
      // One by one: an object that is spread where it may be empty costs more than all of these.
      if (reason !== undefined) webhook.reason = reason;
      if (clientId !== undefined) webhook.clientId = clientId;
      if (status !== undefined) webhook.status = status;
      if (kind !== undefined) webhook.kind = kind;
      webhooks.push(webhook);
    }
    for (const { type, payload } of decided.events) {
      const event: EventRecord = { id: newId(), type, recordedAt: now, payload };
      if (clientId !== undefined) event.clientId = clientId;
      events.push(event);
    }
    return receiptOf(receiptId, outcome, clientId);
  });

  return {
    changes: {
      updated: books.changed(),
      webhooks,
      copies: [...copies].map(([eventKey, count]) => ({ eventKey, count })),
      rematched,
      events,
    },
    receipts,
  };
}

const nobody = { clientId: undefined, status: undefined };

function receiptOf(receiptId: string, outcome: Outcome, clientId: string | undefined): Receipt {
  return clientId === undefined ? { receiptId, outcome } : { receiptId, outcome, clientId };
}

/** What makes two messages the same event. */
export function keyOf(message: Message): string {
  return message.kind === "payment" ? message.report.eventKey : message.eventKey;
}
