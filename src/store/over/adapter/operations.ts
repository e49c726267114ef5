import { TillkitError } from "../../../errors/index.js";
import {
  type BatchAdapter,
  type BatchTx,
  type KeyRange,
  type RecordChange,
  type StoredRecord,
  type TransactionAdapter,
} from "../../adapter.js";
import { checkRecords, checkType, failureOf } from "./answers.js";

/** The property in which a store keeps its adapter. All copies of this package use the same symbol. */
export const adapterOf: unique symbol = Symbol.for("tillkit.adapter");

/** Reports that a record with one of these keys does not have the version that the transaction expects. */
export class Conflict extends Error {
  readonly keys: readonly string[];

  constructor(keys: readonly string[]) {
    super("A record does not have the version that the transaction expects.");
    this.keys = keys;
  }
}

/** An adapter of either kind. */
export type Adapter = TransactionAdapter<object> | BatchAdapter<unknown>;

/**
 * The function that a transaction runs. The function gets the application's `tx` and a function to write
 * changes.
 */
type Run<T> = (tx: object, write: (changes: readonly RecordChange[]) => Promise<void>) => Promise<T>;

/**
 * The operations of an adapter of either kind. An error of the adapter that is not a TillkitError becomes
 * `adapter_defective` if it means a bug in the adapter, and otherwise `store_unavailable`. So a lost
 * connection does not count as a handler's failure. Errors of `run` stay as they are.
 */
export class Operations {
  readonly #adapter: Adapter;

  constructor(adapter: Adapter) {
    this.#adapter = adapter;
  }

  async read(keys: readonly string[], tx?: object): Promise<readonly StoredRecord[]> {
    return checkRecords("read", await called("read", () => this.#adapter.read(keys, tx as undefined)));
  }

  async scan(range: KeyRange, tx?: object): Promise<readonly StoredRecord[]> {
    return checkRecords("scan", await called("scan", () => this.#adapter.scan(range, tx as undefined)));
  }

  /** Returns the time by the database's clock, or else by the monotonic clock of this process. */
  async now(): Promise<number> {
    const adapter = this.#adapter;
    if (!adapter.now) return Math.floor(performance.timeOrigin + performance.now());
    return Math.floor(checkType("now", await called("now", () => adapter.now!()), "number"));
  }

  /** Runs `run` and commits. Rejects with {@link Conflict} if a record does not have the expected version. */
  async transaction<T>(run: Run<T>): Promise<T> {
    const adapter = this.#adapter;
    if (!adapter.transaction) return this.#batch(adapter, run);
    let failure: { error: unknown } | undefined;
    const noted = async (tx: object): Promise<T> => {
      // Some databases call this function again after their own conflict. In this case, only the last error
      // is used.
      failure = undefined;
      try {
        return await run(tx, (changes) => write(() => adapter.write(changes, tx), changes, 0));
      } catch (error) {
        failure = { error };
        throw error;
      }
    };
    try {
      return await called("transaction", () => adapter.transaction(noted));
    } catch (error) {
      // An ORM may have wrapped the error of `run`, so the original error is thrown.
      throw failure ? failure.error : error;
    }
  }

  async #batch<T>(adapter: BatchAdapter<unknown>, run: Run<T>): Promise<T> {
    const items: unknown[] = [];
    let isEnded = false;
    const tx: BatchTx<unknown> = {
      add(...more) {
        if (isEnded)
          throw new TillkitError(
            "transaction_closed",
            "The transaction has ended; this write came too late.",
          );
        items.push(...more);
      },
    };
    return run(tx, (changes) => {
      isEnded = true;
      return write(() => adapter.write(changes, items), changes, items.length);
    }).finally(() => (isEnded = true));
  }
}

async function write(
  attempt: () => Promise<boolean>,
  changes: readonly RecordChange[],
  items: number,
): Promise<void> {
  if (changes.length + items === 0) return;
  const isDone = checkType("write", await called("write", attempt), "boolean");
  if (!isDone) throw new Conflict(changes.map(({ key }) => key));
}

async function called<T>(operation: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw failureOf(operation, cause);
  }
}
