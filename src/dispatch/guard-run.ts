import { TillkitError } from "../errors/index.js";
import { type Claim, type PaymentStore, type RunKey } from "../store/index.js";

/** The time in which the transaction must end after its run has ended. */
const maxRollbackMs = 1000;

/** The maximum time between two checks of the clock, and its maximum part of the time limit. */
const maxSliceMs = 1000;
const maxSlicePart = 0.1;

/** The maximum delay of a timer in a process that is busy but not blocked. */
const maxDelayMs = 100;

/** The maximum time of a run, as a multiple of its limit, if the process was blocked during the run. */
const maxExtension = 10;

/** Options of {@link guardRun}. */
export interface GuardOptions {
  store: Pick<PaymentStore, "renew">;
  leaseMs: number;
  handlerTimeoutMs: number;
}

/** Aborts a run at its time limit, when its lease is lost, or at close. Renews the lease during the run. */
export function guardRun(
  { store, leaseMs, handlerTimeoutMs }: GuardOptions,
  claim: Claim,
  closing: AbortSignal,
) {
  let ended: { reason: unknown; isAbort: boolean } | undefined;
  // The controller is made at the first use, because it is expensive, and few handlers use it.
  let controller: AbortController | undefined;
  let rollback: NodeJS.Timeout | undefined;
  const [aborted, overdue] = [rejectable(), rejectable()];

  const end = (reason: unknown, isAbort: boolean): void => {
    if (ended) return;
    ended = { reason, isAbort };
    stop();
    // The lease lasts longer than this timeout, so that the end of the run can still be stored.
    rollback = setTimeout(() => overdue.reject(reason), Math.min(leaseMs / 3, maxRollbackMs));
    if (!isAbort) return;
    // Rejects before the signal aborts, so that the handler's own error after the abort is not the result.
    aborted.reject(reason);
    controller?.abort(reason);
  };
  const abort = (reason: unknown): void => end(reason, true);

  const stopLimit = startTimeLimit(handlerTimeoutMs, () => {
    abort(new TillkitError("handler_timeout", `"${claim.handler}" ran longer than ${handlerTimeoutMs} ms.`));
  });
  const renewal = setInterval(() => {
    // An error does not prove that the lease is lost. At the commit, the fence decides.
    store.renew(idOf(claim), leaseMs).then(
      (kept) => void (kept || abort(leaseLost(claim))),
      () => {},
    );
  }, leaseMs / 3);
  const onClosing = () => abort(closing.reason);
  closing.addEventListener("abort", onClosing);
  function stop(): void {
    stopLimit();
    clearInterval(renewal);
    closing.removeEventListener("abort", onClosing);
  }
  if (closing.aborted) onClosing();

  return {
    /** Rejects if the transaction of the run is still open some time after the run has ended. */
    overdue: overdue.promise,
    /** Runs the handler until it ends or is aborted. */
    race(run: () => Promise<unknown>): Promise<unknown> {
      const running = run();
      running.catch((error: unknown) => end(error, false));
      return Promise.race([running, aborted.promise]);
    },
    signal(): AbortSignal {
      controller ??= new AbortController();
      if (ended?.isAbort) controller.abort(ended.reason);
      return controller.signal;
    },
    throwIfEnded() {
      if (ended) throw ended.reason;
    },
    /** Returns the reason of the abort, unless the handler had failed before. */
    abortReason: () => (ended?.isAbort ? ended : undefined),
    isClosing: () => closing.aborted && ended?.isAbort === true && ended.reason === closing.reason,
    stop() {
      stop();
      clearTimeout(rollback);
    },
  };
}

/**
 * Calls `onEnd` after `limitMs`. Time in which the event loop of this process was blocked does not count, but
 * `onEnd` is called at the latest after `maxExtension` times `limitMs`. Returns a function that prevents the
 * call.
 */
export function startTimeLimit(limitMs: number, onEnd: () => void): () => void {
  const startedAt = performance.now();
  let lookedAt = startedAt;
  let leftMs = limitMs;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const sliceMs = Math.min(leftMs, maxSliceMs, Math.ceil(limitMs * maxSlicePart));
    timer = setTimeout(() => {
      const now = performance.now();
      leftMs -= Math.min(Math.max(now - lookedAt, sliceMs), sliceMs + maxDelayMs);
      lookedAt = now;
      if (leftMs > 0 && now - startedAt < limitMs * maxExtension) wait();
      else onEnd();
    }, sliceMs);
  };
  wait();
  return () => clearTimeout(timer);
}

/** Returns a promise with a function that rejects it. An unhandled rejection of this promise does no harm. */
function rejectable() {
  let reject!: (reason: unknown) => void;
  const promise = new Promise<never>((_, refuse) => (reject = refuse));
  promise.catch(() => {});
  return { promise, reject };
}

/** Returns the key that identifies the run of a claim. */
export function idOf({ event, handler, fence }: Claim): RunKey {
  return { eventId: event.id, handler, fence };
}

export function leaseLost(claim: Claim): TillkitError {
  return new TillkitError("lease_lost", `The lease of "${claim.handler}" on ${claim.event.id} was lost.`);
}
