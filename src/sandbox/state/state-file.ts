import { sqliteStore } from "../../store/sql/index.js";

/** The kinds of values in a state file. `sandbox` is the single value that `saveState` writes. */
export type StateKind = "payment" | "address" | "token" | "delivery" | "job" | "schedule" | "sandbox";

interface StateChange {
  kind: StateKind;
  key: string;
  /** The value as JSON; absent if the value is removed. */
  value?: string;
}

/**
 * The SQLite file that keeps the sandbox's state between two runs. The file has one row for each value, as
 * JSON. Changes are written in their order. Without a path, nothing is stored.
 */
export class StateFile {
  readonly #store: ReturnType<typeof sqliteStore> | undefined;
  readonly #ready: Promise<unknown>;
  #changes: StateChange[] = [];
  #writing: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(file: string | undefined) {
    this.#store = file === undefined ? undefined : sqliteStore(file, { tablePrefix: "sandbox_" });
    this.#ready = Promise.resolve(
      this.#store?.transaction((tx) =>
        tx.query(
          `create table if not exists sandbox_state (seq integer primary key autoincrement, kind text not null,
           "key" text not null, value text not null, unique (kind, "key"))`,
        ),
      ),
    );
    // `load` and `flushed` report the error.
    this.#ready.catch(() => {});
  }

  /** Returns every value of a kind, in the order in which their keys were added. */
  async load<T>(kind: StateKind): Promise<T[]> {
    if (this.#store === undefined) return [];
    await this.#ready;
    const { rows } = await this.#store.transaction((tx) =>
      tx.query<{ value: string }>("select value from sandbox_state where kind = ? order by seq", [kind]),
    );
    return rows.map(({ value }) => JSON.parse(value) as T);
  }

  put(kind: StateKind, key: string, value: unknown): void {
    if (this.#store !== undefined) this.#schedule({ kind, key, value: JSON.stringify(value) });
  }

  remove(kind: StateKind, key: string): void {
    if (this.#store !== undefined) this.#schedule({ kind, key });
  }

  /** Resolves when every change is on disk. Rejects with the first error of a write. */
  async flushed(): Promise<void> {
    await this.#writing;
    if (this.#failure !== undefined) throw this.#failure;
  }

  async close(): Promise<void> {
    try {
      await this.flushed();
    } finally {
      await this.#store?.close();
    }
  }

  #schedule(change: StateChange): void {
    this.#changes.push(change);
    if (this.#changes.length > 1) return;
    this.#writing = this.#writing
      .then(() => this.#write())
      .catch((error: unknown) => {
        this.#failure ??= error;
      });
  }

  async #write(): Promise<void> {
    await this.#ready;
    const changes = this.#changes;
    this.#changes = [];
    if (changes.length === 0) return;
    await this.#store?.transaction(async (tx) => {
      for (const { kind, key, value } of changes) {
        if (value === undefined)
          await tx.query(`delete from sandbox_state where kind = ? and "key" = ?`, [kind, key]);
        else
          await tx.query(
            `insert into sandbox_state (kind, "key", value) values (?, ?, ?)
             on conflict (kind, "key") do update set value = excluded.value`,
            [kind, key, value],
          );
      }
    });
  }
}
