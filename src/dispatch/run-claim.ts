import { setTimeout as delay } from "node:timers/promises";
import { withoutSecrets } from "../errors/conceal-secrets.js";
import { hasCode, TillkitError } from "../errors/index.js";
import { type TillkitEvent } from "../model/event-map.js";
import { type Claim, type PaymentStore, type Settlement } from "../store/index.js";
import { withTimeout } from "../shared/with-timeout.js";
import { guardRun, idOf, leaseLost } from "./guard-run.js";
import { type RetryOptions } from "./handler.js";
import { type AnyHandler } from "./handlers.js";

/**
 * The maximum number of successive runs of one dispatch that are released because the store failed. A further
 * such run counts as failed, because the handler probably causes the failure itself.
 */
const maxLosses = 5;

/** The maximum number of dispatches whose losses are counted. */
const maxCountedLosses = 10_000;

/** The time, beyond the length of a lease, for which a run waits until the store has stored its result. */
const maxSettleMs = 5000;

/** The pause before another attempt to store the end of a run. */
const settlePauseMs = 200;

/** Options of {@link runClaim}. */
export interface RunOptions<Tx> {
  store: PaymentStore<Tx>;
  leaseMs: number;
  handlerTimeoutMs: number;
  /** Whether several runs of this handler may share a transaction. @default false */
  isShared?: boolean;
  /** The number of runs that may end without a settlement, by a crash, before the dispatch is dead. */
  maxLostLeases: number;
  retry: RetryOptions;
  /** For each idempotency key, the number of successive runs that were released because the store failed. */
  losses: Map<string, number>;
  /** Called if the transaction of an ended run is still open. `ended` settles when the transaction ends. */
  onHanging: (claim: Claim, ended: Promise<unknown>) => void;
}

/** The result of a run. `lost`: another process has the dispatch, or the store did not report its state. */
export type RunResult =
  | { state: "done" }
  | { state: "released" }
  | { state: "released"; retryInMs: number; error: unknown }
  | { state: "lost"; error: unknown }
  | { state: "failed"; failures: number; error: unknown }
  | { state: "dead"; error: unknown };

/** Runs one claimed dispatch and settles it, or releases the claim on `closing`. Never rejects. */
export async function runClaim<Tx>(
  options: RunOptions<Tx>,
  claim: Claim,
  handler: AnyHandler<Tx>,
  closing: AbortSignal,
): Promise<RunResult> {
  const { store, maxLostLeases, losses } = options;
  const lostLeases = claim.attempt - 1 - claim.failures;
  if (lostLeases >= maxLostLeases) {
    const error = new TillkitError(
      "handler_crashed_often",
      `The process ended during ${lostLeases} runs of "${claim.handler}".`,
    );
    return settleInTime(options, claim, { state: "dead", error }, closing);
  }

  const run = startRun(options, claim, handler, closing);
  const { guard } = run;
  const transaction = watch(
    options.isShared && store.runShared
      ? store.runShared(async (part) => {
          await part(run.call);
          guard.throwIfEnded();
          return [idOf(claim)];
        })
      : store.runHandler(run.call, async (tx) => {
          guard.throwIfEnded();
          if (!(await store.settle(tx, { ...idOf(claim), state: "done", isLast: true })))
            throw leaseLost(claim);
        }),
  );
  try {
    await Promise.race([transaction.ended, guard.overdue]);
    losses.delete(run.idempotencyKey);
    return { state: "done" };
  } catch (thrown) {
    if (transaction.isOpen()) options.onHanging(claim, transaction.ended);
    return await settleFailed(options, claim, run, thrown, closing);
  } finally {
    guard.stop();
  }
}

/**
 * A run of a handler. The lease is renewed and the time limit of the run is active until `guard.stop` is
 * called.
 */
export interface StartedRun<Tx> {
  idempotencyKey: string;
  guard: ReturnType<typeof guardRun>;
  /** Calls the handler. */
  call: (tx: Tx) => Promise<unknown>;
  /** Returns whether the store has called `call`. */
  isCalled: () => boolean;
}

/** Starts the lease and the time limit of a run. */
export function startRun<Tx>(
  options: RunOptions<Tx>,
  claim: Claim,
  handler: AnyHandler<Tx>,
  closing: AbortSignal,
): StartedRun<Tx> {
  const idempotencyKey = idempotencyKeyOf(claim);
  const guard = guardRun(options, claim, closing);
  let isCalled = false;
  const call = (tx: Tx): Promise<unknown> => {
    isCalled = true;
    // A store that hung may call back after the run was given up.
    guard.throwIfEnded();
    const context = {
      tx,
      get signal() {
        return guard.signal();
      },
      idempotencyKey,
      attempt: claim.attempt,
    };
    return guard.race(async () => handler(handlerEvent(claim), context));
  };
  return { idempotencyKey, guard, call, isCalled: () => isCalled };
}

