import { type Payment } from "../model/payment.js";
import { raiseWaiting, type RaisingWaiting } from "./raise-waiting.js";
import { withoutKey } from "../webhook/recording/payment-events.js";
import { type EventRecord } from "../store/index.js";

/** What sweeping needs. */
export interface Sweeping<Tx> extends RaisingWaiting<Tx> {
  /** Asks the service about payments that are due; resolves to how many. */
  lookUp: () => Promise<number>;
  overdueMs: number;
  /** Called after events were saved. */
  onEvents: () => void;
}

/** What one sweep did. */
export interface Swept {
  /** Payments that `payment.overdue` was raised for. */
  overdue: number;
  /** Webhooks that `payment.unmatched` or `payment.unconfirmed` was raised for. */
  unmatched: number;
  /** Payments that the service was asked about. */
  lookups: number;
}

const pageSize = 100;
/** One sweep raises no more than this; the next goes on where it ended, because what was raised is due no more. */
const pagesPerSweep = 20;

/**
 * Looks after what nobody speaks of: webhooks that wait, and payments that are open too long. Bounded, and safe to run
 * in several processes: each mark commits together with its event, under a lock.
 */
export async function sweepPayments<Tx>(kit: Sweeping<Tx>): Promise<Swept> {
  // First, so that nobody is told of what an answer settles. What fails is asked again, and told as a notice.
  const lookups = await kit.lookUp();
  const unmatched = await raiseWaiting(kit);
  const overdue = await sweepOverdue(kit);
  if (overdue + unmatched > 0) kit.onEvents();
  return { overdue, unmatched, lookups };
}

/**
 * Raises `payment.overdue`, once for each payment, and looks again for parked webhooks of theirs. Pages by (createdAt,
 * clientId), so that no payment starves another.
 */
async function sweepOverdue<Tx>(kit: Sweeping<Tx>): Promise<number> {
  const { store, overdueMs, now } = kit;
  if (!store.due) return 0;
  const before = new Date(now().getTime() - overdueMs).toISOString();
  let raised = 0;
  let after: { createdAt: string; clientId: string } | undefined;
  for (let pages = 0; pages < pagesPerSweep; pages++) {
    const page: Payment[] = await store.due({ before, ...(after && { after }), limit: pageSize });
    if (page.length > 0) {
      await kit.rematch(page.map(({ clientId }) => clientId));
      raised += await raiseOverdue(kit, page);
    }
    const last = page.at(-1);
    if (!last || page.length < pageSize) break;
    after = { createdAt: last.createdAt, clientId: last.clientId };
  }
  return raised;
}

async function raiseOverdue<Tx>(
  { store, now, newId }: Sweeping<Tx>,
  page: readonly Payment[],
): Promise<number> {
  const wanted = new Set(page.map(({ clientId }) => clientId));
  return store.transaction(async (tx) => {
    const { payments } = await store.lock(tx, { clientIds: [...wanted] });
    const at = now().toISOString();
    const updated = payments
      .filter(
        ({ clientId, state, overdueAt }) => wanted.has(clientId) && isOpen(state) && overdueAt === undefined,
      )
      .map((payment) => ({ ...payment, overdueAt: at, updatedAt: at }));
    const events = updated.map((payment): EventRecord => {
      const { clientId } = payment;
      const payload = { payment: withoutKey(payment) };
      return { id: newId(), type: "payment.overdue", clientId, recordedAt: at, payload };
    });
    if (events.length > 0) await store.save(tx, { updated, events });
    return events.length;
  });
}

function isOpen(state: Payment["state"]): boolean {
  return state === "creating" || state === "pending" || state === "uncertain";
}
