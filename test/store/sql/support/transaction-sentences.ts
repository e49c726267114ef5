import { type SqlPaymentStore, type SqlTx } from "tillkit/sql";

interface Options {
  create: () => SqlPaymentStore;
  /** The first placeholder, as the application writes it for this database. */
  first: "?" | "$1";
  /** A name for a table of the application; dropped by the caller. */
  table: string;
}

/** Tests of the statements of an application that hold on every database. */
export function transactionSentences({ create, first, table }: Options): void {
  let store: SqlPaymentStore;

  beforeAll(async () => {
    store = create();
    await store.transaction(async (tx) => {
      await tx.query(`create table ${table} (id varchar(50) primary key, paid integer)`);
    });
  });
  afterAll(() => store.close());

  const insert = (tx: SqlTx, id: string): Promise<unknown> =>
    tx.query(`insert into ${table} (id, paid) values (${first}, 0)`, [id]);
  const ids = (): Promise<string[]> =>
    store.transaction(async (tx) => {
      const { rows } = await tx.query<{ id: string }>(`select id from ${table} order by id`);
      return rows.map(({ id }) => id);
    });

  it("returns rows, and how many were written", async () => {
    await store.transaction(async (tx) => {
      expect(await insert(tx, "counted")).toEqual({ rows: [], affected: 1 });
      const updated = await tx.query(`update ${table} set paid = 1 where id = ${first}`, ["counted"]);
      expect(updated.affected).toBe(1);
      const none = await tx.query(`update ${table} set paid = 1 where id = ${first}`, ["nobody"]);
      expect(none.affected).toBe(0);
      const found = await tx.query(`select id, paid from ${table} where id = ${first}`, ["counted"]);
      // Strictly: a row is a plain object on every database.
      expect(found.rows).toStrictEqual([{ id: "counted", paid: 1 }]);
    });
  });

  it("reads outside of transactions what is committed, without waiting for a transaction that writes", async () => {
    const paidOf = () => store.query(`select paid from ${table} where id = ${first}`, ["read"]);
    await store.transaction((tx) => insert(tx, "read"));
    await store.transaction(async (tx) => {
      await tx.query(`update ${table} set paid = 1 where id = 'read'`);
      expect(await paidOf()).toStrictEqual({ rows: [{ paid: 0 }], affected: 1 });
    });
    expect(await paidOf()).toStrictEqual({ rows: [{ paid: 1 }], affected: 1 });
    await expect(store.query("select * from no_such_table")).rejects.toThrow("no_such_table");
    expect((await paidOf()).affected).toBe(1);
  });

  it("binds undefined as null", async () => {
    await store.transaction(async (tx) => {
      await insert(tx, "undefined");
      await tx.query(`update ${table} set paid = ${first} where id = 'undefined'`, [undefined]);
      const { rows } = await tx.query(`select id from ${table} where paid is null`);
      expect(rows.map((row) => row["id"])).toEqual(["undefined"]);
    });
  });

  it("rolls back and reports the cause when a statement failed, even if its error was swallowed", async () => {
    let failure: unknown;
    const run = store.transaction(async (tx) => {
      await insert(tx, "poisoned");
      await tx.query(`insert into no_such_table values (1)`).catch((error: unknown) => (failure = error));
      await expect(insert(tx, "after")).rejects.toMatchObject({
        code: "transaction_poisoned",
        cause: failure,
      });
    });
    const rejection: unknown = await run.catch((error: unknown) => error);
    expect(rejection).toMatchObject({ code: "transaction_poisoned", cause: failure });
    expect(failure).toHaveProperty("message", expect.stringContaining("no_such_table"));
    expect(await ids()).not.toContain("poisoned");
  });

  it("rolls back when a statement that nobody awaited fails", async () => {
    const run = store.transaction(async (tx) => {
      await insert(tx, "not awaited");
      void tx.query(`insert into no_such_table values (1)`).catch(() => undefined);
    });
    await expect(run).rejects.toMatchObject({ code: "transaction_poisoned" });
    expect(await ids()).not.toContain("not awaited");
  });

  it("rejects with the error of the statement when the handler rethrows it", async () => {
    const run = store.transaction((tx) => tx.query(`insert into no_such_table values (1)`));
    await expect(run).rejects.not.toHaveProperty("code", "transaction_poisoned");
  });

  it("refuses statements after the end", async () => {
    let kept: SqlTx | undefined;
    await store.transaction(async (tx) => {
      kept = tx;
    });
    await expect(insert(kept!, "late")).rejects.toMatchObject({ code: "transaction_closed" });
    await expect(kept!.raw).rejects.toMatchObject({ code: "transaction_closed" });
    expect(await ids()).not.toContain("late");
  });

  it("opens the transaction of a handler once, at its first use", async () => {
    const run = async (tx: SqlTx) => {
      await Promise.all([insert(tx, "late 1"), tx.query("select 1 as one"), tx.raw]);
      expect(await store.lock(tx, { clientIds: ["nobody"] })).toEqual({ payments: [], eventKeys: [] });
    };
    await store.runHandler(run, async (tx) => void (await insert(tx, "late 2")));
    expect(await ids()).toEqual(expect.arrayContaining(["late 1", "late 2"]));
  });

  it("refuses everything after it is closed, and can be closed twice", async () => {
    const closed = create();
    await closed.find("nobody");
    await closed.close();
    await closed.close();
    await expect(closed.find("nobody")).rejects.toMatchObject({ code: "store_closed" });
    await expect(closed.transaction(() => Promise.resolve())).rejects.toMatchObject({ code: "store_closed" });
    await expect(closed.claim({ handlers: [], limit: 1, leaseMs: 1 })).rejects.toMatchObject({
      code: "store_closed",
    });
  });

  it("finishes what runs before it closes", async () => {
    const closing = create();
    const running = closing.transaction(async (tx) => {
      await tx.query("select 1 as one");
      void closing.close();
      await insert(tx, "while closing");
    });
    await running;
    await closing.close();
    expect(await ids()).toContain("while closing");
  });
}
