import { TillkitError } from "../../errors/index.js";

/** A store that can open a transaction late. */
interface LateOpening<Tx> {
  transaction(run: (tx: Tx) => Promise<void>): Promise<void>;
  /** Returns a `tx` that calls `open` at its first use. */
  lateTx(open: () => Promise<Tx>): Tx;
}

/** Implements `runHandler`. Opens the transaction at the first use of `tx`, or else for `finish`. */
export async function runLazily<Tx>(
  store: LateOpening<Tx>,
  run: (tx: Tx) => Promise<unknown>,
  finish: (tx: Tx) => Promise<void>,
): Promise<void> {
  // `store.transaction` calls a callback with `tx`, but `run` decides only later whether it needs `tx`. So
  // the callback hands out its `tx`, and then waits for the end of `run`.
  let isOver = false;
  let opened: Promise<void> | undefined;
  const open = (): Promise<Tx> => {
    if (isOver)
      return Promise.reject(
        new TillkitError("transaction_closed", "tx was first used after the handler had resolved."),
      );
    return new Promise<Tx>((resolve, reject) => {
      opened = store.transaction(async (tx) => {
        resolve(tx);
        await outcome;
        await finish(tx);
      });
      opened.catch(reject);
    });
  };
  const outcome = (async () => {
    // A store may call back immediately, and `outcome` must have its value by then.
    await Promise.resolve();
    try {
      await run(store.lateTx(open));
    } finally {
      isOver = true;
    }
  })();

  try {
    await outcome;
  } catch (error) {
    // Waits for the rollback, so that the next run does not meet this transaction's locks. If the transaction
    // ended before `run`, `opened` rejects with the transaction's own error.
    await opened;
    throw error;
  }
  return opened ?? store.transaction(finish);
}
