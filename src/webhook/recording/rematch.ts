import { type Message } from "../../model/payment-report.js";
import {
  type EventRecord,
  type PaymentStore,
  type Rematched,
  type WebhookRecord,
} from "../../store/index.js";
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
export async function rematch<Tx>(parts: RecordingParts<Tx>, clientIds: readonly string[]): Promise<void> {
  if (!parts.store.parked || clientIds.length === 0) return;
  const matched = await parts.store.transaction((tx) => rematchIn(tx, parts, clientIds));
  if (matched > 0) parts.announceEvents();
}

/**
 * Decides the webhooks that were parked for these clientIds again, inside a transaction, now that their payments are known.
 * Resolves to the number that found a payment. Repeating it is harmless.
 */
export async function rematchIn<Tx>(
  tx: Tx,
  { store, now, newId, policy }: RecordingParts<Tx>,
  parkedFor: readonly string[],
): Promise<number> {
  // The list names a payment once for each of its webhooks.
  const clientIds = [...new Set(parkedFor)];
  const webhooks = (await store.parked?.(tx, clientIds)) ?? [];
  if (webhooks.length === 0) return 0;
  const messages = webhooks.map(readStored);
  const serviceIds = messages.flatMap((message) =>
    message.kind === "payment" ? [message.report.serviceId] : [],
  );
  const payments = new LockedPayments((await store.lock(tx, { clientIds, serviceIds })).payments);

  // Another process may have matched them while this one waited for the lock.
  const parkedNow = (await store.parked?.(tx, clientIds)) ?? [];
  const stillParked = new Set(parkedNow.map(({ receiptId }) => receiptId));
  const recordedAt = now().toISOString();
  const rematched: Rematched[] = [];
  const events: EventRecord[] = [];
  for (const [index, arrival] of webhooks.entries()) {
    const { receiptId } = arrival;
    const message = messages[index]!;
    if (!stillParked.has(receiptId) || message.kind !== "payment") continue;
    const { clientId } = message.report;
    if (!payments.find(clientId)) continue;
    const circumstances = { known: false, now: recordedAt, arrival, policy };
    const decided = decideReport(payments, message.report, circumstances);
    // A webhook that goes on waiting stays as it is.
    if (decided.outcome === "duplicate" || decided.outcome === arrival.outcome) continue;
    const { outcome, reason } = decided;
    rematched.push({ receiptId, outcome, ...(reason !== undefined && { reason }), decidedAt: recordedAt });
    for (const draft of decided.events) events.push(stampEvent(draft, { newId, recordedAt, clientId }));
  }
  if (rematched.length > 0) await store.save(tx, { updated: payments.changed(), rematched, events });
  return rematched.length;
}

/** Returns the message of a stored webhook or lookup answer, trusted as far as its signature covered it on arrival. */
export function readStored({ rawBody, covers, kind, clientId, receivedAt }: WebhookRecord): Message {
  if (kind !== "lookup") return readMessage({ rawBody, covers });
  return readLookup({ rawBody, covers, clientId: clientId ?? "", receivedAt });
}
