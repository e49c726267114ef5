/**
 * Returns a function that calls `work`. While `work` runs, further calls return the promise of this run and
 * start no run of their own.
 */
export function joinCalls<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}
