import { closeClaims } from "../../checkout/payment-claims.js";
import { storeInTime, withTimeout } from "../../shared/with-timeout.js";
import { awaitedStates, type Payment } from "../../model/payment.js";
import { type EventRecord } from "../../store/index.js";
import { stampEvent, withoutKey } from "../../webhook/recording/payment-events.js";
import { type RecordingParts } from "../../webhook/recording/recording-parts.js";
import { rematch } from "../../webhook/recording/rematch.js";
import { inGroups, minPageSize } from "./in-groups.js";
import { type RaisingParts, raiseWaiting } from "./raise-waiting.js";

/** The result of one sweep. */
export interface Swept {
  /** The number of payments for which `payment.overdue` was raised. */
  overdue: number;
  /** The number of webhooks for which `payment.unmatched` or `payment.unconfirmed` was raised. */
  unmatched: number;
  /**
   * The number of payments about which the sweep asked the service, or which it looks for in the service's
   * list.
   */
  lookups: number;
}

/** The sweeper, which runs one sweep at a time. */
export type Sweeper = ReturnType<typeof createSweeper>;

/** The maximum number of pages in one sweep. The next sweep reads the payments that are left. */
const maxPagesPerSweep = 20;

/**
 * The maximum time for which a sweep waits for its lookups before it raises events, in milliseconds. An
 * answer within this time can make an event unnecessary. Slow lookups delay the events by no more than this
 * time.
 */
const maxLookupWaitMs = 2000;

/**
 * The maximum time of each step of a sweep, in milliseconds. Otherwise, a call of the store that never ends
 * would prevent all later steps and sweeps.
 */
const maxStepMs = 60_000;

/**
 * Makes the sweeper, which finds payments for which no webhook arrives. A sweep waits for `recorder` and
 * calls `lookups`. A sweep is bounded and safe to run in several processes, because each mark is committed
 * with its event, under a lock.
 */
export function createSweeper<Tx>(
  parts: RaisingParts<Tx>,
  { overdueMs, unmatchedAfterMs }: { overdueMs: number; unmatchedAfterMs: number },
  {
    recorder,
    lookups,
    announce = async () => 0,
    silence = { look: async () => {} },
  }: {
    recorder: { matched(): Promise<void> };
    lookups: { sweep(): Promise<number> } | undefined;
    /** Raises the events about entries that need a person, and resolves to the number of events. */
    announce?: () => Promise<number>;
    /** Notices when webhooks stop. */
    silence?: { look(): Promise<void> };
  },
) {
  let claims: { after?: string } = {};
  let running: Promise<Swept> | undefined;
  let failure: { count: number; error: unknown } | undefined;

  async function sweepOnce(): Promise<Swept> {
    const { looking, errors, ...raised } = await raiseAll();
    // From here on, `sweep` starts a new sweep, which joins the lookups that may still run.
    running = undefined;
    if (errors.length > 0) throw errors[0];
    return { ...raised, lookups: (await looking) ?? 0 };
  }

  /**
   * Starts the lookups, and raises the events. Resolves while the lookups, `looking`, may still run. A failed
   * step prevents no later step, because only one record may be the cause.
   */
  async function raiseAll() {
    const errors: unknown[] = [];
    const step = stepRunner(errors);
    // Events need the handlers of this process to be registered.
    await storeInTime(parts.ready(), maxStepMs);
    // A webhook that is being matched is locked, and would be skipped.
    await step(() => recorder.matched());
    // An error of the lookups does not prevent the events. The error rejects the sweep at its end.
    const looking = lookups?.sweep();
    if (looking)
      await withTimeout(
        looking.catch(() => {}),
        maxLookupWaitMs,
      );
    const unmatched = (await step(() => raiseWaiting(parts, unmatchedAfterMs))) ?? 0;
    const overdue = (await step(() => sweepOverdue(parts, overdueMs))) ?? 0;
    // The next sweep reads the next page.
    claims = (await step(() => closeClaims(parts.store, { ...claims, limit: parts.maxGroup }))) ?? claims;
    const announced = (await step(announce)) ?? 0;
    await step(() => silence.look());
    // A failed step may have raised events too.
    if (overdue + unmatched + announced > 0 || errors.length > 0) parts.announceEvents();
    return { overdue, unmatched, looking, errors };
  }

  return {
    /** Sweeps, or joins the running sweep of this process if that sweep has not raised all its events yet. */
    sweep() {
      if (running) return running;
      const sweep: Promise<Swept> = sweepOnce().finally(() => {
        if (running === sweep) running = undefined;
      });
      sweep.then(
        () => (failure = undefined),
        (error: unknown) => (failure = { count: (failure?.count ?? 0) + 1, error }),
      );
      return (running = sweep);
    },
    /** Returns the number of failed sweeps in a row and the last error; `undefined` after a success. */
    failure: () => failure,
    /** Resolves when no sweep raises anything any more. Never rejects. */
    async idle() {
      await running?.catch(() => {});
    },
  };
}

/** Returns a function that runs a step. If the step fails, adds the error to `errors`. */
function stepRunner(errors: unknown[]) {
  return async <T>(run: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await storeInTime(run(), maxStepMs);
    } catch (error) {
      errors.push(error);
      return undefined;
    }
  };
}

/**
 * Decides the parked webhooks of overdue payments again, then raises `payment.overdue` once for each payment.
 * Reads pages in the order of (createdAt, clientId), so that every payment is reached.
 */
async function sweepOverdue<Tx>(parts: RaisingParts<Tx>, overdueMs: number): Promise<number> {
  const { store, cautiousNow } = parts;
  const limit = Math.max(parts.maxGroup, minPageSize);
  const before = new Date(cautiousNow().getTime() - overdueMs).toISOString();
  let raised = 0;
  let after: { createdAt: string; clientId: string } | undefined;
  for (let pages = 0; pages < maxPagesPerSweep; pages++) {
    const page: Payment[] = await store.due({ before, ...(after && { after }), limit });
    const last = page.at(-1);
    if (!last) break;
    const clientIds = page.map(({ clientId }) => clientId);
    const counts = await inGroups(store, clientIds, async (some) => {
      await rematch(parts, some);
      return raiseOverdue(parts, some);
    });
    for (const count of counts) raised += count;
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
