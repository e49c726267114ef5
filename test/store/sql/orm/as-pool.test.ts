import { asPool, type SqlPaymentStore, type SqlTx, sqliteStore } from "tillkit/sql";
import { onEachServer, openPlace, type Place } from "../../../promises/processes/databases.js";
import { pendingPayment } from "../../../support/webhooks.js";
import { temporaryFiles } from "../support/temporary-files.js";

const nextFile = temporaryFiles();

it("there is no pool for ORMs on SQLite, or without the tx of a handler", async () => {
  const store = sqliteStore(nextFile());
  await store.transaction(async (tx) => {
    const refused = { code: "transaction_control_refused" };
    expect(() => asPool(tx)).toThrow(expect.objectContaining(refused));
  });
  await store.close();
  for (const tx of [undefined, {}, "tx"])
    expect(() => asPool(tx as never)).toThrow(expect.objectContaining({ code: "option_invalid" }));
});

/** A connection or a pool, as both drivers have them. */
interface Connection {
  query(statement: string | object): Promise<unknown>;
  query(statement: string, callback: (error: unknown, ...answer: unknown[]) => void): void;
  connect(): Promise<Connection>;
  connect(callback: (error: unknown, connection: Connection, release: () => void) => void): void;
  getConnection: Connection["connect"];
  release(): void;
  end(): Promise<void>;
}

