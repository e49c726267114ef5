import { type Message } from "../../model/payment-report.js";
import {
  type EventRecord,
  type PaymentStore,
  type Rematched,
  type WebhookRecord,
} from "../../store/index.js";
import { asBuffer } from "../../shared/bytes.js";
import { readLookup } from "../message/read-lookup.js";
import { readMessage } from "../message/read-message.js";
import { decideReport, type Policy } from "./decide-message.js";
import { LockedPayments } from "./locked-payments.js";
import { stampEvent } from "./payment-events.js";

/** The parts of the kit that recording, and every operation on recorded webhooks, uses. */
export interface RecordingParts<Tx> {
  store: PaymentStore<Tx>;
  now: () => Date;
  newId: () => string;
  policy: Policy;
  /** The number of webhooks, or of payments, in one transaction at most. */
  maxGroup: number;
  /** Resolves when the store is open and knows the handlers of this process. */
  ready: () => Promise<void>;
  /** Must be called after a commit that saved events: wakes the dispatcher. */
  announceEvents: () => void;
}

/** Decides the parked webhooks of these clientIds again, and announces the events of those that found their payment. */
export async function rematch<Tx>(parts: RecordingParts<Tx>, parkedFor: readonly string[]): Promise<void> {
  const { store, announceEvents } = parts;
  if (parkedFor.length === 0) return;
  // The list names a payment once for each of its webhooks.
  const clientIds = [...new Set(parkedFor)];
  const groups = store.maxGroup === Infinity ? [clientIds] : clientIds.map((clientId) => [clientId]);
  for (const group of groups) {
    const seen = new Set<string>();
    let limit = store.maxGroup;
    for (let isMore = true; isMore;) {
      let part: Awaited<ReturnType<typeof rematchIn>>;
      try {
        part = await store.transaction((tx) => rematchIn(tx, parts, group, { seen, limit }));
      } catch (error) {
        // The events of many handlers may be more than the database takes in one transaction.
        if (limit === Infinity || limit <= 1) throw error;
        limit = Math.floor(limit / 2);
        continue;
      }
      if (part.matched > 0) announceEvents();
      for (const receiptId of part.receiptIds) seen.add(receiptId);
      ({ isMore } = part);
    }
  }
}

/**
 * Decides the webhooks that were parked for these clientIds again, inside a transaction, now that their payments are known.
 * Repeating it is harmless. With a limit it takes the first webhooks that were not seen, and resolves with whether there are
 * more.
 */
export async function rematchIn<Tx>(
  tx: Tx,
  { store, now, newId, policy }: RecordingParts<Tx>,
  clientIds: readonly string[],
  { seen = new Set(), limit = store.maxGroup }: { seen?: ReadonlySet<string>; limit?: number } = {},
): Promise<{ matched: number; receiptIds: readonly string[]; isMore: boolean }> {
  const parked = await store.parked(tx, clientIds);
  const unseen = parked.filter(({ receiptId }) => !seen.has(receiptId));
  const webhooks = unseen.slice(0, limit);
  const rest = unseen.slice(webhooks.length);
  const receiptIds = webhooks.map(({ receiptId }) => receiptId);
  if (webhooks.length === 0) return { matched: 0, receiptIds, isMore: false };
  const messages = webhooks.map(readStored);
  const serviceIds = messages.flatMap((message) => (message.kind === "payment" ? [message.verified.id] : []));
  const payments = new LockedPayments((await store.lock(tx, { clientIds, serviceIds })).payments);

  // Another process may have matched them while this one waited for the lock.
  const parkedNow = await store.parked(tx, clientIds);
  const stillParked = new Set(parkedNow.map(({ receiptId }) => receiptId));
  const recordedAt = now().toISOString();
  const rematched: Rematched[] = [];
  const events: EventRecord[] = [];
  for (const [index, arrival] of webhooks.entries()) {
    const { receiptId } = arrival;
    const message = messages[index]!;
    if (!stillParked.has(receiptId) || message.kind !== "payment") continue;
    const { clientId } = message.verified;
    if (!payments.find(clientId)) continue;
    const circumstances = { known: false, now: recordedAt, arrival, policy };
    const decided = decideReport(payments, message, circumstances);
    // A webhook that goes on waiting stays as it is.
    if (decided.outcome === "duplicate" || decided.outcome === arrival.outcome) continue;
    const { outcome, reason } = decided;
    rematched.push({ receiptId, outcome, ...(reason !== undefined && { reason }), decidedAt: recordedAt });
    for (const draft of decided.events) events.push(stampEvent(draft, { newId, recordedAt, clientId }));
  }
  const matched = rematched.length;
  if (matched > 0) {
    // The last one becomes stray again. By it the sweep finds the rest where the process ends now.
    const last = rest.findLast(
      ({ receiptId, outcome }) => stillParked.has(receiptId) && outcome !== "unconfirmed",
    );
    if (last)
      rematched.push({ receiptId: last.receiptId, outcome: "unmatched", reason: "decided after others" });
    await store.save(tx, { updated: payments.changed(), rematched, events });
  }
  return { matched, receiptIds, isMore: rest.length > 0 };
}

/** Returns the message of a stored webhook or lookup answer, trusted as far as its signature covered it on arrival. */
export function readStored(webhook: WebhookRecord): Message {
  const { covers, kind, clientId, receivedAt } = webhook;
  // A merchant's own store may return the bytes of its driver.
  const rawBody = asBuffer(webhook.rawBody) ?? webhook.rawBody;
  if (kind !== "lookup") return readMessage({ rawBody, covers });
  return readLookup({ rawBody, covers, clientId: clientId ?? "", receivedAt });
}
