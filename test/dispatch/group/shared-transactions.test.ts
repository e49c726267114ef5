import { type NoticeMap, type PaymentsOptions, type SignedField, type TillkitEvent } from "tillkit";
import { asPool, type SqlPaymentStore, type SqlTx } from "tillkit/sql";
import {
  onEachDatabase,
  openPlace,
  openStore,
  placeholders,
  type Place,
} from "../../promises/processes/databases.js";
import { until } from "../../promises/processes/members.js";
import { runGroups } from "../../../src/dispatch/group/run-group.js";
import { type AnyHandler } from "../../../src/dispatch/handlers.js";
import { closeAll, testKit } from "../../support/kit.js";
import { pendingPayment } from "../../support/webhooks.js";
import { sharedRunOptions } from "./shared-run-options.js";

type Completed = TillkitEvent<"payment.completed">;
interface OrmPool {
  connect(): Promise<{ query(sql: string): Promise<unknown>; release(): void }>;
}
type Dispatch = PaymentsOptions<SignedField, SqlTx>["dispatch"];

const fast: Dispatch = { pollMs: 5, firstDelayMs: 1, maxDelayMs: 5, maxFailures: 3 };

onEachDatabase("shared transactions", (kind) => {
  let place: Place;
  beforeEach(async () => void (place = await openPlace(kind)));
  afterEach(async () => {
    await closeAll();
    await place.remove();
  });

  /** Records events `e-0`, `e-1`, … of payments of their own. */
  async function record(count: number, from = 0): Promise<void> {
    const events = Array.from({ length: count }, (_, n) => {
      const payment = pendingPayment({ clientId: `c-${from + n}`, reference: `order-${from + n}` });
      const recordedAt = "2026-11-20T10:00:06.000Z";
      return {
        id: `e-${from + n}`,
        type: "payment.completed",
        clientId: payment.clientId,
        recordedAt,
        payload: { payment },
      } as const;
    });
    for (let at = 0; at < count; at += 500)
      await place.store.transaction((tx) => place.store.save(tx, { events: events.slice(at, at + 500) }));
  }

  /** Writes one row of the ledger. */
  const book = (tx: SqlTx, event: Completed, attempt = 1) =>
    tx.query(
      `insert into ${place.address.prefix}ledger (name, client_id, event_id, attempt, idempotency_key)
        values (${placeholders(tx, 5)})`,
      ["books", event.payment.clientId, event.id, attempt, `${event.id}:books`],
    );

  /** Opens a kit that counts its shared transactions, registers the handler, and then records so many events. */
  async function run(
    count: number,
    handler: (event: Completed, context: { tx: SqlTx; attempt: number; signal: AbortSignal }) => unknown,
    { timeoutMs, ...dispatch }: Dispatch & { timeoutMs?: number } = {},
  ) {
    const store = openStore(place.address);
    const shared = jest.spyOn(store as Required<SqlPaymentStore>, "runShared");
    const claim = jest.spyOn(store, "claim");
    const limits = () => [...new Set(claim.mock.calls.map(([{ limit }]) => limit))];
    const payments = testKit<SignedField, SqlTx>({ store, dispatch: { ...fast, ...dispatch } });
    payments.onPaymentCompleted(handler, { name: "books", transaction: "shared", timeoutMs });
    const [failed, deaths] = [[] as string[], [] as NoticeMap["dispatch.dead"][]];
    payments.on("dispatch.failed", ({ event }) => void failed.push(event.id));
    payments.on("dispatch.dead", (death) => void deaths.push(death));
    await payments.start({ keepAlive: false });
    await until(
      async () => (await place.select("select name from @handlers")).length === 1,
      "the registration",
    );
    await record(count);
    const settled = () =>
      until(async () => {
        const [row] = await place.select<{ n: unknown }>(
          "select count(*) as n from @dispatches where state in ('done', 'dead')",
        );
        return Number(row!.n) === count;
      }, "all dispatches");
    return { payments, failed, deaths, shared, limits, settled };
  }

  const bookedIds = async () => (await place.ledger()).map(({ event_id }) => event_id).toSorted();
  const ids = (count: number, but: readonly number[] = []) =>
    Array.from({ length: count }, (_, n) => n)
      .filter((n) => !but.includes(n))
      .map((n) => `e-${n}`)
      .toSorted();

  it("of 1,000 events a poisoned one dies alone, and every other effect is there once", async () => {
    const runs = new Map<string, number>();
    const { settled, deaths, failed, shared, limits } = await run(1000, async (event, { tx }) => {
      runs.set(event.id, (runs.get(event.id) ?? 0) + 1);
      await book(tx, event);
      if (event.id === "e-500") await tx.query("select no_such_column from no_such_table");
    });
    await settled();
    expect(await bookedIds()).toEqual(ids(1000, [500]));
    expect(deaths.map(({ event }) => event.id)).toEqual(["e-500"]);
    expect(failed).toEqual(["e-500", "e-500"]);
    expect(runs.get("e-500")).toBe(3);
    expect([...runs.values()].filter((count) => count > 1)).toHaveLength(1);
    expect(shared.mock.calls.length).toBeLessThan(300);
    // A group grows with the backlog.
    expect(limits().slice(0, 3)).toEqual([1, 2, 4]);
    expect(Math.max(...limits())).toBeLessThanOrEqual(50);
  });

  it("a failure that the handler swallowed rolls its own writes back", async () => {
    const { settled, deaths } = await run(20, async (event, { tx }) => {
      await book(tx, event);
      if (event.id === "e-7") await tx.query("select 1 from no_such_table").catch(() => {});
    });
    await settled();
    expect(await bookedIds()).toEqual(ids(20, [7]));
    expect(deaths).toMatchObject([
      {
        event: { id: "e-7" },
        error: expect.stringContaining("A statement of this transaction failed") as unknown,
      },
    ]);
  });

  it("a hanging run ends at its time limit, alone, and writes nothing later", async () => {
    const late: (() => Promise<unknown>)[] = [];
    const { settled, deaths } = await run(
      20,
      async (event, { tx }) => {
        await book(tx, event);
        if (event.id !== "e-7") return;
        late.push(() => book(tx, event));
        await new Promise(() => {});
      },
      { timeoutMs: 500, maxFailures: 2 },
    );
    await settled();
    expect(await bookedIds()).toEqual(ids(20, [7]));
    expect(deaths).toMatchObject([
      { event: { id: "e-7" }, error: expect.stringContaining("longer than 500 ms") as unknown },
    ]);
    expect(late).toHaveLength(2);
    for (const write of late) await expect(write()).rejects.toMatchObject({ code: "transaction_closed" });
  });

  it("runs that end the transaction or use its handle are refused, and the others stay", async () => {
    const endings: Record<string, (tx: SqlTx) => Promise<unknown>> = {
      "e-4": (tx) => tx.query("commit"),
      "e-5": (tx) => tx.query("/* over */ ROLLBACK"),
      "e-6": (tx) => tx.query(`delete from ${place.address.prefix}ledger where 1 = 0; commit`),
      "e-7": (tx) => tx.raw,
      "e-8": (tx) => tx.query("create table tillkit_shared_ddl (id int)"),
    };
    const { settled, deaths } = await run(30, async (event, { tx }) => {
      await book(tx, event);
      await endings[event.id]?.(tx);
    });
    await settled();
    expect(await bookedIds()).toEqual(ids(30, [4, 5, 6, 7, 8]));
    for (const { error } of deaths) expect(error).toContain("A handler that shares its transaction cannot");
  });

  it("a lost lease rolls the whole group back, and each run is repeated alone", async () => {
    const runs: string[] = [];
    const { settled, failed } = await run(40, async (event, { tx }) => {
      runs.push(event.id);
      await book(tx, event);
      const sql = `update ${place.address.prefix}dispatches set fence = fence + 1 where event_id = 'e-20'`;
      if (event.id === "e-20" && runs.filter((id) => id === "e-20").length === 1) await tx.query(sql);
    });
    await settled();
    expect(await bookedIds()).toEqual(ids(40));
    expect(failed).toEqual([]);
    expect(runs.filter((id) => id === "e-20").length).toBe(2);
  });

  it("keeps the order of the events", async () => {
    const order: string[] = [];
    const { settled } = await run(200, async (event, { tx }) => {
      order.push(event.id);
      await book(tx, event);
    });
    await settled();
    expect(order).toEqual(Array.from({ length: 200 }, (_, n) => `e-${n}`));
  });

  it("a close waits for the run of a group", async () => {
    let [begin, end] = [(): void => {}, (): void => {}];
    const started = new Promise<void>((resolve) => (begin = resolve));
    const ended = new Promise<void>((resolve) => (end = resolve));
    const { payments, failed } = await run(1, async (event, { tx }) => {
      begin();
      await ended;
      await book(tx, event);
    });
    await started;
    // Much later than a close that waits for nothing.
    setTimeout(end, 300);
    await payments.close();
    expect([await bookedIds(), failed]).toEqual([ids(1), []]);
    expect(await place.select("select state from @dispatches")).toEqual([{ state: "done" }]);
  });

  it("a close in the middle of a group keeps what is done, and gives the others back", async () => {
    const handlers = [{ event: "payment.completed", name: "books" }] as const;
    const { store } = place;
    await store.registerHandlers(handlers);
    await record(40);
    const closing = new AbortController();
    const options = sharedRunOptions(store);
    const handler: AnyHandler<SqlTx> = async (event, { tx }) => {
      await book(tx, event as Completed);
      if (event.id !== "e-20") return;
      closing.abort(new Error("closing"));
      await new Promise(() => {});
    };
    const claims = await store.claim({ handlers, limit: 40, leaseMs: 60_000 });
    const claimed = claims.map((claim) => ({ claim, handler, options }));
    const ends = new Map<string, number>();
    await runGroups(claimed, 40, closing.signal, (_, { state }) =>
      ends.set(state, (ends.get(state) ?? 0) + 1),
    );
    expect(Object.fromEntries(ends)).toEqual({ done: 20, released: 1 });
    expect(await bookedIds()).toEqual(ids(20));
    const rows = await place.select<object>(
      "select state, attempt, failures from @dispatches where state <> 'done'",
    );
    expect(rows).toHaveLength(20);
    for (const row of rows) expect(row).toEqual({ state: "pending", attempt: 0, failures: 0 });
  });

  it("runs the first claim of a group although the process stood still before", async () => {
    const handlers = [{ event: "payment.completed", name: "books" }] as const;
    const { store } = place;
    await store.registerHandlers(handlers);
    await record(10);
    const runShared = store.runShared!.bind(store);
    let [runs, runsOfFirst] = [0, 0];
    jest.spyOn(store as Required<SqlPaymentStore>, "runShared").mockImplementationOnce(async (work) => {
      for (const until = performance.now() + 60; performance.now() < until;);
      await runShared(work);
      runsOfFirst = runs;
    });
    const options = sharedRunOptions(store);
    const handler: AnyHandler<SqlTx> = (event, { tx }) => {
      runs += 1;
      return book(tx, event as Completed);
    };
    const claims = await store.claim({ handlers, limit: 10, leaseMs: 60_000 });
    const claimed = claims.map((claim) => ({ claim, handler, options }));
    const next = await runGroups(claimed, 10, new AbortController().signal, () => {});
    expect(await bookedIds()).toEqual(ids(10));
    expect(runsOfFirst).toBeGreaterThan(0);
    expect(next).toBeGreaterThan(0);
  });

  if (kind !== "sqlite") {
    /** Ends the connection of a transaction. */
    async function cut(tx: SqlTx): Promise<void> {
      const own = kind === "mysql" ? "connection_id()" : "pg_backend_pid()";
      const { rows } = await tx.query<{ id: number }>(`select ${own} as id`);
      const kill = kind === "mysql" ? "kill ?" : "select pg_terminate_backend($1)";
      await place.store.query(kill, [rows[0]!.id]);
    }

    it("a lost connection rolls the whole group back, and every effect is there once", async () => {
      let kills = 0;
      const { settled, deaths, failed } = await run(60, async (event, { tx }) => {
        await book(tx, event);
        if (event.id !== "e-20" || kills++ > 1) return;
        await cut(tx);
        await book(tx, event);
      });
      await settled();
      expect(await bookedIds()).toEqual(ids(60));
      expect(deaths).toEqual([]);
      expect(failed).toEqual([]);
      expect(kills).toBe(3);
    });

    it("a part whose connection was lost lets no later part run", async () => {
      const later = jest.fn();
      const work = (place.store as Required<SqlPaymentStore>).runShared(async (part) => {
        const first = part(async (tx) => {
          await cut(tx);
          await tx.query("select 1");
        });
        await expect(first).rejects.toMatchObject({ code: "store_unavailable" });
        await expect(part(later)).rejects.toMatchObject({ code: "transaction_closed" });
        return [];
      });
      await expect(work).rejects.toMatchObject({ code: "transaction_poisoned" });
      expect(later).not.toHaveBeenCalled();
    });

    it("a statement that hangs past the time limit breaks the transaction, and dies alone", async () => {
      const sleep = kind === "mysql" ? "select sleep(60)" : "select pg_sleep(60)";
      const { settled, deaths } = await run(
        30,
        async (event, { tx }) => {
          await book(tx, event);
          if (event.id === "e-9") await tx.query(sleep);
        },
        { timeoutMs: 500, maxFailures: 2 },
      );
      await settled();
      // PostgreSQL notices the lost connection only after the statement, and keeps its locks until then.
      const sleeping = "select pg_terminate_backend(pid) from pg_stat_activity where query = $1";
      if (kind === "postgres") await place.store.transaction((tx) => tx.query(sleeping, [sleep]));
      expect(await bookedIds()).toEqual(ids(30, [9]));
      expect(deaths).toMatchObject([{ event: { id: "e-9" } }]);
    });

    it("a deadlock ends no more than the run or its group, and every effect is there once", async () => {
      await record(0);
      let other: Promise<unknown> | undefined;
      const touch = (tx: SqlTx, id: string) =>
        tx.query(`update ${place.address.prefix}ledger set attempt = attempt + 1 where event_id = '${id}'`);
      await place.store.transaction(async (tx) => {
        for (const id of ["row-a", "row-b"]) await book(tx, { id, payment: { clientId: id } } as Completed);
      });
      const { settled, deaths } = await run(40, async (event, { tx }) => {
        await book(tx, event);
        if (event.id !== "e-20" || other) return;
        await touch(tx, "row-a");
        await new Promise<void>((isHeld) => {
          other = place.store
            .transaction(async (outside) => {
              await touch(outside, "row-b");
              isHeld();
              await touch(outside, "row-a");
            })
            .catch(() => {});
        });
        await touch(tx, "row-b");
      });
      await settled();
      await other;
      expect((await bookedIds()).filter((id) => id.startsWith("e-"))).toEqual(ids(40));
      expect(deaths).toEqual([]);
    });

    it("an ORM's own transaction is a part of the run, and rolls back alone", async () => {
      const { settled, deaths } = await run(30, async (event, { tx }) => {
        const pool = asPool<OrmPool>(tx);
        const connection = await pool.connect();
        const row = `insert into ${place.address.prefix}ledger (name, client_id, event_id) values ('orm', 'c', '${event.id}')`;
        await connection.query("begin");
        await connection.query(row);
        if (event.id === "e-9") await connection.query("select 1 from no_such_table").catch(() => {});
        if (event.id !== "e-11") await connection.query(event.id === "e-9" ? "rollback" : "commit");
        connection.release();
        if (event.id === "e-12") await connection.query("create table tillkit_shared_ddl (id int)");
      });
      await settled();
      expect(await bookedIds()).toEqual(ids(30, [9, 11, 12]));
      expect(deaths.map(({ event }) => event.id)).toEqual(["e-12"]);
    });
  }
});