/** Stores the result of a run that failed and was rolled back. Resolves to the result. */
export async function settleFailed<Tx>(
  options: RunOptions<Tx>,
  claim: Claim,
  { idempotencyKey, guard, isCalled }: StartedRun<Tx>,
  thrown: unknown,
  closing: AbortSignal,
): Promise<RunResult> {
  const { losses } = options;
  const error = causeOf(readable(thrown), guard.abortReason());
  // A store may refuse a run before it calls the handler, for example because a session is unsafe.
  const isLost = isLoss(error) || (!isCalled() && !guard.abortReason());
  const lost = losses.get(idempotencyKey) ?? 0;
  const counted = isLost && lost < maxLosses ? lost + 1 : 0;
  const ended = resultOf(options, claim, error, counted, guard.isClosing());
  const result = await settleInTime(options, claim, ended, closing);
  if (result.state === "released" && "error" in result) losses.set(idempotencyKey, lost + 1);
  else if (result.state !== "failed" || !isLost) losses.delete(idempotencyKey);
  // So many losses mean an outage. The counts may be wrong after the outage, because other processes run
  // dispatches, too.
  if (losses.size > maxCountedLosses) losses.clear();
  return result;
}

function resultOf<Tx>(
  { retry }: RunOptions<Tx>,
  claim: Claim,
  error: unknown,
  losses: number,
  isClosing: boolean,
): RunResult {
  if (hasCode(error, "lease_lost")) return { state: "lost", error };
  if (isClosing) return { state: "released" };
  // The database or the connection failed, and not the handler.
  if (losses > 0) return { state: "released", retryInMs: retryDelay(losses, retry), error };
  const failures = claim.failures + 1;
  return failures >= retry.maxFailures ? { state: "dead", error } : { state: "failed", failures, error };
}

/** Returns the reason why a run ended: the store's error, the reason of an abort, or the handler's error. */
function causeOf(thrown: unknown, abortReason: { reason: unknown } | undefined): unknown {
  const isFromStore = hasCode(thrown, "lease_lost") || isLoss(thrown);
  return abortReason && !isFromStore ? abortReason.reason : thrown;
}

/** Returns whether the store failed, and not the handler. */
function isLoss(error: unknown): boolean {
  return hasCode(error, "store_unavailable") || hasCode(error, "adapter_defective");
}

/**
 * Stores the result of a run, except `done` and `lost`. If this fails, the lease ends, and a later claim
 * takes the dispatch. After a failure of the store, tries again for the length of a lease. Otherwise the run
 * would count as a crash.
 */
export async function settle<Tx>(
  { store, leaseMs, retry }: RunOptions<Tx>,
  claim: Claim,
  result: RunResult,
  closing: AbortSignal,
): Promise<RunResult> {
  if (result.state === "lost") return result;
  const settlement: Settlement = {
    ...idOf(claim),
    state: result.state,
    ...("error" in result && result.state !== "released" && { error: describeError(result.error) }),
    ...("failures" in result && { retryInMs: retryDelay(result.failures, retry) }),
    ...("retryInMs" in result && { retryInMs: result.retryInMs }),
  };
  const giveUpAt = performance.now() + ("retryInMs" in result ? leaseMs : 0);
  for (;;) {
    try {
      return (await store.transaction((tx) => store.settle(tx, settlement)))
        ? result
        : { state: "lost", error: leaseLost(claim) };
    } catch (error) {
      if (closing.aborted || performance.now() >= giveUpAt) return { state: "lost", error };
      await delay(settlePauseMs, undefined, { signal: closing, ref: false }).catch(() => undefined);
    }
  }
}

/** Stores the result of a run. Gives up if the store hangs, because the lease ends by itself. */
async function settleInTime<Tx>(
  options: RunOptions<Tx>,
  claim: Claim,
  result: RunResult,
  closing: AbortSignal,
): Promise<RunResult> {
  const settling = settle(options, claim, result, closing);
  const settled = await withTimeout(settling, options.leaseMs + maxSettleMs, undefined, { unref: true });
  if (settled) return settled;
  options.onHanging(claim, settling);
  return { state: "lost", error: leaseLost(claim) };
}

/** Returns the wait before the next run. Half is random, to spread the runs of simultaneous failures. */
function retryDelay(failures: number, { firstDelayMs, maxDelayMs }: RetryOptions): number {
  const full = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 40));
  return Math.round(full / 2 + (full / 2) * Math.random());
}

/** Returns the idempotency key of a claim. */
export function idempotencyKeyOf({ event, handler }: Claim): string {
  return `${event.id}:${handler}`;
}

/** Returns the event of a claim in the form that handlers get. */
export function handlerEvent({ event }: Claim): TillkitEvent {
  const { id, type, recordedAt, payload } = event;
  return Object.freeze({ ...payload, id, type, recordedAt }) as unknown as TillkitEvent;
}

/** Returns the value that a handler threw, or an error if the value cannot be read as text. */
function readable(thrown: unknown): unknown {
  try {
    describeError(thrown);
    isLoss(thrown);
    return thrown;
  } catch {
    return new TypeError("The handler threw a value that cannot be read as text.");
  }
}

/** Returns an error as a text for people, without secrets and with at most 2000 characters. */
export function describeError(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  // Secrets are replaced first, because a part of a secret would not be recognised.
  return withoutSecrets(text).slice(0, 2000);
}

/** Returns the promise with a function that returns whether it is still pending. */
export function watch(ended: Promise<void>) {
  let isOpen = true;
  const close = (): void => void (isOpen = false);
  ended.then(close, close);
  return { ended, isOpen: () => isOpen };
}
