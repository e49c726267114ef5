import { type SqliteDatabase, sqliteStore, type SqlTx } from "tillkit/sql";
import { temporaryFiles } from "../support/temporary-files.js";

const closed = expect.objectContaining({ code: "transaction_closed" }) as unknown;

describe("the handle of a transaction on SQLite", () => {
  const newFile = temporaryFiles();
  const open = async () => {
    const store = sqliteStore(newFile());
    await store.transaction((tx) => tx.query("create table orders (id text)"));
    const read = (tx: SqlTx) => tx.query<{ id: string }>("select id from orders");
    const orders = async () => (await store.transaction(read)).rows.map(({ id }) => id);
    return { store, orders };
  };
  const handleIn = async (tx: SqlTx) => (await tx.raw) as SqliteDatabase;

  it("writes in its transaction, with statements that it prepares", async () => {
    const { store, orders } = await open();
    await store.transaction(async (tx) => {
      const handle = await handleIn(tx);
      handle.exec("insert into orders values ('a')");
      handle.prepare("insert into orders values (?)").run("b");
      expect(handle.prepare("select id from orders").all()).toHaveLength(2);
    });
    expect(await orders()).toEqual(["a", "b"]);
    await store.close();
  });

  it("writes nothing after the end of its transaction, also into the next one", async () => {
    const { store, orders } = await open();
    const kept: (() => unknown)[] = [];
    const failing = store.transaction(async (tx) => {
      const handle = await handleIn(tx);
      const statement = handle.prepare("insert into orders values ('late')");
      kept.push(
        () => handle.exec("insert into orders values ('late')"),
        () => handle.prepare("select 1"),
        () => statement.run(),
      );
      throw new Error("The time limit has passed.");
    });
    await expect(failing).rejects.toThrow("time limit");
    for (const write of kept) expect(write).toThrow(closed as Error);
    await store.transaction(async (tx) => {
      await tx.query("insert into orders values ('next')");
      for (const write of kept) expect(write).toThrow(closed as Error);
    });
    for (const write of kept) expect(write).toThrow(closed as Error);
    expect(await orders()).toEqual(["next"]);
    await store.close();
  });

  it("writes nothing after its transaction has committed, also into the next one", async () => {
    const { store, orders } = await open();
    const kept: (() => unknown)[] = [];
    await store.transaction(async (tx) => {
      const handle = await handleIn(tx);
      const statement = handle.prepare("insert into orders values ('late')");
      kept.push(
        () => handle.exec("insert into orders values ('late')"),
        () => statement.run(),
      );
    });
    for (const write of kept) expect(write).toThrow(closed as Error);
    await store.transaction(async (tx) => {
      await tx.query("insert into orders values ('next')");
      for (const write of kept) expect(write).toThrow(closed as Error);
    });
    expect(await orders()).toEqual(["next"]);
    await store.close();
  });

  it("writes nothing through rows that are read after its transaction", async () => {
    const { store, orders } = await open();
    const started: IterableIterator<unknown>[] = [];
    await store.transaction(async (tx) => {
      const handle = await handleIn(tx);
      const statement = handle.prepare("insert into orders values ('late') returning id");
      // The statement runs when its first row is read.
      const rows = (statement as unknown as { iterate(): IterableIterator<unknown> }).iterate();
      started.push(rows, rows[Symbol.iterator]());
    });
    for (const rows of started) expect(() => rows.next()).toThrow(closed as Error);
    expect(await orders()).toEqual([]);
    await store.transaction(async (tx) => {
      const rows = (await handleIn(tx)).prepare("select 'a' as id union select 'b'") as unknown as {
        iterate(): Iterable<{ id: string }>;
      };
      expect([...rows.iterate()].map(({ id }) => id)).toEqual(["a", "b"]);
    });
    await store.close();
  });
});
