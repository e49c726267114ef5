import { sqliteStore } from "../../store/sql/index.js";

/** What the sandbox keeps beyond its own end. */
export type Kind = "payment" | "address" | "token" | "delivery" | "job" | "course" | "whole";

/** Keeps the sandbox's state, or forgets it. */
export interface Keeper {
  /** Everything of one kind, in the order in which it was first put. */
  load<T>(kind: Kind): Promise<T[]>;
  put(kind: Kind, key: string, value: unknown): void;
  remove(kind: Kind, key: string): void;
  /** Resolves when all that was put is on disk. */
  flushed(): Promise<void>;
  close(): Promise<void>;
}

/** For a sandbox that forgets everything at its end. */
export const forgetful: Keeper = {
  load: () => Promise.resolve([]),
  put: () => {},
  remove: () => {},
  flushed: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

interface Write {
  kind: Kind;
  key: string;
  /** JSON; absent for what is removed. */
  value?: string;
}

/** Keeps the state in an SQLite file: one row a thing, as JSON, written in the order of the changes. */
export function keepIn(file: string): Keeper {
  const store = sqliteStore(file, { tablePrefix: "sandbox_" });
  let waiting: Write[] = [];
  let writing: Promise<void> = Promise.resolve();
  let failure: unknown;

  const ready = store.transaction((tx) =>
    tx.query(
      `create table if not exists sandbox_state (seq integer primary key autoincrement, kind text not null,
         "key" text not null, value text not null, unique (kind, "key"))`,
    ),
  );
  // Reported by whoever awaits it first: load or flushed.
  ready.catch(() => {});

  async function write(): Promise<void> {
    await ready;
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    await store.transaction(async (tx) => {
      for (const { kind, key, value } of batch) {
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

  function later(change: Write): void {
    waiting.push(change);
    if (waiting.length > 1) return;
    writing = writing.then(write).catch((error: unknown) => {
      failure ??= error;
    });
  }

  async function flushed(): Promise<void> {
    await writing;
    if (failure !== undefined) throw failure;
  }

  return {
    async load<T>(kind: Kind) {
      await ready;
      const { rows } = await store.transaction((tx) =>
        tx.query<{ value: string }>("select value from sandbox_state where kind = ? order by seq", [kind]),
      );
      return rows.map(({ value }) => JSON.parse(value) as T);
    },
    put: (kind, key, value) => later({ kind, key, value: JSON.stringify(value) }),
    remove: (kind, key) => later({ kind, key }),
    flushed,
    async close() {
      try {
        await flushed();
      } finally {
        await store.close?.();
      }
    },
  };
}
