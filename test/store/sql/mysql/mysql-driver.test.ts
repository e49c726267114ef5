import { createPool } from "mysql2/promise";
import { mysqlStore } from "tillkit/sql";
import { serverUrl } from "../../../promises/processes/databases.js";
import { MysqlDriver } from "../../../../src/store/sql/mysql/mysql-driver.js";
import { type MysqlPool } from "../../../../src/store/sql/mysql/pool.js";
import { resolveSqlStoreOptions } from "../../../../src/store/sql/options.js";
import { tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { tablePrefixes } from "../support/table-prefixes.js";

const durable = { innodb_flush_log_at_trx_commit: "1", sync_binlog: "1", log_bin: "ON" };

interface Server {
  settings?: Partial<typeof durable>;
  replicas?: number;
  isWaiting?: boolean;
}

/** Returns the warnings about a server that answers like this. */
async function warningsOf({ settings, replicas = 0, isWaiting = false }: Server): Promise<string[]> {
  const answers: [part: string, rows: object[]][] = [
    ["select version()", [{ version: "8.4.3", comment: "MySQL Community Server - GPL" }]],
    [
      "show global variables",
      Object.entries({ ...durable, ...settings }).map(([name, value]) => ({ name, value })),
    ],
    ["show global status", isWaiting ? [{ name: "Rpl_semi_sync_source_status", value: "ON" }] : []],
    ["processlist", Array.from({ length: replicas }, (_, id) => ({ id }))],
  ];
  const query = async (sql: string) => [answers.find(([part]) => sql.includes(part))?.[1] ?? [], []];
  const connection = { query, release: () => undefined, destroy: () => undefined };
  const pool = { getConnection: async () => connection } as unknown as MysqlPool;
  const driver = new MysqlDriver(pool, tablesUnder("shop_"), resolveSqlStoreOptions());
  await driver.readVersion();
  return driver.warnings();
}

describe("the warnings about MySQL", () => {
  it("are none where each commit is written to both logs", async () => {
    expect(await warningsOf({})).toEqual([]);
    expect(await warningsOf({ settings: { log_bin: "OFF", sync_binlog: "0" } })).toEqual([]);
  });

  it.each([
    ["innodb_flush_log_at_trx_commit", "0"],
    ["innodb_flush_log_at_trx_commit", "2"],
    ["sync_binlog", "0"],
    ["sync_binlog", "1000"],
  ])("name %s = %s, with which a commit may be lost", async (name, value) => {
    expect(await warningsOf({ settings: { [name]: value } })).toEqual([
      expect.stringContaining(`MySQL has ${name} = ${value}: `),
    ]);
  });

  it("name the replicas for which no commit waits", async () => {
    const warning = expect.stringMatching(/^replication_asynchronous: MySQL has 2 connected/) as string;
    expect(await warningsOf({ replicas: 2 })).toEqual([warning]);
    expect(await warningsOf({ replicas: 2, isWaiting: true })).toEqual([]);
  });
});

const url = serverUrl("mysql");

if (url === undefined)
  it("leaves a long transaction out, because no server is named", () => expect(url).toBeUndefined());
else
  it("a transaction may last longer than a connection may take to open", async () => {
    const pool = createPool({ uri: url });
    const tables = tablePrefixes((sql) => pool.query(sql));
    const store = mysqlStore(url, { tablePrefix: tables.next() });
    jest.useFakeTimers({ doNotFake: ["setImmediate", "setInterval", "nextTick", "performance", "Date"] });
    try {
      const run = store.transaction(async (tx) => {
        await tx.query("select 1");
        // The kit compares the limits of answers with the real clock. So only the limit of the opening can pass here.
        jest.advanceTimersByTime(60_000);
        return tx.query("select 2 as two");
      });
      expect(await run).toMatchObject({ rows: [{ two: 2 }] });
    } finally {
      jest.useRealTimers();
      await store.close();
      await tables.dropAll();
      await pool.end();
    }
  });
