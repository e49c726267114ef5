import { Pool } from "pg";
import { postgresStore, type SqlPaymentStore, type SqlTx } from "tillkit/sql";
import { type Claim } from "../../../../../src/store/index.js";
import { event } from "../../../../../src/store/exam/checks/fixtures.js";
import { numbered } from "../../../../../src/store/sql/postgres/postgres-dialect.js";
import { type DatabaseProxy, proxyTo } from "../../support/database-proxy.js";
import { tablePrefixes } from "../../support/table-prefixes.js";

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];

if (url === undefined || url === "none") {
  it("leaves runs on PostgreSQL out, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_POSTGRES_URL"]);
  });
} else examine(url);

/** A text that only the run of a handler sends. */
const runsOnly = numbered("begin isolation level read committed").name!;

function examine(url: string): void {
  const pool = new Pool({ connectionString: url });
  const tables = tablePrefixes((sql) => pool.query(sql));
  afterAll(() => pool.end());

  const ledger = { event: "payment.completed", name: "ledger" } as const;
  let proxy: DatabaseProxy;
  let store: SqlPaymentStore;
  let notes: string;
  beforeEach(async () => {
    proxy = await proxyTo(url);
    const tablePrefix = tables.next();
    notes = `${tablePrefix}own_notes`;
    // One connection for handlers, so that each test uses the connection of the run before.
    store = postgresStore(proxy.url, { tablePrefix, maxConnections: 5 });
    await store.transaction((tx) => tx.query(`create table ${notes} (text text unique)`));
    await store.registerHandlers([ledger]);
    await store.transaction((tx) => store.save(tx, { events: ["e1", "e2", "e3"].map((id) => event(id)) }));
  });
  afterEach(async () => {
    await store.close();
    proxy.close();
    await pool.query(`drop table ${notes}`);
    await tables.dropAll();
  });

  const claim = async (limit = 1): Promise<Claim[]> =>
    store.claim({ handlers: [ledger], limit, leaseMs: 60_000 });
  const note = (tx: SqlTx, text: string) => tx.query(`insert into ${notes} values ($1)`, [text]);
  const run = (
    { event: { id }, handler, fence }: Claim,
    handle: (tx: SqlTx<never>) => Promise<unknown>,
    chosen: SqlPaymentStore = store,
  ): Promise<void> =>
    (chosen as SqlPaymentStore<never>).runHandler(handle, async (tx) => {
      const settlement = { eventId: id, handler, fence, state: "done", isLast: true } as const;
      if (!(await chosen.settle(tx, settlement))) throw new Error("not settled");
    });
  const kept = async (): Promise<string[]> => {
    const { rows } = await pool.query<{ text: string }>(`select text from ${notes} order by text`);
    return rows.map(({ text }) => text);
  };
  /** Returns the states of the dispatches that were claimed. */
  const states = async (): Promise<string[]> => {
    const { rows } = await pool.query<{ state: string }>(
      `select state from ${notes.replace("own_notes", "dispatches")} where state <> 'pending' order by event_seq`,
    );
    return rows.map(({ state }) => state);
  };

  // This test is the first one, because only the first 300 statements of a process get names.
  it("a savepoint can be sent with a statement and later by itself, and again, on one connection", async () => {
    const runParts = (...parts: ((tx: SqlTx<never>) => Promise<unknown>)[]): Promise<void> =>
      (store as SqlPaymentStore<never>).runShared!(async (part) => {
        for (const run of parts) await part(run);
        return [];
      });
    const withValues = (text: string) => (tx: SqlTx<never>) => note(tx, text);
    const withoutValues = (text: string) => (tx: SqlTx<never>) =>
      tx.query(`insert into ${notes} values ('${text}')`);
    await runParts(withValues("a"), withValues("b"));
    await runParts(withoutValues("c"), withoutValues("d"));
    await runParts(withValues("e"), withoutValues("f"));
    expect(await kept()).toEqual(["a", "b", "c", "d", "e", "f"]);
  });

  it("a run that writes one row is two round trips", async () => {
    const [first, second] = await claim(2);
    await run(first!, (tx) => note(tx, "one"));
    const before = proxy.roundTrips(runsOnly);
    await run(second!, (tx) => note(tx, "two"));
    expect(proxy.roundTrips(runsOnly) - before).toBe(2);
    expect(await kept()).toEqual(["one", "two"]);
    expect(await states()).toEqual(["done", "done"]);
  });

  /** Returns the prepared statements of the handlers' connection that name the table of notes. */
  const prepared = async (one: Claim): Promise<string[]> => {
    const sql = "select statement from pg_prepared_statements where statement like $1 order by 1";
    let statements: string[] = [];
    await run(one, async (tx) => {
      const { rows } = await tx.query<{ statement: string }>(sql, [`%${notes}%`]);
      statements = rows.map(({ statement }) => statement);
    });
    return statements;
  };

  it("a statement that writes is prepared when it comes again, unless it returns rows", async () => {
    const [one, two, three] = await claim(3);
    const handle = async (tx: SqlTx, text: string): Promise<void> => {
      await note(tx, text);
      await tx.query(`update ${notes} set text = text where text = $1 returning text`, [text]);
      await tx.query(`select text from ${notes} where text = $1`, [text]);
      await tx.query(`delete from ${notes} where text = $1`, ["another"]);
    };
    await run(one!, (tx) => handle(tx, "one"));
    await run(two!, (tx) => handle(tx, "two"));
    expect(await prepared(three!)).toEqual([
      `delete from ${notes} where text = $1`,
      `insert into ${notes} values ($1)`,
    ]);
    expect(await kept()).toEqual(["one", "two"]);
  });

  it("a statement whose table got other types is prepared anew after one failure", async () => {
    const [one] = await claim();
    const attempt = (text: string) => run({ ...one!, fence: 0 }, (tx) => note(tx, text));
    for (const text of ["1", "2", "3"]) await expect(attempt(text)).rejects.toThrow("lease");
    await pool.query(`alter table ${notes} alter column text type integer using text::integer`);
    await expect(attempt("4")).rejects.toMatchObject({ code: "42804" });
    await run(one!, (tx) => note(tx, "5"));
    expect(await kept()).toEqual([5]);
  });

  it("a run that fails before its first statement sends nothing to the server", async () => {
    const [one, two] = await claim(2);
    await run(one!, (tx) => note(tx, "one"));
    const before = proxy.roundTrips(runsOnly);
    const failing = run(two!, async () => {
      throw new Error("failed early");
    });
    await expect(failing).rejects.toThrow("failed early");
    expect(proxy.roundTrips(runsOnly)).toBe(before);
  });

  it("a run gets its rows and its types as from any other query", async () => {
    const [one] = await claim();
    let answer: unknown;
    await run(one!, async (tx) => {
      answer = await tx.query("select $1::int as number, $2::jsonb as json, null as nothing", [7, '{"a":1}']);
    });
    expect(answer).toEqual({ rows: [{ number: 7, json: { a: 1 }, nothing: null }], affected: 1 });
  });

  it("a run whose lease was lost commits nothing, and its connection stays usable", async () => {
    const [one, two] = await claim(2);
    const lost = run({ ...one!, fence: 0 }, (tx) => note(tx, "lost"));
    await expect(lost).rejects.toMatchObject({ code: "lease_lost" });
    await run(two!, (tx) => note(tx, "kept"));
    expect(await kept()).toEqual(["kept"]);
    expect(await states()).toEqual(["leased", "done"]);
    await run(one!, (tx) => note(tx, "found"));
    expect(await kept()).toEqual(["found", "kept"]);
  });

  it("a first statement that fails rejects with its own error, and fails the run", async () => {
    const [one, two] = await claim(2);
    await run(one!, (tx) => note(tx, "taken"));
    const swallowing = run(two!, async (tx) => {
      await expect(note(tx, "taken")).rejects.toMatchObject({ code: "23505", severity: "ERROR" });
    });
    await expect(swallowing).rejects.toMatchObject({ code: "transaction_poisoned" });
    await run(two!, (tx) => note(tx, "again"));
    expect(await states()).toEqual(["done", "done"]);
  });

  it("a value that cannot be sent fails the run, and its connection stays usable", async () => {
    const [one, two] = await claim(2);
    const circular: Record<string, unknown> = {};
    circular["itself"] = circular;
    await expect(run(one!, (tx) => tx.query(`select $1`, [circular]))).rejects.toThrow(/circular/i);
    await run(two!, (tx) => note(tx, "next"));
    expect(await kept()).toEqual(["next"]);
  });

  it("writes nothing where the begin failed, although the statement was sent with it", async () => {
    const [one, two] = await claim(2);
    proxy.replace("begin isolation", "start isolation");
    await expect(run(one!, (tx) => note(tx, "outside"))).rejects.toMatchObject({ code: "42601" });
    proxy.replace("", "");
    expect(await kept()).toEqual([]);
    await run(two!, (tx) => note(tx, "inside"));
    expect(await kept()).toEqual(["inside"]);
  });

  it("commits nothing where a deferred constraint refuses it, and rejects with its error", async () => {
    await pool.query(`create function ${notes}_check() returns trigger language plpgsql as
      $$ begin perform 1 / 0; return null; end $$`);
    await pool.query(`create constraint trigger late after insert on ${notes}
      deferrable initially deferred for each row execute function ${notes}_check()`);
    const [one] = await claim();
    await expect(run(one!, (tx) => note(tx, "late"))).rejects.toMatchObject({ code: "22012" });
    expect(await kept()).toEqual([]);
    expect(await states()).toEqual(["leased"]);
    await pool.query(`drop function ${notes}_check() cascade`);
  });

  it("several statements in one text, and the driver's own handle, are in the transaction too", async () => {
    const [one, two, three] = await claim(3);
    await run(one!, (tx) => tx.query(`insert into ${notes} values ('a'); insert into ${notes} values ('b')`));
    const failing = run(two!, async (tx) => {
      const client = (await tx.raw) as { query(sql: string): Promise<unknown> };
      await client.query(`insert into ${notes} values ('c')`);
      throw new Error("after a write of its own");
    });
    await expect(failing).rejects.toThrow("after a write");
    await run(three!, async (tx) => {
      const client = (await tx.raw) as { query(sql: string): Promise<unknown> };
      await client.query(`insert into ${notes} values ('d')`);
    });
    expect(await kept()).toEqual(["a", "b", "d"]);
    expect(await states()).toEqual(["done", "leased", "done"]);
  });

  it("two concurrent first statements are in one transaction", async () => {
    const [one, two] = await claim(2);
    await run(one!, (tx) => Promise.all([note(tx, "a"), note(tx, "b")]));
    const failing = run(two!, async (tx) => {
      await Promise.all([note(tx, "c"), note(tx, "d")]);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await kept()).toEqual(["a", "b"]);
  });

  it("rejects what was cut off after its commit was sent", async () => {
    const [one, two] = await claim(2);
    await run(one!, (tx) => note(tx, "one"));
    proxy.cutAtCommit(runsOnly);
    await expect(run(two!, (tx) => note(tx, "two"))).rejects.toMatchObject({ code: "store_unavailable" });
  });

  it("a run does the same as one that begins and commits with statements of their own", async () => {
    // Without prepared statements nothing is sent in front of a query.
    const tablePrefix = notes.replace("own_notes", "");
    const plain = postgresStore(proxy.url, { tablePrefix, preparedStatements: false });
    const runs: ((tx: SqlTx<never>) => Promise<unknown>)[] = [
      () => Promise.resolve(),
      (tx) => tx.query("select $1::int as number", [7]),
      async (tx) => [await note(tx, "a"), await tx.query("select count(*)::int as count from pg_am")],
      (tx) => note(tx, "taken"),
      (tx) => note(tx, "taken").catch(() => undefined),
      (tx) => tx.query(`insert into ${notes} values ('x'); insert into ${notes} values ('y')`),
      () => Promise.reject(new Error("failed")),
    ];
    await pool.query(`insert into ${notes} values ('taken')`);
    const [one] = await claim();
    const outcomesOn = async (chosen: SqlPaymentStore): Promise<unknown[]> => {
      const outcomes: unknown[] = [];
      for (const [handle, fence] of runs.flatMap((each) => [
        [each, 0] as const,
        [each, one!.fence] as const,
      ])) {
        const seen: unknown[] = [];
        const running = run({ ...one!, fence }, async (tx) => void seen.push(await handle(tx)), chosen);
        const ended = await running.then(
          () => "done",
          // The plain way resolves `false`, so that the run rejects by itself.
          ({ code, message }: Error & { code?: string }) =>
            (code ?? message).replace("not settled", "lease_lost"),
        );
        outcomes.push([seen, ended, await kept(), await states()]);
        await pool.query(`delete from ${notes} where text <> 'taken'`);
        await pool.query(`update ${tablePrefix}dispatches set state = 'leased' where event_seq = 1`);
      }
      return outcomes;
    };
    const fast = await outcomesOn(store);
    expect(fast).toEqual(await outcomesOn(plain));
    expect(fast.flat()).toEqual(expect.arrayContaining(["done", "lease_lost", "transaction_poisoned"]));
    await plain.close();
  });
}
