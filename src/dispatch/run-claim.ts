import { hasCode, TillkitError } from "../errors/index.js";
import { withoutSecrets } from "../errors/conceal-secrets.js";
import { type TillkitEvent } from "../model/event-map.js";
import { type Claim, type PaymentStore, type Settlement } from "../store/index.js";
import { type AnyHandler } from "./handlers.js";
import { retryDelay, type RetryOptions } from "./retry-delay.js";
import { runInTransaction } from "./run-in-transaction.js";

/** What a run needs. */
export interface RunOptions<Tx> {
  store: PaymentStore<Tx>;
  leaseMs: number;
  handlerTimeoutMs: number;
  /** Claims that may end without any word, because the process died, before the dispatch is dead. */
  maxLostLeases: number;
  retry: RetryOptions;
}

/** How a run ended. `lost`: another process has it, or nobody can tell; the store knows. */
export type RunResult =
  | { state: "done" }
  | { state: "released" }
  | { state: "lost"; error: unknown }
  | { state: "failed"; failures: number; error: unknown }
  | { state: "dead"; error: unknown };

/** Runs one claimed dispatch to its settlement. `closing` aborts it and gives the claim back. Never rejects. */
export async function runClaim<Tx>(
  options: RunOptions<Tx>,
  claim: Claim,
  handler: AnyHandler<Tx>,
  closing: AbortSignal,
): Promise<RunResult> {
  const { store, maxLostLeases } = options;
  const lostLeases = claim.attempt - 1 - claim.failures;
  if (lostLeases >= maxLostLeases) {
    const error = new TillkitError(
      "handler_crashed_often",
      `The process ended during ${lostLeases} runs of "${claim.handler}".`,
    );
    return settle(store, claim, { state: "dead", error }, options.retry);
  }

  const guard = guardRun(options, claim, closing);
  try {
    await runInTransaction(
      store,
      (tx) => {
        const context = {
          tx,
          get signal() {
            return guard.signal();
          },
          idempotencyKey: `${claim.event.id}:${claim.handler}`,
          attempt: claim.attempt,
        };
        const run = Promise.resolve(handler(eventOf(claim), context));
        return Promise.race([run, guard.aborted]);
      },
      async (tx) => {
        guard.throwIfAborted();
        if (!(await store.settle(tx, { ...idOf(claim), state: "done", isLast: true })))
          throw leaseLost(claim);
      },
    );
    return { state: "done" };
  } catch (error) {
    return await settle(store, claim, resultOf(options, claim, error, closing), options.retry);
  } finally {
    guard.end();
  }
}

/** The time limit of a run, the renewal of its lease, and the end of the process, in one. */
function guardRun<Tx>(options: RunOptions<Tx>, claim: Claim, closing: AbortSignal) {
  const { store, leaseMs, handlerTimeoutMs } = options;
  let aborted: { reason: unknown } | undefined;
  // Made when it is asked for, which few handlers do: 2.3 of the 8.3 µs that the kit itself needed for a run.
  let controller: AbortController | undefined;
  let reject!: (reason: unknown) => void;
  const abort = (reason: unknown): void => {
    if (aborted) return;
    aborted = { reason };
    controller?.abort(reason);
    reject(reason);
  };
  const rejected = new Promise<never>((_, refuse) => (reject = refuse));
  rejected.catch(() => {}); // A run that ends first leaves nobody listening.

  const limitMs = store.renew ? handlerTimeoutMs : Math.min(handlerTimeoutMs, leaseMs);
  const timeout = setTimeout(() => {
    abort(new TillkitError("handler_timeout", `"${claim.handler}" ran longer than ${limitMs} ms.`));
  }, limitMs);
  const renewal = setInterval(() => {
    // An error is no proof that the lease is lost; the fence decides at the commit.
    store.renew?.(idOf(claim), leaseMs).then(
      (kept) => void (kept || abort(leaseLost(claim))),
      () => {},
    );
  }, leaseMs / 3);
  const onClosing = () => abort(closing.reason);
  if (closing.aborted) onClosing();
  closing.addEventListener("abort", onClosing);

  return {
    signal(): AbortSignal {
      controller ??= new AbortController();
      if (aborted) controller.abort(aborted.reason);
      return controller.signal;
    },
    aborted: rejected,
    throwIfAborted() {
      if (aborted) throw aborted.reason;
    },
    end() {
      clearTimeout(timeout);
      clearInterval(renewal);
      closing.removeEventListener("abort", onClosing);
    },
  };
}

function resultOf<Tx>(
  { retry }: RunOptions<Tx>,
  claim: Claim,
  error: unknown,
  closing: AbortSignal,
): RunResult {
  if (hasCode(error, "lease_lost")) return { state: "lost", error };
  if (closing.aborted && error === closing.reason) return { state: "released" };
  const failures = claim.failures + 1;
  return failures >= retry.maxFailures ? { state: "dead", error } : { state: "failed", failures, error };
}

/** Writes down a run that did not end well. Where that fails too, the lease runs out and the next claimer sees. */
async function settle<Tx>(
  store: PaymentStore<Tx>,
  claim: Claim,
  result: RunResult,
  retry: RetryOptions,
): Promise<RunResult> {
  if (result.state === "lost" || result.state === "done") return result;
  const settlement: Settlement = {
    ...idOf(claim),
    state: result.state,
    ...("error" in result && { error: describe(result.error) }),
    ...(result.state === "failed" && { retryInMs: retryDelay(result.failures, retry) }),
  };
  try {
    return (await store.transaction((tx) => store.settle(tx, settlement)))
      ? result
      : { state: "lost", error: leaseLost(claim) };
  } catch (error) {
    return { state: "lost", error };
  }
}

/** The event as handlers see it. */
export function eventOf({ event }: Claim): TillkitEvent {
  const { id, type, recordedAt, payload } = event;
  return Object.freeze({ ...payload, id, type, recordedAt }) as unknown as TillkitEvent;
}

/** An error as it is kept for people. */
export function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  // Before it is cut: half a secret would not be recognised any more.
  return withoutSecrets(text).slice(0, 2000);
}

function idOf({ event, handler, fence }: Claim) {
  return { eventId: event.id, handler, fence };
}

function leaseLost(claim: Claim): TillkitError {
  return new TillkitError("lease_lost", `The lease of "${claim.handler}" on ${claim.event.id} was lost.`);
}
