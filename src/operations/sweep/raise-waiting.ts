import { type EventRecord, type PaymentStore, type WebhookRecord } from "../../store/index.js";
import {
  stampEvent,
  unconfirmedEvent,
  unmatchedEvent,
  type EventDraft,
} from "../../webhook/recording/payment-events.js";
import { type RecordingParts } from "../../webhook/recording/recording-parts.js";
import { readStored, rematch } from "../../webhook/recording/rematch.js";
import { inGroups, minPageSize } from "./in-groups.js";

/** The parts of the kit that are needed to raise events. */
export interface RaisingParts<Tx> extends RecordingParts<Tx> {
  /**
   * Returns the time without new clock jumps. Ages are measured with this time, because raised events cannot
   * be undone.
   */
  cautiousNow: () => Date;
}

/** The maximum number of pages in one sweep. The next sweep reads the webhooks that are left. */
const maxPagesPerSweep = 20;

/**
 * Decides again each webhook that has waited too long. If the webhook still waits, raises an event:
 * `payment.unmatched` if no payment has its clientId, or `payment.unconfirmed` if no lookup confirmed it.
 * Raises one event for a webhook even if several processes sweep. Resolves to the number of events.
 */
export async function raiseWaiting<Tx>(parts: RaisingParts<Tx>, unmatchedAfterMs: number): Promise<number> {
  const { store, cautiousNow } = parts;
  const limit = Math.max(parts.maxGroup, minPageSize);
  const options = { before: new Date(cautiousNow().getTime() - unmatchedAfterMs).toISOString(), limit };
  let raised = 0;
  for (let page = 0; page < maxPagesPerSweep; page++) {
    const found = await store.transaction((tx) => store.stray(tx, options));
    if (found.length === 0) break;
    const counts = await inGroups(store, found, async (some) => {
      const clientIds = some.map(({ clientId = "" }) => clientId);
      await rematch(parts, clientIds);
      return raisePage(parts, new Set(some.map(({ receiptId }) => receiptId)), options);
    });
    for (const count of counts) raised += count;
    if (found.length < limit) break;
  }
  return raised;
}

/**
 * Locks the webhooks, so that no other sweep raises them too. Locks no payments: matching locks the payment
 * first and the webhook second, so there could be a deadlock. A payment that is stored meanwhile is matched
 * later.
 */
async function raisePage<Tx>(
  { store, now, newId }: RecordingParts<Tx>,
  wanted: ReadonlySet<string>,
  options: { before: string; limit: number },
): Promise<number> {
  return store.transaction(async (tx) => {
    const still = (await store.stray(tx, options)).filter(({ receiptId }) => wanted.has(receiptId));
    const recordedAt = now().toISOString();
    const events: EventRecord[] = [];
    for (const webhook of still) {
      const { clientId } = webhook;
      const draft = await waitingEvent(store, webhook);
      if (draft) events.push(stampEvent(draft, { newId, recordedAt, clientId }));
    }
    if (still.length > 0) await store.save(tx, { raised: still.map(({ receiptId }) => receiptId), events });
    return events.length;
  });
}

async function waitingEvent<Tx>(
  store: PaymentStore<Tx>,
  webhook: WebhookRecord,
): Promise<EventDraft | undefined> {
  const message = readStored(webhook);
  if (message.kind !== "payment") return undefined;
  if (webhook.outcome === "unmatched") return unmatchedEvent(message, webhook);
  const payment = await store.find(message.verified.clientId);
  return payment && unconfirmedEvent(payment, message, webhook);
}
