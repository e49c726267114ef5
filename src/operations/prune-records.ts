import { type PaymentStore, type PrunePosition } from "../store/index.js";
import { queryError, queryTime, refuseUnknown } from "./reading/query.js";

/** The number of pruned records. */
export interface Pruned {
  /** The number of webhooks whose raw bytes were deleted. The rows of the webhooks stay. */
  webhooks: number;
  /** The number of deleted events. All dispatches of these events were done or retired. */
  events: number;
}

const batchSize = 500;

/**
 * Prunes final records from before the given time, in batches, so that no transaction blocks others for long.
 * A webhook that is parked, a mismatch or inadmissible keeps its bytes until a person settles it. Events stay
 * if one of their dispatches waits or is dead. Every eventKey stays, so that an old webhook that arrives
 * again is a duplicate.
 *
 * @throws TillkitError `query_invalid`
 */
export async function pruneRecords<Tx>(store: PaymentStore<Tx>, query: { before: Date }): Promise<Pruned> {
  refuseUnknown(query, { before: 1 });
  const before = queryTime("before", query.before);
  if (before === undefined) throw queryError("before must be a Date.");
  const total: Pruned = { webhooks: 0, events: 0 };
  for (let after: PrunePosition | undefined; ;) {
    const batch = await store.prune({ before, limit: batchSize, ...(after && { after }) });
    const { webhooks, events } = batch;
    after = batch.after;
    total.webhooks += webhooks;
    total.events += events;
    if (webhooks < batchSize && events < batchSize) return total;
  }
}
