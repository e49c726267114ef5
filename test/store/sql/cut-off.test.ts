import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { createPool } from "mysql2";
import { Pool } from "pg";
import { mysqlStore, postgresStore, type SqlPaymentStore } from "tillkit/sql";
import { resolveSqlStoreOptions } from "../../../src/store/sql/options.js";
import { MysqlDriver } from "../../../src/store/sql/mysql/mysql-driver.js";
import { PostgresDriver } from "../../../src/store/sql/postgres/postgres-driver.js";
import { tablesUnder } from "../../../src/store/sql/tables/names.js";
import { tablePrefixes } from "./support/table-prefixes.js";

const postgresUrl = process.env["TILLKIT_TEST_POSTGRES_URL"];
const mysqlUrl = process.env["TILLKIT_TEST_MYSQL_URL"];
const given = (url: string | undefined): url is string => url !== undefined && url !== "none";

/** Statements that take longer than any test may. */
const sleep = { postgres: "select pg_sleep(60)", mysql: "select sleep(60)" };

interface Case {
  name: "postgres" | "mysql";
  url: string;
  run: (sql: string) => Promise<unknown>;
  end: () => Promise<void>;
  create: (url: string, tablePrefix: string) => SqlPaymentStore;
  driver: (url: string, tablePrefix: string) => PostgresDriver | MysqlDriver;
}

const impatient = resolveSqlStoreOptions({ busyTimeoutMs: 100 });

const cases: Case[] = [];
if (given(postgresUrl)) {
  const pool = new Pool({ connectionString: postgresUrl });
  cases.push({
    name: "postgres",
    url: postgresUrl,
    run: (sql) => pool.query(sql),
    end: () => pool.end(),
    create: (url, tablePrefix) => postgresStore(url, { tablePrefix }),
    driver: (url, tablePrefix) => new PostgresDriver(url, tablesUnder(tablePrefix), impatient),
  });
}
if (given(mysqlUrl)) {
  const pool = createPool({ uri: mysqlUrl }).promise();
  cases.push({
    name: "mysql",
    url: mysqlUrl,
    run: (sql) => pool.query(sql),
    end: () => pool.end(),
    create: (url, tablePrefix) => mysqlStore(url, { tablePrefix }),
    driver: (url, tablePrefix) => new MysqlDriver(url, tablesUnder(tablePrefix), impatient),
  });
}

it("runs for each server that is given", () => {
  expect(cases.map(({ url }) => url)).toEqual([postgresUrl, mysqlUrl].filter(given));
});

for (const { name, url, run, end, create, driver } of cases) {
  describe(`on ${name}`, () => {
    const tables = tablePrefixes(run);
    const tablePrefix = tables.next();
    afterAll(async () => {
      await tables.dropAll();
      await end();
    });

    it("ends a run, and its connection, while one of its statements is under way", async () => {
      const store = create(url, tablePrefix);
      let sleeping: Promise<unknown> | undefined;
      const startedAt = performance.now();
      const given = store.transaction(async (tx) => {
        sleeping = tx.query(sleep[name]);
        sleeping.catch(() => undefined);
        await tx.raw;
        throw new Error("its time is over");
      });
      await expect(given).rejects.toThrow("its time is over");
      await expect(sleeping).rejects.toBeInstanceOf(Error);
      expect(await store.find("nobody")).toBeUndefined();
      await store.close();
      expect(performance.now() - startedAt).toBeLessThan(30_000);
    });

    it("ends the connection of a run that has its handle, so that a late statement reaches no other transaction", async () => {
      const store = create(url, tablePrefix);
      let handle: { query(sql: string): Promise<unknown> } | undefined;
      const given = store.transaction(async (tx) => {
        handle = (await tx.raw) as typeof handle;
        await handle!.query("select 1");
        throw new Error("its time is over");
      });
      await expect(given).rejects.toThrow("its time is over");
      await expect(handle!.query("select 1")).rejects.toBeInstanceOf(Error);
      expect(await store.find("nobody")).toBeUndefined();
      await store.close();
    });

    it("does not wait for ever for a rollback over a socket that hangs", async () => {
      const proxy = await hangableProxy(url);
      const store = create(proxy.url, tablePrefix);
      const run = store.transaction(async (tx) => {
        await tx.query("select 1");
        proxy.hang();
        throw new Error("the application failed");
      });
      await expect(run).rejects.toThrow("the application failed");
      await store.close();
      proxy.close();
    });

    it("closes although the socket of an open transaction hangs", async () => {
      const proxy = await hangableProxy(url);
      const opened = driver(proxy.url, tablePrefix);
      await opened.migrate();
      const transaction = await opened.begin();
      proxy.hang();
      const hanging = transaction.query("select 1", []);
      hanging.catch(() => undefined);
      await opened.close();
      await expect(hanging).rejects.toBeInstanceOf(Error);
      await expect(transaction.commit()).rejects.toBeInstanceOf(Error);
      proxy.close();
    });

    it("waits shortly for the version of its tables over a socket that hangs", async () => {
      const store = create(url, tablePrefix);
      await store.migrate();
      await store.close();
      const proxy = await hangableProxy(url, `${tablePrefix}meta`);
      const opened = driver(proxy.url, tablePrefix);
      await expect(opened.migrate()).rejects.toMatchObject({ code: "store_unavailable" });
      await opened.close();
      proxy.close();
    });
  });
}

/**
 * Starts a proxy that passes bytes on until it hangs, and then drops them. A connection also hangs when its
 * client sends `text`.
 */
async function hangableProxy(
  target: string,
  text?: string,
): Promise<{ url: string; hang: () => void; close: () => void }> {
  const url = new URL(target);
  const { hostname, port } = url;
  const sockets: net.Socket[] = [];
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(port), hostname);
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on("error", () => undefined);
    client.on("data", (bytes) => {
      if (text !== undefined && bytes.includes(text)) client.unpipe().resume();
    });
    client.pipe(upstream);
    upstream.pipe(client);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url.port = String((server.address() as AddressInfo).port);
  url.hostname = "127.0.0.1";
  return {
    url: url.href,
    hang: () => {
      for (const socket of sockets) socket.unpipe().resume();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
