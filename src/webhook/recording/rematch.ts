import { type EventRecord, type PaymentStore, type Rematched } from "../../store/index.js";
import { Books } from "./books.js";
import { decideReport } from "./decide-message.js";
import { type Policy } from "./policy.js";
import { readStored } from "./read-stored.js";

/** What matching parked webhooks needs. */
export interface Rematching<Tx> {
  store: PaymentStore<Tx>;
  now: () => Date;
  newId: () => string;
  policy: Policy;
}

/**
 * Decides the webhooks that were parked for these payments again, in one transaction, now that the payments are
 * known. Resolves to how many found theirs. Repeating it is harmless.
 */
export async function rematchParked<Tx>(
  { store, now, newId, policy }: Rematching<Tx>,
  named: readonly string[],
): Promise<number> {
  // Named once for each webhook that waits; a store may answer as often as it is asked.
  const clientIds = [...new Set(named)];
  if (!store.parked || clientIds.length === 0) return 0;
  return store.transaction(async (tx) => {
    const webhooks = (await store.parked?.(tx, clientIds)) ?? [];
    if (webhooks.length === 0) return 0;
    const reports = webhooks.map(readStored);
    const serviceIds = reports.flatMap((message) =>
      message.kind === "payment" ? [message.report.serviceId] : [],
    );
    const books = new Books((await store.lock(tx, { clientIds, serviceIds })).payments);

    // Another process may have matched them while this one waited for the lock.
    const parkedNow = (await store.parked?.(tx, clientIds)) ?? [];
    const still = new Set(parkedNow.map(({ receiptId }) => receiptId));
    const at = now().toISOString();
    const rematched: Rematched[] = [];
    const events: EventRecord[] = [];
    for (const [index, arrival] of webhooks.entries()) {
      const { receiptId } = arrival;
      const message = reports[index]!;
      if (!still.has(receiptId) || message.kind !== "payment") continue;
      if (!books.find(message.report.clientId)) continue;
      const decided = decideReport(books, message.report, { known: false, now: at, arrival, policy });
      // One that goes on waiting is as it was.
      if (decided.outcome === "duplicate" || decided.outcome === arrival.outcome) continue;
      const { outcome, reason } = decided;
      rematched.push({ receiptId, outcome, ...(reason !== undefined && { reason }), decidedAt: at });
      const { clientId } = message.report;
      for (const draft of decided.events) events.push({ id: newId(), ...draft, clientId, recordedAt: at });
    }
    if (rematched.length > 0) await store.save(tx, { updated: books.changed(), rematched, events });
    return rematched.length;
  });
}
