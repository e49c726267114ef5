import { TillkitError } from "../errors/index.js";
import { type PaymentStore } from "../store/index.js";

/** Runs application code with a `tx`, and then `finish` as the last statement of the same transaction. */
export async function runInTransaction<Tx>(
  store: PaymentStore<Tx>,
  run: (tx: Tx) => Promise<unknown>,
  finish: (tx: Tx) => Promise<void>,
): Promise<void> {
  if (!store.lazy) {
    return store.transaction(async (tx) => {
      await run(tx);
      await finish(tx);
    });
  }

  // The store runs a callback in a transaction, but the application code decides only later whether it needs one.
  // So the callback hands its `tx` out, and then waits for the outcome of the run.
  const outcome = deferred();
  let opened: Promise<void> | undefined;
  const open = (): Promise<Tx> => {
    if (outcome.settled()) return Promise.reject(tooLate());
    return new Promise<Tx>((resolve, reject) => {
      opened = store.transaction(async (tx) => {
        resolve(tx);
        await outcome.promise;
        await finish(tx);
      });
      opened.catch(reject);
    });
  };

  try {
    await run(store.lazy(open));
    outcome.resolve();
  } catch (error) {
    outcome.reject(error);
    // Waits for the rollback: the next run must not meet its locks. A transaction that ended before the run throws its own error.
    await opened;
    throw error;
  }
  if (opened) return opened;
  return store.transaction(finish);
}

function tooLate(): TillkitError {
  return new TillkitError("transaction_closed", "tx was first used after the handler had resolved.");
}

function deferred() {
  let settled = false;
  let settle!: { resolve: () => void; reject: (error: unknown) => void };
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => {}); // Without a transaction nothing else handles the rejection.
  return {
    promise,
    settled: () => settled,
    resolve() {
      settled = true;
      settle.resolve();
    },
    reject(error: unknown) {
      settled = true;
      settle.reject(error);
    },
  };
}
