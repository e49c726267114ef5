import { TillkitError } from "../../errors/index.js";
import { because } from "../../shared/because.js";
import {
  type BatchAdapter,
  type BatchTx,
  type KeyRange,
  type RecordChange,
  type StoredRecord,
  type TransactionAdapter,
} from "./adapter.js";
import { Conflict } from "./draft.js";

/** Any adapter. Its transactions are those of {@link Operations}. */
export type Adapter = TransactionAdapter<object> | BatchAdapter<unknown>;

/** What a transaction runs: application code with its `tx`, and then the write. */
type Run<T> = (tx: object, write: (changes: readonly RecordChange[]) => Promise<void>) => Promise<T>;

/**
 * The operations of an adapter, of both kinds in one form. What the adapter rejects with becomes `store_unavailable`, so that a
 * lost connection does not count as the failure of a handler. What `run` rejects with stays as it is.
 */
export class Operations {
  readonly #adapter: Adapter;

  constructor(adapter: Adapter) {
    this.#adapter = adapter;
  }

  read(keys: readonly string[], tx?: object): Promise<readonly StoredRecord[]> {
    return called(() => this.#adapter.read(keys, tx as undefined));
  }

  scan(range: KeyRange, tx?: object): Promise<readonly StoredRecord[]> {
    return called(() => this.#adapter.scan(range, tx as undefined));
  }

  /** Returns the database's clock, or else one that no setting of the system's time moves. */
  async now(): Promise<number> {
    const adapter = this.#adapter;
    const ms = adapter.now ? await called(() => adapter.now!()) : performance.timeOrigin + performance.now();
    return Math.floor(ms);
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
        return await run(tx, (changes) => write(() => adapter.write(changes, tx), changes.length));
      } catch (error) {
        failure = { error };
        throw error;
      }
    };
    try {
      return await called(() => adapter.transaction(noted));
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
      return write(() => adapter.write(changes, items), changes.length + items.length);
    }).finally(() => (isEnded = true));
  }
}

async function write(attempt: () => Promise<boolean>, count: number): Promise<void> {
  if (count > 0 && !(await called(attempt))) throw new Conflict();
}

async function called<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (cause instanceof TillkitError) throw cause;
    throw new TillkitError("store_unavailable", `The database did not do what was asked${because(cause)}`, {
      cause,
    });
  }
}
