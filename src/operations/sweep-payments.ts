import { awaitedStates, type Payment } from "../model/payment.js";
import { type EventRecord } from "../store/index.js";
import { stampEvent, withoutKey } from "../webhook/recording/payment-events.js";
import { rematch, type RecordingParts } from "../webhook/recording/rematch.js";
import { raiseWaiting } from "./raise-waiting.js";

/** What one sweep did. */
export interface Swept {
  /** The number of payments that `payment.overdue` was raised for. */
  overdue: number;
  /** The number of webhooks that `payment.unmatched` or `payment.unconfirmed` was raised for. */
  unmatched: number;
  /** The number of payments that the service was asked about. */
  lookups: number;
}

/** Sweeps one at a time. */
export type Sweeper = ReturnType<typeof createSweeper>;

/** The next sweep continues: payments that were raised are not returned again. */
const maxPagesPerSweep = 20;

/**
 * Makes the sweeper of payments that no webhook arrives for. It waits for `intake`, and then calls `lookups`. A sweep is
 * bounded and safe to run in several processes: each mark is committed with its event, under a lock.
 */
export function createSweeper<Tx>(
  parts: RecordingParts<Tx>,
  { overdueMs, unmatchedAfterMs }: { overdueMs: number; unmatchedAfterMs: number },
  {
    intake,
    lookups,
  }: { intake: { matched(): Promise<void> }; lookups: { sweep(): Promise<number> } | undefined },
) {
  let running: Promise<Swept> | undefined;

  async function sweepOnce(): Promise<Swept> {
    // Events need the handlers of this process to be registered.
    await parts.ready();
    // A webhook that is being matched is locked, and would be skipped.
    await intake.matched();
    // Lookups come first, so that nothing is raised that an answer settles. A failed lookup raises a notice.
    const lookedUp = (await lookups?.sweep()) ?? 0;
    const unmatched = await raiseWaiting(parts, unmatchedAfterMs);
    const overdue = await sweepOverdue(parts, overdueMs);
    if (overdue + unmatched > 0) parts.announceEvents();
    return { overdue, unmatched, lookups: lookedUp };
  }

  return {
    /** Sweeps, or joins the sweep that this process runs already. */
    sweep: () => (running ??= sweepOnce().finally(() => (running = undefined))),
    /** Resolves when no sweep runs any more. Never rejects. */
    async idle() {
      await running?.catch(() => {});
    },
  };
}

/**
 * Raises `payment.overdue`, once for each payment, and matches their parked webhooks again. Reads pages in the order of
 * (createdAt, clientId), so that every payment is reached.
 */
async function sweepOverdue<Tx>(parts: RecordingParts<Tx>, overdueMs: number): Promise<number> {
  const { store, now, maxGroup: limit } = parts;
  if (!store.due) return 0;
  const before = new Date(now().getTime() - overdueMs).toISOString();
  let raised = 0;
  let after: { createdAt: string; clientId: string } | undefined;
  for (let pages = 0; pages < maxPagesPerSweep; pages++) {
    const page: Payment[] = await store.due({ before, ...(after && { after }), limit });
    const last = page.at(-1);
    if (!last) break;
    const clientIds = page.map(({ clientId }) => clientId);
    await rematch(parts, clientIds);
    raised += await raiseOverdue(parts, clientIds);
    if (page.length < limit) break;
    after = { createdAt: last.createdAt, clientId: last.clientId };
  }
  return raised;
}

async function raiseOverdue<Tx>(
  { store, now, newId }: RecordingParts<Tx>,
  clientIds: readonly string[],
): Promise<number> {
  const wanted = new Set(clientIds);
  return store.transaction(async (tx) => {
    const { payments } = await store.lock(tx, { clientIds });
    const recordedAt = now().toISOString();
    const updated = payments
      .filter(
        ({ clientId, state, overdueAt }) =>
          wanted.has(clientId) && awaitedStates.includes(state) && overdueAt === undefined,
      )
      .map((payment) => ({ ...payment, overdueAt: recordedAt, updatedAt: recordedAt }));
    const events = updated.map((payment): EventRecord => {
      const draft = { type: "payment.overdue", payload: { payment: withoutKey(payment) } } as const;
      return stampEvent(draft, { newId, recordedAt, clientId: payment.clientId });
    });
    if (events.length > 0) await store.save(tx, { updated, events });
    return events.length;
  });
}
