import { type PaymentStore } from "../store/index.js";

/** How many records were forgotten. */
export interface Pruned {
  /** Webhooks whose raw bytes were forgotten; that they arrived is still known. */
  webhooks: number;
  /** Events that all their handlers are done with. */
  events: number;
}

const batch = 500;

/**
 * Forgets what is final and was recorded before the given time, in batches, so that no transaction holds others up. What
 * is parked, undone or dead stays, and so does every eventKey: an old webhook that comes again is a duplicate.
 */
export async function pruneRecords<Tx>(store: PaymentStore<Tx>, before: Date): Promise<Pruned> {
  const total: Pruned = { webhooks: 0, events: 0 };
  if (!store.prune) return total;
  for (;;) {
    const { webhooks, events } = await store.prune({ before: before.toISOString(), limit: batch });
    total.webhooks += webhooks;
    total.events += events;
    if (webhooks < batch && events < batch) return total;
  }
}
