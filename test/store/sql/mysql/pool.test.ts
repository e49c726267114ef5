import { createPool } from "mysql2/promise";
import { mysqlStore } from "tillkit/sql";
import { payment } from "../../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../../src/store/exam/checks/steps.js";
import {
  connectionOf,
  hasSeveralWriters,
  type MysqlConnection,
  type MysqlPool,
  mysqlResult,
  openMysqlPool,
  sizeOf,
} from "../../../../src/store/sql/mysql/pool.js";
import { tablePrefixes } from "../support/table-prefixes.js";

const url = process.env["TILLKIT_TEST_MYSQL_URL"];

it.each([
  ["the rows that it returned", [{ id: "a" }, { id: "b" }], 2],
  [
    "the rows that an update found, also where it changed none of them",
    changed(0, "Rows matched: 1  Changed: 0"),
    1,
  ],
  ["the rows that an update found, of which it changed some", changed(1, "Rows matched: 3  Changed: 1"), 3],
  ["no row where an update found none", changed(0, "Rows matched: 0  Changed: 0"), 0],
  ["the rows of another statement", changed(2, ""), 2],
])("a statement has affected %s", (_, answer, affected) => {
  expect(mysqlResult([answer]).affected).toBe(affected);
});

function changed(affectedRows: number, info: string): object {
  return { affectedRows, info };
}

it("a connection that comes after nobody waits for it any more is given back", async () => {
  jest.useFakeTimers();
  let connect!: (connection: MysqlConnection) => void;
  const pool = { getConnection: () => new Promise((resolve) => (connect = resolve)) } as unknown as MysqlPool;
  const release = jest.fn();
  const taking = connectionOf(pool, "Use a larger pool.");
  taking.catch(() => undefined);
  await jest.advanceTimersByTimeAsync(3000);
  await expect(taking).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining("Use a larger pool.") as string,
  });
  connect({ release } as unknown as MysqlConnection);
  await jest.advanceTimersByTimeAsync(0);
  jest.useRealTimers();
  expect(release).toHaveBeenCalledTimes(1);
});

if (url === undefined || url === "none")
  it("leaves the flags of a MySQL pool out, because TILLKIT_TEST_MYSQL_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_MYSQL_URL"]);
  });
else {
  it("a pool of the kit's own has as many connections as it may open", async () => {
    const pool = await openMysqlPool(url, 3);
    expect(sizeOf(pool)).toBe(3);
    await pool.end();
  });

  it("an update that changes nothing has found its payment, also where the pool counts changed rows", async () => {
    const pool = createPool({ uri: url, flags: ["-FOUND_ROWS"] });
    const tables = tablePrefixes((sql) => pool.query(sql));
    const store = mysqlStore(pool, { tablePrefix: tables.next() });
    await saved(store, { created: [payment("p1")] });
    await saved(store, { updated: [payment("p1")] });
    await expect(saved(store, { updated: [payment("p2")] })).rejects.toMatchObject({
      code: "store_conflict",
    });
    await store.close();
    await tables.dropAll();
    await pool.end();
  });

  it.each([
    ["wsrep_on", "ON", true],
    ["wsrep_on", "OFF", false],
    ["group_replication_single_primary_mode", "OFF", true],
    ["group_replication_single_primary_mode", "ON", false],
    ["another_mode", "OFF", false],
  ])("a server whose %s is %s has several writers: %s", async (name, value, expected) => {
    const pool = createPool({ uri: url });
    const variables = `select 1 from (select '${name}' as variable_name, '${value}' as value) as variables`;
    const run = async (sql: string) =>
      mysqlResult(await pool.query(sql.replace("show variables", variables)));
    expect(await hasSeveralWriters({ run: run as never })).toBe(expected);
    await pool.end();
  });
}
