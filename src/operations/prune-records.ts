import { type PaymentStore } from "../store/index.js";

/** The number of pruned records. */
export interface Pruned {
  /** Webhooks whose raw bytes were deleted; their rows stay. */
  webhooks: number;
  /** Deleted events, whose dispatches were all done or retired. */
  events: number;
}

const batchSize = 500;

/**
 * Prunes final records from before the given time, in batches, so that no transaction blocks others for long. Parked
 * webhooks, undone and dead dispatches stay, and so does every eventKey: an old webhook that arrives again is a duplicate.
 */
export async function pruneRecords<Tx>(store: PaymentStore<Tx>, before: Date): Promise<Pruned> {
  const total: Pruned = { webhooks: 0, events: 0 };
  if (!store.prune) return total;
  for (;;) {
    const { webhooks, events } = await store.prune({ before: before.toISOString(), limit: batchSize });
    total.webhooks += webhooks;
    total.events += events;
    if (webhooks < batchSize && events < batchSize) return total;
  }
}
