import { createPool } from "mysql2/promise";
import { Pool } from "pg";
import { mysqlStore, postgresStore, type SqlPaymentStore } from "tillkit/sql";
import { ledger } from "../../../src/store/exam/checks/fixtures.js";
import { claimed, settled, withEvents } from "../../../src/store/exam/checks/steps.js";
import { serverUrl } from "../../promises/processes/databases.js";
import { tablePrefixes } from "./support/table-prefixes.js";

/** A server on which a table, or its rows, can be locked for longer than the kit waits for an answer. */
interface Server {
  run(sql: string): Promise<unknown>;
  open(tablePrefix: string): SqlPaymentStore;
  /** A statement that takes this long, in seconds. */
  pause(seconds: number): string;
  /** Locks a table or its rows, runs, and unlocks it. */
  whileLocked(table: string, run: () => Promise<void>): Promise<void>;
  end(): Promise<unknown>;
}

function postgres(url: string): Server {
  const pool = new Pool({ connectionString: url });
  return {
    run: (sql) => pool.query(sql),
    open: (tablePrefix) => postgresStore(url, { tablePrefix, busyTimeoutMs: 1000 }),
    pause: (seconds) => `select pg_sleep(${seconds})`,
    async whileLocked(table, run) {
      const client = await pool.connect();
      await client.query("begin");
      await client.query(`lock table ${table} in access exclusive mode`);
      await run();
      await client.query("rollback");
      client.release();
    },
    end: () => pool.end(),
  };
}

function mysql(url: string): Server {
  const pool = createPool({ uri: url });
  return {
    run: (sql) => pool.query(sql),
    open: (tablePrefix) => mysqlStore(url, { tablePrefix, busyTimeoutMs: 1000 }),
    pause: (seconds) => `select sleep(${seconds})`,
    async whileLocked(table, run) {
      const connection = await pool.getConnection();
      await connection.query(`lock tables ${table} write`);
      await run();
      await connection.query("unlock tables");
      connection.release();
    },
    end: () => pool.end(),
  };
}

/** The application's own sessions wait for a row for as long as the server's settings say. */
function mysqlRows(url: string): Server {
  const server = mysql(url);
  const pool = createPool({ uri: url });
  return {
    ...server,
    open: (tablePrefix) => mysqlStore(pool, { tablePrefix, busyTimeoutMs: 1000 }),
    async whileLocked(table, run) {
      const connection = await pool.getConnection();
      await connection.query("start transaction");
      await connection.query(`select 1 from ${table} for update`);
      await run();
      await connection.query("rollback");
      connection.release();
    },
    end: () => Promise.all([server.end(), pool.end()]),
  };
}

describe.each([
  ["a table that somebody locks on PostgreSQL", serverUrl("postgres"), postgres],
  ["a table that somebody locks on MySQL", serverUrl("mysql"), mysql],
  ["a row that somebody locks on MySQL, with the application's pool", serverUrl("mysql"), mysqlRows],
] as const)("%s", (_, url, connect) => {
  if (url === undefined) {
    it("is left out, because no server is named", () => expect(url).toBeUndefined());
    return;
  }

  it.each([
    ["", 1],
    [", also where the statements that wait fill the pool", 40],
  ])("does not end the long statement of a handler on another connection%s", async (_full, waiting) => {
    const server = connect(url);
    const tables = tablePrefixes((sql) => server.run(sql));
    const prefix = tables.next();
    const store = server.open(prefix);
    await withEvents(store, [ledger], 1);
    const [claim] = await claimed(store, [ledger], { leaseMs: 60_000 });
    let began!: () => void;
    const begins = new Promise<void>((resolve) => (began = resolve));
    const handling = store.transaction(async (tx) => {
      await tx.query("select 1");
      began();
      await tx.query(server.pause(4));
      return "done";
    });
    await begins;
    await server.whileLocked(`${prefix}dispatches`, async () => {
      const renew = () => store.renew({ ...claim!, eventId: claim!.event.id }, 60_000);
      const renewals = await Promise.allSettled(Array.from({ length: waiting }, renew));
      for (const renewal of renewals)
        expect(renewal).toMatchObject({ status: "rejected", reason: { code: "store_unavailable" } });
    });
    expect(await handling).toBe("done");
    expect(await settled(store, claim!, { state: "done" })).toBe(true);
    await store.close();
    await tables.dropAll();
    await server.end();
  });
});