onEachServer("the pool for ORMs", (kind) => {
  let place: Place;
  let store: SqlPaymentStore;
  beforeAll(async () => {
    place = await openPlace(kind);
    store = place.store;
  });
  beforeEach(() => store.transaction((tx) => tx.query(`delete from ${place.address.prefix}ledger`)));
  afterAll(() => place.remove());

  const write = (on: Connection, name: string) =>
    on.query(`insert into ${place.address.prefix}ledger (name) values ('${name}')`);
  const fail = (on: Connection) =>
    on.query("insert into no_such_table values (1)").then(
      () => "succeeded",
      () => "failed",
    );
  const names = async () => (await place.ledger()).map(({ name }) => name).toSorted();
  const run = (work: (pool: Connection, tx: SqlTx) => Promise<unknown>) =>
    store.transaction((tx) => work(asPool<Connection>(tx), tx));

  it("makes savepoints of BEGIN, COMMIT and ROLLBACK, one inside the other", async () => {
    await run(async (pool) => {
      const one = await pool.connect();
      await one.query("BEGIN");
      await write(one, "outer");
      await one.query("/* again */ start transaction;");
      await write(one, "inner");
      await one.query("ROLLBACK;");
      await one.query("savepoint a");
      await write(one, "named");
      await one.query("rollback to savepoint a");
      await one.query("release savepoint a");
      await one.query("COMMIT");
      one.release();
      await pool.end();
      await write(pool, "after the end of the pool");
    });
    expect(await names()).toEqual(["after the end of the pool", "outer"]);
  });

  it("keeps a named savepoint after a rollback to it, so that another rollback to it is possible", async () => {
    await run(async (pool) => {
      const one = await pool.connect();
      await one.query("begin");
      await write(one, "before");
      await one.query("savepoint a");
      for (const name of ["first", "second"]) {
        await write(one, name);
        await one.query("rollback to savepoint a");
      }
      await write(one, "after");
      await one.query("commit");
      one.release();
    });
    expect(await names()).toEqual(["after", "before"]);
  });

  it("rolls a failure back with its savepoint alone, and refuses everything until then", async () => {
    await run(async (pool) => {
      await write(pool, "before");
      const one = await pool.connect();
      await one.query("begin");
      await write(one, "with the failure");
      expect(await fail(one)).toBe("failed");
      for (const statement of ["select 1", "commit", "begin"])
        await expect(one.query(statement)).rejects.toMatchObject({ code: "transaction_poisoned" });
      await one.query("rollback");
      await write(one, "after");
    });
    expect(await names()).toEqual(["after", "before"]);
  });

  it("goes on after a rollback to the named savepoint in which a statement failed", async () => {
    await run(async (pool) => {
      const one = await pool.connect();
      await one.query("begin");
      await write(one, "before");
      await one.query("savepoint a");
      await write(one, "with the failure");
      expect(await fail(one)).toBe("failed");
      await one.query("rollback to savepoint a");
      await write(one, "after");
      await one.query("commit");
    });
    expect(await names()).toEqual(["after", "before"]);
  });

  it("poisons everything with a failure outside of a savepoint", async () => {
    const running = run(async (pool) => {
      await write(pool, "before");
      expect(await fail(pool)).toBe("failed");
      await expect(pool.query("begin")).rejects.toMatchObject({ code: "transaction_poisoned" });
    });
    await expect(running).rejects.toMatchObject({ code: "transaction_poisoned" });
    expect(await names()).toEqual([]);
  });

  it("commits nothing while a transaction of the ORM is open, and the kit writes nothing into it", async () => {
    const open = run(async (pool) => {
      await pool.query("begin");
      await write(pool, "left open");
    });
    await expect(open).rejects.toMatchObject({ code: "transaction_poisoned" });
    const event = { id: "e1", type: "payment.overdue", recordedAt: "2024-05-01T10:00:00.000Z", payload: {} };
    for (const changes of [{ events: [event as never] }, { created: [pendingPayment()] }]) {
      const written = run(async (pool, tx) => {
        await pool.query("begin");
        await store.save(tx, changes).catch(() => undefined);
        await pool.query("rollback").catch(() => undefined);
      });
      await expect(written).rejects.toMatchObject({ code: "transaction_poisoned" });
    }
    expect(await names()).toEqual([]);
  });

  it("rolls back what a released connection left open, also after a failure", async () => {
    await run(async (pool) => {
      const one = await pool.connect();
      await one.query("begin");
      await write(one, "left open");
      await one.query("begin");
      await fail(one);
      one.release();
      await write(pool, "after");
    });
    expect(await names()).toEqual(["after"]);
  });

  it("lets the other connections wait while one has a transaction open", async () => {
    await run(async (pool) => {
      const [one, two] = [await pool.connect(), await pool.connect()];
      await one.query("begin");
      const waiting = [write(two, "second"), asWaiting(pool, "third")];
      await write(one, "first");
      await one.query("rollback");
      await Promise.all(waiting);
    });
    expect(await names()).toEqual(["second", "third"]);
  });
  /** Writes in a transaction whose statements are not awaited one by one. */
  const asWaiting = async (pool: Connection, name: string) => {
    const one = await pool.connect();
    await Promise.all([one.query("begin"), write(one, name), one.query("commit")]);
  };

  it("refuses what waits, and everything after, once the handler has ended", async () => {
    let waiting: Promise<unknown> | undefined;
    let kept: Connection | undefined;
    const running = run(async (pool) => {
      kept = pool;
      await (await pool.connect()).query("begin");
      waiting = write(pool, "waits for ever").catch((error: unknown) => error);
    });
    await expect(running).rejects.toMatchObject({ code: "transaction_poisoned" });
    expect(await waiting).toMatchObject({ code: "transaction_closed" });
    await expect(kept!.query("select 1")).rejects.toMatchObject({ code: "transaction_closed" });
    await kept!.end();
  });

  it.each([
    "begin isolation level serializable",
    "start transaction read only",
    "set transaction isolation level repeatable read",
    "set session characteristics as transaction isolation level serializable",
    "commit; drop table orders",
    "commit and chain",
    "xa start 'a'",
  ])("refuses %s without an effect on the rest", async (statement) => {
    await run(async (pool) => {
      await expect(pool.query(statement)).rejects.toMatchObject({ code: "transaction_control_refused" });
      await write(pool, "goes on");
    });
    expect(await names()).toEqual(["goes on"]);
  });

  it("accepts the isolation level that it has", async () => {
    const running = run(async (pool) => {
      await pool.query("set transaction isolation level read committed");
      await pool.query("start transaction isolation level read committed, read write");
      await pool.query("commit");
    });
    await expect(running).resolves.toBeUndefined();
  });

  it("refuses a stream, whose statements it could not queue", async () => {
    const submit = (): void => undefined;
    const running = run((pool) => pool.query({ text: "select 1", submit }));
    await expect(running).rejects.toMatchObject({ code: "transaction_control_refused" });
  });

  it("takes callbacks", async () => {
    const errors: unknown[] = [];
    const running = run(
      (pool) =>
        new Promise<void>((resolve) => {
          pool.query("insert into no_such_table values (1)", (error) => resolve(void errors.push(error)));
        }),
    );
    await expect(running).rejects.toMatchObject({ code: "transaction_poisoned" });
    expect(errors).toMatchObject([{ message: expect.stringContaining("no_such_table") as string }]);
  });

  it("calls back with what the driver's own pool would give: the result, or rows and fields", async () => {
    const answers = await run(
      (pool) => new Promise((resolve) => pool.query("select 1 as one", (...given) => resolve(given))),
    );
    const row = { one: 1 };
    const expected = { postgres: [null, { rows: [row] }], mysql: [null, [row], [{ name: "one" }]] };
    expect(answers).toMatchObject(expected[kind]);
  });

  it.each(["connect", "getConnection"] as const)("calls back with a connection: %s", async (method) => {
    await run(async (pool) => {
      const [connection, release] = await new Promise<[Connection, () => void]>((resolve) => {
        pool[method]((_, taken, giveBack) => resolve([taken, giveBack]));
      });
      await write(connection, "through a callback");
      release();
    });
    expect(await names()).toEqual(["through a callback"]);
  });

  it("refuses in a shared transaction what could end the runs of other events", async () => {
    await store.runShared!(async (part) => {
      for (const statement of ["drop table no_such_table", "select 1; commit"]) {
        const running = part((tx) => asPool<Connection>(tx).query(statement));
        await expect(running).rejects.toMatchObject({ code: "transaction_control_refused" });
      }
      await part((tx) => write(asPool<Connection>(tx), "shared"));
      return [];
    });
    expect(await names()).toEqual(["shared"]);
  });

  if (kind === "postgres")
    it("reads values with the parsers of the ORM, where it has its own", async () => {
      const types = { getTypeParser: () => (value: string) => `parsed ${value}` };
      const read = (pool: Connection) => pool.query("select 1 as one");
      const own = await store.transaction((tx) => read(asPool<Connection>(tx, undefined, types)));
      expect([own, await run(read)]).toMatchObject([{ rows: [{ one: "parsed 1" }] }, { rows: [{ one: 1 }] }]);
    });

  it("opens the transaction of a handler with its first statement, and shares it with other pools of the same tx", async () => {
    await store.runHandler(
      async (tx) => {
        const pools = [asPool<Connection>(tx), asPool<Connection>(tx)] as const;
        const one = await pools[0].connect();
        await one.query("begin");
        const waiting = write(pools[1], "other pool");
        await one.query("rollback");
        await waiting;
      },
      async () => {},
    );
    expect(await names()).toEqual(["other pool"]);
  });

  const sessionOf = async (pool: Connection): Promise<number> => {
    const id = kind === "postgres" ? "pg_backend_pid()" : "connection_id()";
    const answer = await pool.query(`select ${id} as id`);
    const rows = kind === "postgres" ? (answer as { rows: unknown[] }).rows : (answer as unknown[][])[0]!;
    return (rows[0] as { id: number }).id;
  };
  const kill = (session: number) =>
    store.transaction((tx) =>
      tx.query(kind === "postgres" ? `select pg_terminate_backend(${session})` : `kill ${session}`),
    );

  it("rejects with store_unavailable when the connection is lost", async () => {
    const running = run(async (pool) => {
      await pool.query("begin");
      await kill(await sessionOf(pool));
      expect(await fail(pool)).toBe("failed");
      await pool.query("rollback").catch(() => undefined);
    });
    await expect(running).rejects.toMatchObject({ code: "store_unavailable" });
  });

  it("rejects a statement with store_unavailable when the server ends its session", async () => {
    const running = run(async (pool) => {
      await pool.query("begin");
      const session = await sessionOf(pool);
      const sleeping = pool.query(kind === "postgres" ? "select pg_sleep(60)" : "select sleep(60)");
      const seen = sleeping.catch((error: unknown) => error);
      await kill(session);
      expect(await seen).toMatchObject({ code: "store_unavailable" });
    });
    await expect(running).rejects.toMatchObject({ code: "store_unavailable" });
  });
});
