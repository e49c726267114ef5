import { createPool } from "mysql2/promise";
import { mysqlStore } from "tillkit/sql";
import { type Session } from "../../../../src/store/sql/driver/sql-tx.js";
import { migrateMysql } from "../../../../src/store/sql/mysql/migrate-mysql.js";
import { sessionOn } from "../../../../src/store/sql/mysql/pool.js";
import { tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { tablePrefixes } from "../support/table-prefixes.js";

const url = process.env["TILLKIT_TEST_MYSQL_URL"];

if (url === undefined || url === "none") {
  it("leaves the claim of the migration on MySQL out, because TILLKIT_TEST_MYSQL_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_MYSQL_URL"]);
  });
} else examine(url);

function examine(url: string): void {
  const pool = createPool({ uri: url });
  const tables = tablePrefixes((sql) => pool.query(sql));
  afterEach(() => tables.dropAll());
  afterAll(() => pool.end());

  /** Stores a claim of another process until this time, in milliseconds since 1970. */
  async function claimUntil(meta: string, until: number): Promise<void> {
    await pool.query(
      `create table ${meta} (name varchar(64) primary key, value varchar(255) not null) engine = InnoDB`,
    );
    await pool.query(`insert into ${meta} (name, value) values ('migrating', ?)`, [`another ${until}`]);
  }

  it("waits for a process that makes the tables, and makes them when its claim is gone", async () => {
    const tablePrefix = tables.next();
    const meta = `${tablePrefix}meta`;
    await claimUntil(meta, Date.now() + 3_600_000);
    const store = mysqlStore(url, { tablePrefix });
    const order: string[] = [];
    const migrating = store.migrate().then(() => order.push("migrated"));
    // Meanwhile a process without such a claim makes all of its tables.
    const other = mysqlStore(url, { tablePrefix: tables.next() });
    await other.migrate();
    await other.close();
    const [made] = await pool.query(`show tables like '${tablePrefix.replaceAll("_", String.raw`\_`)}%'`);
    expect(made).toHaveLength(1);
    order.push("released");
    await pool.query(`delete from ${meta} where name = 'migrating'`);
    await migrating;
    expect(order).toEqual(["released", "migrated"]);
    expect(await store.find("nobody")).toBeUndefined();
    await store.close();
  });

  it("takes over from a process that died while it made the tables", async () => {
    const tablePrefix = tables.next();
    await claimUntil(`${tablePrefix}meta`, Date.now() - 1);
    const store = mysqlStore(url, { tablePrefix });
    await store.migrate();
    const [rows] = await pool.query(`select name from ${tablePrefix}meta order by name`);
    expect(rows).toEqual([{ name: "handlers" }, { name: "identity" }, { name: "version" }]);
    await store.close();
  });

  it("continues after its own connection was lost, although its claim is still there", async () => {
    const tablePrefix = tables.next();
    let isCut = false;
    const getConnection = async () => {
      const connection = await pool.getConnection();
      const cutting = Object.create(connection) as typeof connection;
      cutting.query = ((sql: string, params: unknown[]) => {
        if (!isCut && sql.includes(`create table if not exists ${tablePrefix}webhooks`)) {
          isCut = true;
          connection.destroy();
        }
        return connection.query(sql, params);
      }) as typeof connection.query;
      return cutting;
    };
    const store = mysqlStore({ getConnection } as unknown as typeof pool, { tablePrefix });
    await expect(store.migrate()).rejects.toMatchObject({ code: "store_unavailable" });
    const [claims] = await pool.query(
      `update ${tablePrefix}meta set value = concat(substring_index(value, ' ', 1), ' ', ?)
        where name = 'migrating'`,
      [Date.now() + 3_600_000],
    );
    expect(claims).toMatchObject({ affectedRows: 1 });
    await store.migrate();
    expect(await store.find("nobody")).toBeUndefined();
    await store.close();
  });

  it("reads the version again after a deadlock, as a cluster reports it beside a change of tables", async () => {
    const tablePrefix = tables.next();
    const connection = await pool.getConnection();
    const session = sessionOn(connection);
    let deadlocks = 0;
    const run = async (sql: string, params: readonly unknown[]) => {
      if (params[0] === "version" && deadlocks++ === 0) throw Object.assign(new Error(), { errno: 1213 });
      return session.run(sql, params);
    };
    await session.run(`create table ${tablePrefix}meta (name varchar(64) primary key, value text)`, []);
    await migrateMysql({ run: run as Session["run"] }, tablesUnder(tablePrefix), "one");
    expect(deadlocks).toBeGreaterThan(1);
    connection.release();
  });

  it("goes on after a process that died before it stored the version", async () => {
    const tablePrefix = tables.next();
    const first = mysqlStore(url, { tablePrefix });
    await first.migrate();
    await first.close();
    await pool.query(`update ${tablePrefix}meta set value = '0' where name = 'version'`);
    const store = mysqlStore(url, { tablePrefix });
    await store.migrate();
    expect(await store.find("nobody")).toBeUndefined();
    await store.close();
  });

  it("has its claim for a minute while it makes the tables, and deletes no claim of another process", async () => {
    const tablePrefix = tables.next();
    const connection = await pool.getConnection();
    const session = sessionOn(connection);
    const claim = async (): Promise<string | undefined> => {
      const sql = `select value from ${tablePrefix}meta where name = 'migrating'`;
      return (await session.run<{ value: string }>(sql, [])).rows[0]?.value;
    };
    let until: number | undefined;
    const run = async (sql: string, params: readonly unknown[]) => {
      if (until === undefined && sql.includes(`${tablePrefix}payments`)) {
        until = Number((await claim())!.split(" ")[1]);
        // This process stands still for longer than its claim, and another one takes over.
        await session.run(`update ${tablePrefix}meta set value = 'another 1' where name = 'migrating'`, []);
      }
      return session.run(sql, params);
    };
    const startedAt = Date.now();
    await migrateMysql({ run: run as Session["run"] }, tablesUnder(tablePrefix), "one");
    expect(until! - startedAt).toBeGreaterThan(50_000);
    expect(await claim()).toBe("another 1");
    connection.release();
  });

  it("waits a minute for the lock of a table, or less where the session's own limit is lower", async () => {
    const connection = await pool.getConnection();
    const session = sessionOn(connection);
    const limit = async () => (await session.run("select @@lock_wait_timeout as seconds", [])).rows[0];
    const during: unknown[] = [];
    const run = async (sql: string, params: readonly unknown[]) => {
      if (sql.startsWith("alter table")) during.push(await limit());
      return session.run(sql, params);
    };
    for (const [own, seconds] of [
      [86_400, 60],
      [7, 7],
    ]) {
      await session.run(`set session lock_wait_timeout = ${own}`, []);
      during.length = 0;
      await migrateMysql({ run: run as Session["run"] }, tablesUnder(tables.next()), "one");
      expect(during.length).toBeGreaterThan(0);
      expect(during).toEqual(during.map(() => ({ seconds })));
      expect(await limit()).toEqual({ seconds: own });
    }
    connection.destroy();
  });

  it("ends its wait for a long transaction with store_busy", async () => {
    const tablePrefix = tables.next();
    const first = mysqlStore(url, { tablePrefix });
    await first.migrate();
    await first.close();
    await pool.query(`alter table ${tablePrefix}payments drop column received, drop column refunded`);
    await pool.query(`update ${tablePrefix}meta set value = '0' where name = 'version'`);
    const reader = await pool.getConnection();
    await reader.query("start transaction");
    await reader.query(`select * from ${tablePrefix}payments limit 1`);
    const impatient = createPool({ uri: url });
    impatient.on("connection", (one) => one.query("set session lock_wait_timeout = 1"));
    const store = mysqlStore(impatient, { tablePrefix });
    await expect(store.migrate()).rejects.toMatchObject({ code: "store_busy" });
    await reader.rollback();
    reader.release();
    await store.migrate();
    expect(await store.find("nobody")).toBeUndefined();
    await store.close();
    await impatient.end();
  });
}
