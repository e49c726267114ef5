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

/** Where a store over an adapter keeps it for the exam, also for that of another copy of the package. */
export const adapterOf: unique symbol = Symbol.for("tillkit.adapter");

/** Another transaction has changed one of the records with these keys since it was read. */
export class Conflict extends Error {
  readonly keys: readonly string[];

  constructor(keys: readonly string[]) {
    super();
    this.keys = keys;
  }
}

/** Any adapter. Its transactions are those of {@link Operations}. */
export type Adapter = TransactionAdapter<object> | BatchAdapter<unknown>;

/** What a transaction runs: application code with its `tx`, and then the write. */
type Run<T> = (tx: object, write: (changes: readonly RecordChange[]) => Promise<void>) => Promise<T>;

/**
 * The operations of an adapter, of both kinds in one form. What the adapter rejects with becomes `store_unavailable`, so that a
 * lost connection does not count as the failure of a handler, or `adapter_defective`. What `run` rejects with stays as it is.
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

  /** Returns the database's clock, or else one that no setting of the system's time moves. */
  async now(): Promise<number> {
    const adapter = this.#adapter;
    if (!adapter.now) return Math.floor(performance.timeOrigin + performance.now());
    return Math.floor(checkType("now", await called("now", () => adapter.now!()), "number"));
  }

  /** Runs and commits. Rejects with {@link Conflict} where a record does not have the expected version. */
  async transaction<T>(run: Run<T>): Promise<T> {
    const adapter = this.#adapter;
    if (!adapter.transaction) return this.#batch(adapter, run);
    let failure: { error: unknown } | undefined;
    const noted = async (tx: object): Promise<T> => {
      // Some databases run it again after a conflict of their own.
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
      // An ORM may have wrapped it.
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
