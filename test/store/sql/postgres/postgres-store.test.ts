import { Pool } from "pg";
import { postgresStore } from "tillkit/sql";
import { event, payment } from "../../../../src/store/exam/checks/fixtures.js";
import { settled } from "../../../../src/store/exam/checks/steps.js";
import { serverSentences } from "../support/server-sentences.js";

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];

if (url === undefined || url === "none") {
  console.info("The PostgreSQL store is not examined: TILLKIT_TEST_POSTGRES_URL names no server.");
  it("leaves the PostgreSQL store out, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_POSTGRES_URL"]);
  });
} else examine(url);

function examine(url: string): void {
  const pool = new Pool({ connectionString: url, max: 30 });
  const { tablePrefix, table } = serverSentences({
    name: "PostgreSQL",
    url,
    pool,
    create: postgresStore,
    first: "$1",
    nowhere: "postgres://nobody@127.0.0.1:1/none",
  });

  it("rolls back when a statement on the driver's own handle failed without the kit's knowledge", async () => {
    const store = postgresStore(pool, { tablePrefix });
    const run = store.transaction(async (tx) => {
      await tx.query(`insert into ${table} (id) values ('unseen')`);
      const client = await tx.raw;
      await expect(client.query("select 1 / 0")).rejects.toThrow("division by zero");
    });
    await expect(run).rejects.toMatchObject({ code: "transaction_poisoned" });
  });

  it("saves payments in lists where the sessions of the application read no null in a list", async () => {
    const others = new Pool({ connectionString: url, options: "-c array_nulls=off" });
    const store = postgresStore(others, { tablePrefix });
    const clientIds = Array.from({ length: 12 }, (_, index) => `nulls-${index}`);
    const created = clientIds.map((clientId, index) =>
      payment(clientId, { reference: clientId, ...(index === 0 && { serviceId: "s-nulls" }) }),
    );
    await store.transaction((tx) => store.save(tx, { created }));
    const found = await store.findMany({ clientIds });
    expect(found.toSorted(byClientId)).toEqual(created.toSorted(byClientId));
    await store.close();
    await others.end();
  });

  it("wakes other processes when events were saved, and not the one that saved them", async () => {
    const listening = postgresStore(url, { tablePrefix });
    const saving = postgresStore(pool, { tablePrefix });
    let woken = 0;
    let next = (): void => undefined;
    const wakeUp = (): Promise<void> => new Promise((resolve) => (next = resolve));
    const subscribed = wakeUp();
    const stop = listening.wake!(() => {
      woken++;
      next();
    });
    await subscribed;
    const savesEvent = (store: typeof saving, id: string): Promise<unknown> =>
      store.transaction((tx) =>
        store.save(tx, {
          events: [{ id, type: "payment.overdue", recordedAt: "2024-05-01T10:00:00.000Z", payload: {} }],
        }),
      );
    const heard = wakeUp();
    await savesEvent(listening, "own");
    await savesEvent(saving, "another's");
    await heard;
    expect(woken).toBe(2);
    stop();
    await Promise.all([listening.close(), saving.close()]);
  });

  it("wakes other processes when events were recorded, and when dead dispatches were revived", async () => {
    const [listening, saving] = [url, pool].map((source) => postgresStore(source, { tablePrefix }));
    let next = (): void => undefined;
    const wakeUp = (): Promise<void> => new Promise((resolve) => (next = resolve));
    const subscribed = wakeUp();
    const stop = listening!.wake!(() => next());
    await subscribed;
    const handler = `${tablePrefix}woken`;
    const handlers = [{ event: "payment.overdue", name: handler } as const];
    await saving!.registerHandlers(handlers);

    const recorded = wakeUp();
    const overdue = event("overdue", { type: "payment.overdue" });
    await saving!.record({ clientIds: ["nobody"] }, () => ({ events: [overdue] }));
    expect(await recorded).toBeUndefined();
    const [claim] = await saving!.claim({ handlers, limit: 1, leaseMs: 60_000 });
    await settled(saving!, claim!, { state: "dead", error: "no" });

    const revived = wakeUp();
    expect(await saving!.dead({ handler, revive: true, limit: 1 })).toHaveLength(1);
    expect(await revived).toBeUndefined();
    stop();
    await Promise.all([listening!.close(), saving!.close()]);
  });

  it("listens again after its connection broke", async () => {
    const listening = postgresStore(url, { tablePrefix });
    let next = (): void => undefined;
    const wakeUp = (): Promise<void> => new Promise((resolve) => (next = resolve));
    const subscribed = wakeUp();
    const stop = listening.wake!(() => next());
    await subscribed;
    const again = wakeUp();
    await pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen "${tablePrefix}events"'`,
    );
    await again;
    stop();
    await listening.close();
    expect(await pool.query("select 1 as one").then(({ rows }) => rows)).toEqual([{ one: 1 }]);
  });

  it("claims again where the server ended a claim in favour of another transaction", async () => {
    const store = postgresStore(pool, { tablePrefix });
    const name = `${tablePrefix}conflict`;
    const handlers = [{ event: "payment.overdue", name } as const];
    await store.registerHandlers(handlers);
    const recordedAt = "2024-05-01T10:00:00.000Z";
    await store.transaction((tx) =>
      store.save(tx, { events: [{ id: name, type: "payment.overdue", recordedAt, payload: {} }] }),
    );
    // As servers do with the default REPEATABLE READ. A sequence goes on after a rollback, so that this happens once.
    await pool.query(`create sequence ${name};
      create function ${name}() returns trigger language plpgsql as $$ begin
        if nextval('${name}') = 1 then raise exception using errcode = '40001'; end if; return new; end $$;
      create trigger conflict before update on ${tablePrefix}dispatches for each row execute function ${name}()`);
    try {
      expect(await store.claim({ handlers, limit: 1, leaseMs: 1000 })).toMatchObject([{ attempt: 1 }]);
    } finally {
      await pool.query(`drop function ${name} cascade; drop sequence ${name}`);
    }
  });

  it.each([100, 0])("gives up on a lock after a busyTimeoutMs of %d", async (busyTimeoutMs) => {
    const holding = postgresStore(pool, { tablePrefix });
    const waiting = postgresStore(pool, { tablePrefix, busyTimeoutMs });
    await holding.transaction(async (tx) => {
      await tx.query(`lock table ${tablePrefix}payments in access exclusive mode`);
      const run = waiting.transaction((other) => waiting.lock(other, { clientIds: ["p1"] }));
      await expect(run).rejects.toMatchObject({ code: "store_busy" });
    });
  });

  it("rejects with store_unavailable when the server refuses the connection, and not when it stops a statement of the application", async () => {
    const elsewhere = new URL(url);
    elsewhere.pathname = "/no_such_database";
    const refused = postgresStore(elsewhere.href);
    await expect(refused.find("p1")).rejects.toMatchObject({
      code: "store_unavailable",
      cause: { code: "3D000" },
    });
    await refused.close();
    const store = postgresStore(pool, { tablePrefix });
    const stopped = store.transaction(async (tx) => {
      await tx.query("set local statement_timeout = 50");
      await expect(tx.query("select pg_sleep(60)")).rejects.toMatchObject({ code: "57014" });
    });
    await expect(stopped).rejects.toMatchObject({
      code: "transaction_poisoned",
      cause: { code: "57014" },
    });
  });

  it("warns where a commit is not durable", async () => {
    const weak = postgresStore(`${url}?options=-c%20synchronous_commit%3Doff`, { tablePrefix });
    expect(await weak.warnings()).toContainEqual(expect.stringContaining("synchronous_commit = off"));
    await weak.close();
  });

  it("refuses an address of another database, without repeating its password", () => {
    expect(() => postgresStore("mysql://root:hunter2@localhost/shop")).toThrow(
      expect.objectContaining({ code: "option_invalid", message: expect.not.stringContaining("hunter2") }),
    );
  });
}

const byClientId = (a: { clientId: string }, b: { clientId: string }) => (a.clientId < b.clientId ? -1 : 1);
