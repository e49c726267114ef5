import { TillkitError } from "../errors/index.js";
import { type Claim, type PaymentStore, type RunKey } from "../store/index.js";

/** The time in which the transaction of a run that has ended must end. */
const maxRollbackMs = 1000;

/** The maximum time between two looks at the clock. */
const maxSliceMs = 1000;

/** A timer may be this late in a process that is busy and not blocked. */
const maxDelayMs = 100;

/** The longest that a run may take, as a multiple of its limit, when time is given back to it. */
const maxExtension = 10;

/** Options of {@link guardRun}. */
export interface GuardOptions {
  store: Pick<PaymentStore, "renew">;
  leaseMs: number;
  handlerTimeoutMs: number;
}

/** Aborts a run at its time limit, when its lease is lost, and when the kit closes. Renews the lease until the run ends. */
export function guardRun(
  { store, leaseMs, handlerTimeoutMs }: GuardOptions,
  claim: Claim,
  closing: AbortSignal,
) {
  let ended: { reason: unknown; isAbort: boolean } | undefined;
  // Made at the first use, because it is expensive and few handlers use it.
  let controller: AbortController | undefined;
  let rollback: NodeJS.Timeout | undefined;
  const [aborted, overdue] = [rejectable(), rejectable()];

  const end = (reason: unknown, isAbort: boolean): void => {
    if (ended) return;
    ended = { reason, isAbort };
    stop();
    // The lease lasts longer than this, so that the end of the run can be stored.
    rollback = setTimeout(() => overdue.reject(reason), Math.min(leaseMs / 3, maxRollbackMs));
    if (!isAbort) return;
    // Before the signal: what the handler rejects with after the abort is not the reason of its end.
    aborted.reject(reason);
    controller?.abort(reason);
  };
  const abort = (reason: unknown): void => end(reason, true);

  const stopLimit = startTimeLimit(handlerTimeoutMs, () => {
    abort(new TillkitError("handler_timeout", `"${claim.handler}" ran longer than ${handlerTimeoutMs} ms.`));
  });
  const renewal = setInterval(() => {
    // An error does not prove that the lease is lost; the fence decides at the commit.
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
    /** Rejects where the transaction of the run has not ended some time after the run. */
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
    /** Returns what aborted the run, unless its handler had failed before. */
    abortReason: () => (ended?.isAbort ? ended : undefined),
    isClosing: () => closing.aborted && ended?.isAbort === true && ended.reason === closing.reason,
    stop() {
      stop();
      clearTimeout(rollback);
    },
  };
}

/**
 * Calls `onEnd` after `limitMs` in which this process could run: the time in which something blocked its event loop does not
 * count. Returns a function that prevents the call.
 */
export function startTimeLimit(limitMs: number, onEnd: () => void): () => void {
  const startedAt = performance.now();
  let lookedAt = startedAt;
  let leftMs = limitMs;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const sliceMs = Math.min(leftMs, maxSliceMs);
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

/** Returns a promise that can be rejected from outside, and need not be handled. */
function rejectable() {
  let reject!: (reason: unknown) => void;
  const promise = new Promise<never>((_, refuse) => (reject = refuse));
  promise.catch(() => {});
  return { promise, reject };
}

/** Returns what identifies the run of a claim. */
export function idOf({ event, handler, fence }: Claim): RunKey {
  return { eventId: event.id, handler, fence };
}

export function leaseLost(claim: Claim): TillkitError {
  return new TillkitError("lease_lost", `The lease of "${claim.handler}" on ${claim.event.id} was lost.`);
}
