import { type Message } from "../../model/payment-report.js";
import {
  type Changes,
  type EventRecord,
  type Locked,
  type Outcome,
  type Rematched,
  type WebhookRecord,
} from "../../store/index.js";
import { decideMessage, type Policy } from "./decide-message.js";
import { LockedPayments } from "./locked-payments.js";
import { stampEvent } from "./payment-events.js";

/** A verified webhook, or the answer to a lookup, before it is recorded. */
export interface Arrival {
  receiptId: string;
  message: Message;
  rawBody: Buffer;
  /** What the signature covered. */
  covers: WebhookRecord["covers"];
  /** ISO 8601 UTC. */
  receivedAt: string;
  /** Set on the service's answer to a lookup; absent on a webhook. */
  kind?: "lookup";
}

/** The result of recording one webhook. */
export interface Receipt {
  receiptId: string;
  /** `spooled`: on disk in the spool, and not decided yet. */
  outcome: Outcome | "spooled";
  clientId?: string;
}

/** Everything that one transaction writes, and the receipt of each arrival. */
export interface Plan {
  changes: Required<Pick<Changes, "updated" | "webhooks" | "copies" | "rematched" | "events">>;
  receipts: Receipt[];
}

/** Returns the keys that must be locked before these arrivals are decided. */
export function keysOf(arrivals: readonly Pick<Arrival, "message">[]) {
  const clientIds = new Set<string>();
  const serviceIds = new Set<string>();
  const eventKeys = new Set<string>();
  for (const { message } of arrivals) {
    eventKeys.add(message.eventKey);
    if (message.kind !== "payment") continue;
    clientIds.add(message.verified.clientId);
    serviceIds.add(message.verified.id);
  }
  return { clientIds: [...clientIds], serviceIds: [...serviceIds], eventKeys: [...eventKeys] };
}

/** What planning needs besides what is locked. */
export interface Planning {
  /** ISO 8601 UTC. */
  now: string;
  newId: () => string;
  policy: Policy;
  /** The recorded webhooks that wait for one of these lookups, by eventKey. */
  unconfirmed?: ReadonlyMap<string, WebhookRecord>;
}

/**
 * Decides a group of arrivals in their order, each on the payments as the one before it left them. Does no I/O. The answer
 * to a lookup decides the recorded webhook that waits for it and says the same, instead of becoming a row of its own.
 */
export function planGroup(
  locked: Locked,
  arrivals: readonly Arrival[],
  { now, newId, policy, unconfirmed = new Map() }: Planning,
): Plan {
  const payments = new LockedPayments(locked.payments);
  const recorded = new Set(locked.eventKeys);
  const copies = new Map<string, number>();
  const webhooks: WebhookRecord[] = [];
  const rematched: Rematched[] = [];
  const events: EventRecord[] = [];

  const receipts = arrivals.map((arrival): Receipt => {
    const { receiptId, message, kind } = arrival;
    const { eventKey } = message;
    const waiting = kind === "lookup" ? unconfirmed.get(eventKey) : undefined;
    const known = recorded.has(eventKey) && !waiting;
    const decided = decideMessage(payments, message, { known, now, arrival, policy });
    const clientId = message.kind === "payment" ? message.verified.clientId : undefined;
    const { outcome } = decided;
    if (outcome === "duplicate" || waiting) copies.set(eventKey, (copies.get(eventKey) ?? 0) + 1);
    if (decided.outcome === "duplicate") return receiptOf(receiptId, outcome, clientId);
    if (waiting) {
      const { reason = "confirmed by a lookup" } = decided;
      rematched.push({ receiptId: waiting.receiptId, outcome: decided.outcome, reason, decidedAt: now });
    } else {
      recorded.add(eventKey);
      webhooks.push(webhookRecord(arrival, eventKey, decided));
    }
    for (const draft of decided.events) events.push(stampEvent(draft, { newId, recordedAt: now, clientId }));
    return receiptOf(receiptId, outcome, clientId);
  });

  return {
    changes: {
      updated: payments.changed(),
      webhooks,
      copies: [...copies].map(([eventKey, count]) => ({ eventKey, count })),
      rematched,
      events,
    },
    receipts,
  };
}

function webhookRecord(
  { receiptId, message, rawBody, covers, receivedAt, kind }: Arrival,
  eventKey: string,
  { outcome, reason }: { outcome: WebhookRecord["outcome"]; reason?: string },
): WebhookRecord {
  const webhook: WebhookRecord = { receiptId, eventKey, outcome, rawBody, covers, receivedAt };
  // One by one: spreading an object that may be empty is slower.
  if (reason !== undefined) webhook.reason = reason;
  if (message.kind === "payment") {
    webhook.clientId = message.verified.clientId;
    webhook.status = message.verified.status;
  }
  if (kind !== undefined) webhook.kind = kind;
  return webhook;
}

function receiptOf(receiptId: string, outcome: Outcome, clientId: string | undefined): Receipt {
  return clientId === undefined ? { receiptId, outcome } : { receiptId, outcome, clientId };
}
