import { setMaxListeners } from "node:events";

/**
 * Returns a signal that aborts when one of the others does, until it is released. `AbortSignal.any` of Node
 * 20 would leave an entry in each of the others for as long as they live.
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
