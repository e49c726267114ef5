import { createPool } from "mysql2";
import { mysqlStore, type SqlTx, sqliteStore } from "tillkit/sql";
import { tablePrefixes } from "./support/table-prefixes.js";
import { temporaryFiles } from "./support/temporary-files.js";

const nextFile = temporaryFiles();

it("commits neither of two concurrent statements when SQLite's disk is full for the first", async () => {
  const store = sqliteStore(nextFile());
  await store.transaction(async (tx) => {
    await tx.query("create table orders (id text, note blob)");
    const { rows } = await tx.query<{ count: number }>("select page_count as count from pragma_page_count()");
    (await tx.raw).exec(`pragma max_page_count = ${rows[0]!.count}`);
  });
  const run = store.transaction((tx) =>
    Promise.all([
      tx.query("insert into orders values ('large', zeroblob(100000))"),
      tx.query("insert into orders values ('alone', null)"),
    ]),
  );
  await expect(run).rejects.toThrow("full");
  const { rows } = await store.transaction((tx) => tx.query("select id from orders"));
  expect(rows).toEqual([]);
  await store.close();
});

it("runs concurrent statements in order, and commits those that nobody awaited", async () => {
  const store = sqliteStore(nextFile());
  await store.transaction(async (tx) => {
    void tx.query("create table orders (id integer primary key, name text)");
    void tx.query("insert into orders (name) values ('first')");
    void tx.query("insert into orders (name) values ('second')");
  });
  const { rows } = await store.transaction((tx) => tx.query("select name from orders order by id"));
  expect(rows.map((row) => row["name"])).toEqual(["first", "second"]);
  await store.close();
});

it("runs no statement that was still waiting when the run failed", async () => {
  const store = sqliteStore(nextFile());
  await store.transaction((tx) => tx.query("create table orders (name text)"));
  let waiting: Promise<unknown> | undefined;
  const run = store.transaction(async (tx) => {
    void tx.query("insert into orders values ('first')");
    waiting = tx.query("insert into orders values ('second')");
    waiting.catch(() => undefined);
    throw new Error("changed my mind");
  });
  await expect(run).rejects.toThrow("changed my mind");
  await expect(waiting).rejects.toMatchObject({ code: "transaction_closed" });
  const { rows } = await store.transaction((tx) => tx.query("select name from orders"));
  expect(rows).toEqual([]);
  await store.close();
});

const url = process.env["TILLKIT_TEST_MYSQL_URL"];
if (url !== undefined && url !== "none") onMysql(url);

function onMysql(url: string): void {
  it("commits neither of two concurrent statements when MySQL broke a deadlock with the first", async () => {
    const pool = createPool({ uri: url }).promise();
    const tables = tablePrefixes((sql) => pool.query(sql));
    const tablePrefix = tables.next();
    const table = `${tablePrefix}orders`;
    const store = mysqlStore(url, { tablePrefix });
    await store.migrate();
    await pool.query(`create table ${table} (id varchar(50) primary key, paid integer) engine = InnoDB`);
    await pool.query(`insert into ${table} values ('a', 0), ('b', 0), ('c', 0), ('d', 0), ('e', 0)`);
    const pay = (tx: SqlTx, ids: string): Promise<unknown> =>
      tx.query(`update ${table} set paid = paid + 1 where id in (${ids})`);

    const [light, heavy] = [deferred(), deferred()];
    // The database ends the transaction that wrote less.
    const victim = store.transaction(async (tx) => {
      await pay(tx, "'a'");
      light.resolve();
      await heavy.promise;
      await Promise.all([pay(tx, "'b'"), tx.query(`insert into ${table} values ('alone', 1)`)]);
    });
    const survivor = store.transaction(async (tx) => {
      await pay(tx, "'b', 'c', 'd', 'e'");
      heavy.resolve();
      await light.promise;
      await pay(tx, "'a'");
    });
    await expect(victim).rejects.toMatchObject({ errno: 1213 });
    await survivor;
    const [rows] = await pool.query(`select id from ${table} where id = 'alone' or (id = 'a' and paid <> 1)`);
    expect(rows).toEqual([]);

    await store.close();
    await pool.query(`drop table ${table}`);
    await tables.dropAll();
    await pool.end();
  });
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
