import { type Dispatcher } from "../dispatch/dispatcher.js";
import { loggable } from "../errors/conceal-secrets.js";
import { TillkitError } from "../errors/index.js";
import { type Lookups } from "../operations/lookup/lookups.js";
import { type Sweeper } from "../operations/sweep/sweep-payments.js";
import { joinCalls } from "../shared/join-calls.js";
import { describeUnknown } from "../shared/unknown-names.js";
import { storeInTime, withTimeout } from "../shared/with-timeout.js";
import { type Intake } from "../webhook/intake.js";
import { type Core } from "./core.js";
import { type StoreWatch } from "./watch-store.js";
import { type ResolvedOptions } from "./options/resolve-options.js";

interface BackgroundParts<Tx> {
  dispatcher: Dispatcher<Tx>;
  intake: Intake;
  lookups: Lookups<Tx> | undefined;
  sweeper: Sweeper;
  watch: StoreWatch<Tx>;
}

/** The maximum time in which running handlers can finish when the kit closes. */
const drainMs = 10_000;

/** The maximum time in which the store can close. The store may wait for a transaction that hangs. */
const maxStoreCloseMs = 20_000;

/** The maximum time in which the last webhooks are kept and the spool closes. The spool's disk may hang. */
const maxKeeperCloseMs = 20_000;

/**
 * The maximum time in which a sweep and the lookups can end. The sweep and the lookups may wait for a store
 * that hangs.
 */
const maxIdleMs = 5000;

/** The maximum time of the last registration of the handlers. The store may hang. */
const maxRegisterMs = 2000;

/** Returns `start` and `close` of the kit, which start and stop its work in the background. */
export function createBackground<Tx>(
  { store, ready, registerAgain, refused, logger }: Core<Tx>,
  { dispatches, sweepMs }: Pick<ResolvedOptions, "dispatches" | "sweepMs">,
  { dispatcher, intake, lookups, sweeper, watch }: BackgroundParts<Tx>,
) {
  let timer: NodeJS.Timeout | undefined;
  let stopWaking: (() => void) | undefined;
  let isClosed = false;

  /** Closes the spool. The service sends a webhook again that got no answer by then. */
  async function closeKeeper(): Promise<void> {
    const { keeper } = intake;
    const closed = keeper.close().then(() => true);
    if (await withTimeout(closed, maxKeeperCloseMs)) return;
    logger.error(
      { pending: keeper.pending },
      `the spool did not close within ${maxKeeperCloseMs} ms, because its disk or the store hangs; ` +
        `${keeper.pending} webhooks got no answer, and the next process records the webhooks of the spool`,
    );
  }

  /**
   * Registers the handlers for the last time. If the store lost a registration in the last seconds, the
   * events since then have no dispatches of that handler. No later process would notice these events.
   */
  async function registerLast(): Promise<void> {
    try {
      await storeInTime(registerAgain(), maxRegisterMs, { unref: false });
    } catch (error) {
      logger.warn({ err: loggable(error) }, "the handlers could not be registered again before the close");
    }
  }

  return {
    async start(options: { keepAlive?: boolean } = {}): Promise<void> {
      const { keepAlive = true } = options;
      const unknown = describeUnknown(options, { keepAlive });
      if (unknown !== undefined) throw new TillkitError("option_invalid", unknown);
      if (isClosed) return;
      if (dispatches) dispatcher.start({ keepAlive });
      stopWaking ??= store.wake?.(() => dispatcher.wake());
      // A failed sweep is ignored here, because the next sweep does its work, and the health reports it.
      timer ??= setInterval(() => void sweeper.sweep().catch(() => {}), sweepMs).unref();
      intake.keeper.start();
      refused?.start();
      try {
        await ready();
      } finally {
        // The watch starts even if the store is not available, because the store may come back as an older
        // copy.
        if (!isClosed) await watch.start();
      }
    },
    /** Closes every part, also after an error. Rejects at the end with the first error. Joins calls. */
    close: joinCalls(async (): Promise<void> => {
      const isFirst = !isClosed;
      isClosed = true;
      clearInterval(timer);
      // The steps of one group run at the same time, because each may wait for a store that hangs. The spool
      // stays open while handlers run, and the store is closed last.
      const groups: (() => unknown)[][] = [
        [
          () => stopWaking?.(),
          () => withTimeout(Promise.resolve(lookups?.close()), maxIdleMs),
          // The last check of the store may start a sweep.
          () => watch.close().then(() => withTimeout(sweeper.idle(), maxIdleMs)),
          () => dispatcher.stop(drainMs),
        ],
        [closeKeeper, () => withTimeout(Promise.resolve(refused?.close()), maxIdleMs)],
        [() => isFirst && registerLast()],
        [() => withTimeout(store.close(), maxStoreCloseMs)],
      ];
      const errors: unknown[] = [];
      for (const steps of groups)
        for (const ended of await Promise.allSettled(steps.map(async (step) => step())))
          if (ended.status === "rejected") errors.push(ended.reason);
      if (errors.length > 0) throw errors[0];
    }),
  };
}
