import { statSync } from "node:fs";
import { sqliteStore, type SqliteDatabase, type SqlTx } from "tillkit/sql";
import { pendingPayment } from "../../../support/webhooks.js";
import { temporaryFiles } from "../support/temporary-files.js";

const nextFile = temporaryFiles();
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

/** The value of `pragma synchronous` in a transaction that leaves its sync to others, and in one that syncs. */
const [left, own] = [1, 2];

/** Opens a store with a table of notes; `handle` writes one as a handler does, and records when that has ended. */
async function notes(options: Parameters<typeof sqliteStore>[1] = {}) {
  const store = sqliteStore(nextFile(), options);
  opened.push(store);
  await store.transaction((tx) => tx.query("create table notes (text text)"));
  const ended: string[] = [];
  const write = async (tx: SqlTx<SqliteDatabase>, text: string): Promise<unknown> => {
    await tx.query("insert into notes values (?)", [text]);
    return Object.values((await tx.query("pragma synchronous")).rows[0]!)[0];
  };
  const levels: Record<string, unknown> = {};
  const handle = async (
    text: string,
    behind?: (tx: SqlTx<SqliteDatabase>) => Promise<unknown>,
  ): Promise<void> => {
    const run = async (tx: SqlTx<SqliteDatabase>): Promise<void> => {
      levels[text] = await write(tx, text);
      await behind?.(tx);
    };
    await store.runHandler(run, async () => {});
    ended.push(text);
  };
  const kept = async (): Promise<unknown[]> => {
    const { rows } = await store.transaction((tx) => tx.query("select text from notes order by rowid"));
    return rows.map(({ text }) => text);
  };
  const logBytes = (): number => statSync(`${store.file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  // A version of SQLite that needs a rollback journal has no log, so each commit syncs by itself.
  const isLog = (await store.warnings()).length === 0;
  const expected = <T>(withLog: T, without: T): T => (isLog ? withLog : without);
  return { store, handle, levels, ended, kept, write, logBytes, expected };
}

describe("a transaction of a handler on SQLite", () => {
  it("syncs by itself where no other transaction waits", async () => {
    const { handle, levels, expected } = await notes();
    await handle("alone");
    expect(levels).toEqual({ alone: expected(own, 3) });
  });

  it("leaves the sync to the transactions that wait, and ends only after it", async () => {
    const { handle, levels, ended, kept, expected } = await notes();
    const seen: string[][] = [];
    await Promise.all([
      handle("first"),
      handle("second", async () => void seen.push([...ended])),
      handle("third", async () => void seen.push([...ended])),
    ]);
    expect(levels).toEqual(
      expected({ first: left, second: left, third: own }, { first: 3, second: 3, third: 3 }),
    );
    expect(seen).toEqual(expected([[], []], seen));
    expect(ended.toSorted()).toEqual(["first", "second", "third"]);
    expect(await kept()).toEqual(["first", "second", "third"]);
  });

  it("commits by itself: readers see it before the next one ends", async () => {
    const { store, handle } = await notes();
    let seen: unknown;
    const payment = pendingPayment();
    await Promise.all([
      handle("first", (tx) => store.save(tx, { created: [payment] })),
      handle("second", async () => {
        seen = await store.find(payment.clientId);
      }),
    ]);
    expect(seen).toMatchObject({ clientId: payment.clientId });
  });

  it("stays committed, and is synced, where the next one fails", async () => {
    const { handle, ended, kept, logBytes, expected } = await notes();
    const before = logBytes();
    const first = handle("first");
    await expect(handle("second", () => Promise.reject(new Error("it failed")))).rejects.toThrow("it failed");
    await first;
    expect(ended).toEqual(["first"]);
    expect(await kept()).toEqual(["first"]);
    expect(logBytes() > before).toBe(expected(true, false));
  });

  it("is synced without a later transaction where the one that waited has given up", async () => {
    const { handle, levels, ended, expected } = await notes({ busyTimeoutMs: 100 });
    const first = handle("first", () => second.catch(() => {}));
    const second = handle("second");
    await expect(second).rejects.toMatchObject({ code: "store_busy" });
    await first;
    expect(levels).toEqual({ first: expected(left, 3) });
    expect(ended).toEqual(["first"]);
  });

  it("is synced by a later transaction that writes nothing itself", async () => {
    const { store, handle, ended, logBytes, expected } = await notes();
    let before = 0;
    let level: unknown;
    let kept = 0;
    let endedBefore: string[] = [];
    const first = handle("first");
    // A handler that only reads. A transaction that is not lazy would begin before the first one.
    const read = async (tx: SqlTx<SqliteDatabase>): Promise<void> => {
      level = Object.values((await tx.query("pragma synchronous")).rows[0]!)[0];
      kept = (await tx.query("select text from notes")).rows.length;
      before = logBytes();
      endedBefore = [...ended];
    };
    await Promise.all([first, store.runHandler(read, async () => {})]);
    expect(kept).toBe(1);
    expect(level).toBe(expected(own, 3));
    expect(endedBefore).toEqual(expected([], endedBefore));
    expect(logBytes() > before).toBe(expected(true, false));
  });

  it("shares a sync with a limited number of others in a long queue", async () => {
    const { handle, levels, expected } = await notes();
    await Promise.all(Array.from({ length: 100 }, (_, n) => handle(String(n))));
    const synced = Object.values(levels).filter((level) => level !== left).length;
    expect(synced).toBe(expected(4, 100));
  });
});

it("transactions of the recorder and of the application sync themselves, whether or not others wait", async () => {
  const { store, write } = await notes();
  const levels = await Promise.all([1, 2, 3].map((n) => store.transaction((tx) => write(tx, String(n)))));
  expect(new Set(levels).size).toBe(1);
  expect(levels[0]).toBeGreaterThanOrEqual(own);
});
