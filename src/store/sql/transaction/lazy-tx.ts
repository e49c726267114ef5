import { type SqlTx } from "../driver/sql-tx.js";
import { closed, type Transaction } from "./transaction.js";

/** A transaction that is opened by its first statement. */
export interface LazyTx<Raw> extends SqlTx<Raw> {
  opened(): Promise<Transaction<Raw>>;
  /** Returns whether the transaction was opened and has ended. */
  hasEnded(): boolean;
}

/** Returns a transaction that its first statement opens. Concurrent first statements open it once. */
export function lazyTx<Raw>(dialect: SqlTx["dialect"], open: () => Promise<SqlTx<Raw>>): LazyTx<Raw> {
  let opening: Promise<Transaction<Raw>> | undefined;
  let transaction: Transaction<Raw> | undefined;
  const openOnce = async (): Promise<Transaction<Raw>> => (transaction = (await open()) as Transaction<Raw>);
  const opened = (): Promise<Transaction<Raw>> => (opening ??= openOnce());
  return {
    dialect,
    opened,
    hasEnded: () => transaction?.isClosed ?? false,
    query: async (sql, params) => (await opened()).query(sql, params),
    get raw() {
      return opened().then((tx) => tx.raw);
    },
  };
}

/** Runs a step of the store inside a transaction of the application. Opens the transaction if it is lazy. */
export function runInside<Raw, T>(tx: SqlTx<Raw>, step: (tx: Transaction<Raw>) => Promise<T>): Promise<T> {
  return "opened" in tx ? (tx as LazyTx<Raw>).opened().then(step) : step(tx as Transaction<Raw>);
}

/** Runs application code in one part of a transaction. If the code fails, rolls back only this part. */
export async function runPart<Raw>(
  whole: LazyTx<Raw>,
  run: (tx: SqlTx<Raw>) => Promise<unknown>,
): Promise<void> {
  // A part that could not be rolled back separately has ended the transaction, so this part must not run.
  if (whole.hasEnded()) throw closed();
  let part: Transaction<Raw> | undefined;
  let isOver = false;
  const open = async (): Promise<Transaction<Raw>> => {
    const opened = await whole.opened();
    if (isOver) throw closed();
    return (part = opened.part());
  };
  try {
    await run(lazyTx(whole.dialect, open)).finally(() => (isOver = true));
    await part?.commit();
    if (part?.wroteEvents) (await whole.opened()).wroteEvents = true;
  } catch (error) {
    const failure = part ? part.orLost(error) : error;
    await part?.rollback();
    throw failure;
  }
}
