import { type Message } from "../../model/payment-report.js";
import { asBuffer } from "../../shared/bytes.js";
import { type WebhookRecord } from "../../store/index.js";
import { readLookup } from "../message/read-lookup.js";
import { readMessage } from "../message/read-message.js";
import { Decisions } from "./decisions.js";
import { type RecordingParts } from "./recording-parts.js";

/** Decides the rematchable webhooks of these clientIds again, and announces the new events. */
export async function rematch<Tx>(parts: RecordingParts<Tx>, given: readonly string[]): Promise<void> {
  const { store, announceEvents } = parts;
  if (given.length === 0) return;
  // The list contains a clientId once for each of its webhooks.
  const clientIds = [...new Set(given)];
  const groups = store.maxGroup === Infinity ? [clientIds] : clientIds.map((clientId) => [clientId]);
  for (const group of groups) {
    const seen = new Set<string>();
    let limit = store.maxGroup;
    for (let isMore = true; isMore;) {
      let part: Awaited<ReturnType<typeof rematchIn>>;
      try {
        part = await store.transaction((tx) => rematchIn(tx, parts, group, { seen, limit }));
      } catch (error) {
        // Many webhooks with many handlers may exceed the limit of the database for one transaction.
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
 * Decides the rematchable webhooks of these clientIds again, inside a transaction. Repeating the call is
 * harmless. With a limit, the call takes the first webhooks that are not in `seen`. `matched` is the number
 * of webhooks with a new outcome. `receiptIds` are the ids of the webhooks that were taken.
 */
export async function rematchIn<Tx>(
  tx: Tx,
  { store, now, newId, policy }: RecordingParts<Tx>,
  clientIds: readonly string[],
  { seen = new Set(), limit = store.maxGroup }: { seen?: ReadonlySet<string>; limit?: number } = {},
): Promise<{ matched: number; receiptIds: readonly string[]; isMore: boolean }> {
  const found = await store.rematchable(tx, clientIds);
  const webhooks = found.filter(({ receiptId }) => !seen.has(receiptId)).slice(0, limit);
  const receiptIds = webhooks.map(({ receiptId }) => receiptId);
  if (webhooks.length === 0) return { matched: 0, receiptIds, isMore: false };
  const messages = webhooks.map(readStored);
  const serviceIds = messages.flatMap((message) => (message.kind === "payment" ? [message.verified.id] : []));
  const locked = await store.lock(tx, { clientIds, serviceIds });

  // While this process waited for the lock, another process may have matched or recorded webhooks.
  const foundNow = await store.rematchable(tx, clientIds);
  const still = new Set(foundNow.map(({ receiptId }) => receiptId));
  const rest = foundNow.filter(({ receiptId }) => !seen.has(receiptId) && !receiptIds.includes(receiptId));
  const decisions = new Decisions(locked.payments, { now: now().toISOString(), newId, policy });
  const { payments, rematched, events } = decisions;
  for (const [index, webhook] of webhooks.entries()) {
    const { receiptId } = webhook;
    const message = messages[index]!;
    if (!still.has(receiptId) || message.kind !== "payment") continue;
    const { clientId } = message.verified;
    if (!payments.find(clientId)) continue;
    const decided = decisions.decide(message, webhook);
    // A webhook whose outcome stays the same is not changed.
    if (decided.outcome === "duplicate" || decided.outcome === webhook.outcome) continue;
    decisions.rematch(receiptId, decided, clientId);
  }
  const matched = rematched.length;
  if (matched > 0) {
    // If the process ends now, a sweep must find the rest. So one of them gets the outcome `unmatched`, for
    // which sweeps look. Without the lock on its payment, another process could have decided it meanwhile.
    const last = rest.findLast(
      ({ outcome, clientId = "" }) => outcome !== "unconfirmed" && payments.find(clientId),
    );
    if (last)
      rematched.push({ receiptId: last.receiptId, outcome: "unmatched", reason: "decided after others" });
    await store.save(tx, { updated: payments.changed(), rematched, events });
  }
  return { matched, receiptIds, isMore: rest.length > 0 };
}

/** Returns the message of a stored webhook or answer. Trusts the fields that were signed on arrival. */
export function readStored(webhook: WebhookRecord): Message {
  const { covers, kind, clientId, receivedAt } = webhook;
  // A merchant's own store may return the byte type of its driver.
  const rawBody = asBuffer(webhook.rawBody) ?? webhook.rawBody;
  if (kind !== "lookup") return readMessage({ rawBody, covers });
  return readLookup({ rawBody, covers, clientId: clientId ?? "", receivedAt });
}
