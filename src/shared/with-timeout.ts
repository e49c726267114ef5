import { setMaxListeners } from "node:events";
import { TillkitError } from "../errors/index.js";

/** Options of {@link withTimeout}. */
export interface TimeoutOptions {
  /**
   * Whether the process may end while the timer runs.
   *
   * @default false
   */
  unref?: boolean;
}

/**
 * Settles as `work` does, if `work` takes at most `ms` milliseconds. After this time, rejects with the error
 * of `makeError`. If there is no `makeError`, resolves with `undefined` instead. The work itself continues,
 * and its later rejection is ignored.
 */
export function withTimeout<T>(
  work: Promise<T>,
  ms: number,
  makeError?: undefined,
  options?: TimeoutOptions,
): Promise<T | undefined>;
export function withTimeout<T>(
  work: Promise<T>,
  ms: number,
  makeError: () => Error,
  options?: TimeoutOptions,
): Promise<T>;
export async function withTimeout<T>(
  work: Promise<T>,
  ms: number,
  makeError?: () => Error,
  { unref = false }: TimeoutOptions = {},
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<undefined>((resolve, reject) => {
    timer = setTimeout(() => (makeError ? reject(makeError()) : resolve(undefined)), ms);
    if (unref) timer.unref();
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Settles as the call of a store does. After `ms` milliseconds, rejects with `store_unavailable`. By default,
 * the process may end while the timer runs.
 */
export function storeInTime<T>(
  call: Promise<T>,
  ms: number,
  { unref = true }: TimeoutOptions = {},
): Promise<T> {
  const tooSlow = () => new TillkitError("store_unavailable", `The store did not answer within ${ms} ms.`);
  return withTimeout(call, ms, tooSlow, { unref });
}

/**
 * Returns a signal that aborts when one of the given signals does, until `release` is called.
 * `AbortSignal.any` of Node 20 would leave an entry in each given signal for as long as the signal lives.
 */
export function anySignal(signals: readonly AbortSignal[]): { signal: AbortSignal; release: () => void } {
  const any = new AbortController();
  const abort = (): void => any.abort(signals.find(({ aborted }) => aborted)?.reason);
  if (signals.some(({ aborted }) => aborted)) abort();
  setMaxListeners(0, ...signals);
  for (const each of signals) each.addEventListener("abort", abort);
  const release = (): void => {
    for (const each of signals) each.removeEventListener("abort", abort);
  };
  return { signal: any.signal, release };
}
