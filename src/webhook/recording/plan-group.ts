import { type Changes, type Locked, type ResolutionRecord, type WebhookRecord } from "../../store/index.js";
import { type Arrival, type Receipt } from "./arrival.js";
import { type Decided, type DecisionParts, Decisions } from "./decisions.js";

/** Everything that one transaction writes, and the receipt of each arrival. */
export interface Plan {
  changes: Required<Pick<Changes, "updated" | "webhooks" | "copies" | "rematched" | "events">> &
    Pick<Changes, "resolutions">;
  receipts: Receipt[];
}

/** Returns the keys that must be locked before these messages are decided. */
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

/** The input of planning, except the locked payments. */
export interface Planning extends DecisionParts {
  /** The recorded webhooks that wait for a lookup of the arrivals' payments, by eventKey. */
  unconfirmed?: ReadonlyMap<string, WebhookRecord>;
}

/**
 * Decides a group of arrivals in their order. Each decision uses the payments with the changes of all earlier
 * decisions. Does no I/O. If a recorded webhook waits for a lookup, the answer may have the same eventKey.
 * The answer then decides this webhook, and gets no separate row.
 */
export function planGroup(
  locked: Locked,
  arrivals: readonly Arrival[],
  { unconfirmed, ...parts }: Planning,
): Plan {
  const decisions = new Decisions(locked.payments, parts);
  const recorded = new Set(locked.eventKeys);
  const copies = new Map<string, number>();
  const webhooks: WebhookRecord[] = [];
  const receipts: Receipt[] = [];
  const resolutions: ResolutionRecord[] = [];

  for (const arrival of arrivals) {
    const { receiptId, message, kind } = arrival;
    const { eventKey } = message;
    const clientId = message.kind === "payment" ? message.verified.clientId : undefined;
    const waiting = kind === "lookup" ? unconfirmed?.get(eventKey) : undefined;
    const decided = decisions.decide(message, arrival, recorded.has(eventKey) && !waiting);
    const { outcome } = decided;
    // The receipt has the id of the stored row, because the store's watch looks for the row later.
    const stored = waiting?.receiptId ?? receiptId;
    receipts.push(
      clientId === undefined ? { receiptId: stored, outcome } : { receiptId: stored, outcome, clientId },
    );
    if (outcome === "duplicate" || waiting) copies.set(eventKey, (copies.get(eventKey) ?? 0) + 1);
    if (decided.outcome === "duplicate") continue;
    if (waiting) {
      decisions.rematch(stored, { reason: "confirmed by a lookup", ...decided }, clientId);
      continue;
    }
    recorded.add(eventKey);
    const webhook = webhookOf(arrival, decided);
    webhooks.push(webhook);
    if (arrival.resolutionsOf) resolutions.push(...arrival.resolutionsOf(webhook));
    decisions.raise(decided.events, clientId);
  }

  const { rematched, events } = decisions;
  const updated = decisions.payments.changed();
  const counted = [...copies].map(([eventKey, count]) => ({ eventKey, count }));
  const changes = { updated, webhooks, copies: counted, rematched, events };
  return { changes: resolutions.length > 0 ? { ...changes, resolutions } : changes, receipts };
}

function webhookOf(
  { receiptId, message, rawBody, covers, receivedAt, kind }: Arrival,
  { outcome, reason }: Exclude<Decided, { outcome: "duplicate" }>,
): WebhookRecord {
  const { eventKey } = message;
  const webhook: WebhookRecord = { receiptId, eventKey, outcome, rawBody, covers, receivedAt };
  // The optional fields are set one by one, because spreading an object that may be empty is slower.
  if (reason !== undefined) webhook.reason = reason;
  if (message.kind === "payment") {
    webhook.clientId = message.verified.clientId;
    webhook.status = message.verified.status;
  }
  if (kind !== undefined) webhook.kind = kind;
  return webhook;
}
