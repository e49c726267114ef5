import { SqliteConnection } from "../../../../src/store/sql/sqlite/connection.js";
import { event, ledger, webhook } from "../../../../src/store/exam/checks/fixtures.js";
import { sqliteStore } from "../../../../src/store/sql/index.js";
import { temporaryFiles } from "../support/temporary-files.js";

const nextFile = temporaryFiles();
afterEach(() => jest.restoreAllMocks());

/** The values of `pragma synchronous`. */
const [unsynced, synced] = [1, 2];

/** Opens a store, and notes the value of `pragma synchronous` at each commit of the writer from now on. */
async function watchedStore() {
  const store = sqliteStore(nextFile());
  // A version of SQLite that needs a rollback journal syncs each commit.
  const hasLog = (await store.warnings()).length === 0;
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its connection
  const { run } = SqliteConnection.prototype;
  const levels: unknown[] = [];
  const failures: Error[] = [];
  jest.spyOn(SqliteConnection.prototype, "run").mockImplementation(function (
    this: SqliteConnection,
    sql,
    params,
  ) {
    if (sql !== "commit") return run.call(this, sql, params);
    const [level] = Object.values(run.call(this, "pragma synchronous", []).rows[0]!);
    levels.push(hasLog || level !== 3 ? level : synced);
    const failure = levels.length > 1 ? failures.shift() : undefined;
    if (failure) throw failure;
    return run.call(this, sql, params);
  });
  const handle = (run: () => Promise<void>): Promise<void> =>
    store.runHandler(
      async (tx) => {
        await tx.query("create table if not exists notes (text text)");
        await run();
      },
      async () => {},
    );
  return { store, levels, failures, hasLog, handle, close: () => store.close() };
}

const succeeds = async (): Promise<void> => {};
const fails = (): Promise<never> => Promise.reject(new Error("it failed"));

describe("on SQLite", () => {
  it("a webhook is committed with a sync, also after a claim, which needs none", async () => {
    const { store, levels, hasLog } = await watchedStore();
    await store.registerHandlers([ledger]);
    await store.transaction((tx) => store.save(tx, { events: [event("e1")] }));
    levels.length = 0;
    await store.claim({ handlers: [ledger], limit: 1, leaseMs: 1000 });
    expect(levels).toEqual([hasLog ? unsynced : synced]);

    levels.length = 0;
    expect(await store.record({ eventKeys: ["k1"] }, () => ({ webhooks: [webhook("k1")] }))).toBe(true);
    expect(levels).toEqual([synced]);
    await store.close();
  });

  it("what the application writes, a renewed lease and a new handler are committed with a sync", async () => {
    const { store, levels } = await watchedStore();
    await store.registerHandlers([ledger]);
    await store.transaction((tx) => tx.query("create table notes (text text)"));
    await store.renew({ eventId: "e1", handler: "ledger", fence: 1 }, 1000);
    expect(levels.at(-1)).toBe(synced);
    expect(levels.filter((level) => level === synced).length).toBeGreaterThanOrEqual(3);
    await store.close();
  });

  it("a commit that waited for a sync is synced by the store where the next transaction fails", async () => {
    const { handle, close, levels, hasLog } = await watchedStore();
    const ends = await Promise.allSettled([handle(fails), handle(succeeds), handle(fails)]);
    expect(ends.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
    expect(levels).toEqual(hasLog ? [unsynced, synced] : [synced]);
    await close();
  });

  it("a handler is not done where the sync that it waits for fails", async () => {
    const { handle, close, failures, hasLog } = await watchedStore();
    // Without a log each commit syncs by itself, and the first one succeeds.
    if (hasLog) failures.push(Object.assign(new Error("database or disk is full"), { errcode: 13 }));
    const ends = await Promise.allSettled([handle(succeeds), handle(fails)]);
    expect(ends).toMatchObject([
      hasLog ? { status: "rejected", reason: { code: "store_unavailable" } } : { status: "fulfilled" },
      { status: "rejected", reason: { message: "it failed" } },
    ]);
    await expect(handle(succeeds)).resolves.toBeUndefined();
    await close();
  });

  it("a transaction whose commit fails is rolled back, and the next one begins", async () => {
    const { store, failures, close } = await watchedStore();
    await store.transaction((tx) => tx.query("create table notes (text text)"));
    failures.push(Object.assign(new Error("disk I/O error"), { errcode: 10 }));
    const write = (text: string) =>
      store.transaction((tx) => tx.query("insert into notes values (?)", [text]));
    await expect(write("lost")).rejects.toMatchObject({ code: "store_unavailable" });
    await write("kept");
    expect((await store.query("select text from notes")).rows).toEqual([{ text: "kept" }]);
    await close();
  });
});
