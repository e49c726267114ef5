import { createPool } from "mysql2";
import { Pool } from "pg";
import { pino } from "pino";
import { mysqlStore, postgresStore, type SqlPaymentStore } from "tillkit/sql";
import { serverUrl } from "../../promises/processes/databases.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { tablePrefixes } from "./support/table-prefixes.js";

const [postgresUrl, mysqlUrl] = [serverUrl("postgres"), serverUrl("mysql")];
afterEach(closeAll);

/** A pool of an application, its store, and the ways to take all of its connections and to end it. */
interface Place {
  store: (tablePrefix: string) => SqlPaymentStore;
  run: (sql: string) => Promise<unknown>;
  take: () => Promise<{ release(): void }>;
  end: () => Promise<unknown>;
}

const open: Record<string, ((size: number, waitMs?: number) => Place) | undefined> = {
  "a pool of pg":
    postgresUrl === undefined
      ? undefined
      : (max, connectionTimeoutMillis = 300) => {
          const pool = new Pool({ connectionString: postgresUrl, max, connectionTimeoutMillis });
          return {
            store: (tablePrefix) => postgresStore(pool, { tablePrefix }),
            run: (sql) => pool.query(sql),
            take: () => pool.connect(),
            end: () => pool.end(),
          };
        },
  "a promise pool of mysql2": mysqlUrl === undefined ? undefined : (size) => mysqlPlace(mysqlUrl, size, true),
  "a pool of mysql2 with callbacks":
    mysqlUrl === undefined ? undefined : (size) => mysqlPlace(mysqlUrl, size, false),
};

function mysqlPlace(uri: string, connectionLimit: number, isPromise: boolean): Place {
  const plain = createPool({ uri, connectionLimit });
  const pool = plain.promise();
  return {
    store: (tablePrefix) => mysqlStore(isPromise ? pool : plain, { tablePrefix }),
    run: (sql) => pool.query(sql),
    take: () => pool.getConnection(),
    end: () => pool.end(),
  };
}

describe.each(Object.entries(open))("%s that an application gives to the store", (_, openPool) => {
  if (!openPool) {
    it("is left out, because no server is named for it", () => expect(openPool).toBeUndefined());
    return;
  }

  it("is warned about at the start, with both numbers, if it is smaller than concurrency + 4", async () => {
    const place = openPool(13);
    const tables = tablePrefixes(place.run);
    const lines: string[] = [];
    const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
    const start = (concurrency: number | false) =>
      testKit({
        store: place.store(tables.next()),
        dispatch: concurrency === false ? false : { concurrency },
        spool: false,
        logger,
      }).start({ keepAlive: false });
    const warning = "pool_too_small: The pool has 13 connections, and the kit needs 14.";
    await start(9);
    await start(false);
    expect(lines.filter((line) => line.includes("pool_too_small"))).toEqual([]);
    await start(10);
    expect(lines.filter((line) => line.includes(warning))).toHaveLength(1);
    await closeAll();
    await tables.dropAll();
    await place.end();
  });

  it("is named with both numbers by the error of waiting for one of its connections", async () => {
    const place = openPool(5);
    const tables = tablePrefixes(place.run);
    const store = place.store(tables.next());
    await store.migrate();
    await store.warnings({ concurrency: 10 });
    const taken = await Promise.all(Array.from({ length: 5 }, () => place.take()));
    const message = expect.stringContaining("The pool has 5 connections, and the kit needs 14.") as string;
    const expected = { code: "store_unavailable", message };
    await Promise.all([
      expect(store.find("c-1")).rejects.toMatchObject(expected),
      expect(store.transaction(async () => {})).rejects.toMatchObject(expected),
    ]);
    for (const connection of taken) connection.release();
    expect(await store.find("c-1")).toBeUndefined();
    await store.close();
    await tables.dropAll();
    await place.end();
  });

  it("is enough with one connection to take webhooks and to run a handler", async () => {
    const place = openPool(1, 60_000);
    const tables = tablePrefixes(place.run);
    const store = place.store(tables.next());
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    const payments = testKit({ store, spool: false, dispatch: { pollMs: 20 } });
    const ran = new Promise((resolve) => {
      payments.onPaymentCompleted(async ({ payment }, { tx }) => {
        await tx.query("select 1");
        resolve(payment.clientId);
      });
    });
    await payments.start({ keepAlive: false });
    await payments.receiveWebhook(signed(completedBody()));
    expect(await ran).toBe("c-1");
    await closeAll();
    await tables.dropAll();
    await place.end();
  });
});

if (postgresUrl !== undefined)
  it("does not warn about a pool of the store's own, which keeps connections back by itself", async () => {
    const pool = new Pool({ connectionString: postgresUrl });
    const tables = tablePrefixes((sql) => pool.query(sql));
    const store = postgresStore(postgresUrl, { maxConnections: 5, tablePrefix: tables.next() });
    expect(await store.warnings({ concurrency: 100 })).not.toContainEqual(
      expect.stringContaining("pool_too_small"),
    );
    await store.close();
    await tables.dropAll();
    await pool.end();
  });
