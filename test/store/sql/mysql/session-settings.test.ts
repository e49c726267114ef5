import { createPool, type PoolConnection } from "mysql2/promise";
import { mysqlStore } from "tillkit/sql";
import { sessionOn } from "../../../../src/store/sql/mysql/pool.js";
import { prepareSession } from "../../../../src/store/sql/mysql/session-settings.js";
import { tablePrefixes } from "../support/table-prefixes.js";

const url = process.env["TILLKIT_TEST_MYSQL_URL"];

const settings = [
  "autocommit = 0",
  "completion_type = 1",
  "completion_type = 2",
  "sql_select_limit = 5",
  "sql_safe_updates = 1",
  "character_set_client = latin1",
  "character_set_connection = latin1",
  "character_set_results = latin1",
];
const modes = ["NO_BACKSLASH_ESCAPES", "EMPTY_STRING_IS_NULL"].map(
  (mode) => `sql_mode = concat(@@sql_mode, ',${mode}')`,
);

if (url === undefined || url === "none")
  it("leaves the sessions of MySQL out, because TILLKIT_TEST_MYSQL_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_MYSQL_URL"]);
  });
else {
  const cleaner = createPool({ uri: url });
  const tables = tablePrefixes((sql) => cleaner.query(sql));
  afterAll(async () => {
    await tables.dropAll();
    await cleaner.end();
  });

  // The settings of a server would be those of all other tests too, so each test gives them to one session.
  const withSession = async (setting: string, run: (connection: PoolConnection) => Promise<void>) => {
    const pool = createPool({ uri: url, connectionLimit: 1 });
    const connection = await pool.getConnection();
    await connection.query(`set session ${setting}`);
    await run(connection);
    connection.destroy();
    await pool.end();
  };

  it.each(settings)("gives a session of its own the safe value instead of %s", (setting) =>
    withSession(setting, async (connection) => {
      await prepareSession(sessionOn(connection), 4);
      const [rows] = await connection.query(
        `select @@autocommit as auto, @@completion_type as completion, @@sql_select_limit > 1000000 as isEndless, @@innodb_lock_wait_timeout as seconds,
          @@sql_safe_updates as safe,
          concat_ws(' ', @@character_set_client, @@character_set_connection, @@character_set_results) as sets`,
      );
      const sets = "utf8mb4 utf8mb4 utf8mb4";
      expect(rows).toEqual([{ auto: 1, completion: "NO_CHAIN", isEndless: 1, seconds: 4, safe: 0, sets }]);
      const isolation =
        "show session variables where variable_name in ('transaction_isolation', 'tx_isolation')";
      const [levels] = (await connection.query(isolation)) as [{ Value: string }[], unknown];
      expect(new Set(levels.map(({ Value }) => Value))).toEqual(new Set(["READ-COMMITTED"]));
    }),
  );

  it.each(modes)("refuses %s in its own session, which the statements of the application may need", (mode) =>
    withSession(mode, async (connection) => {
      const preparing = prepareSession(sessionOn(connection), 4);
      await expect(preparing).rejects.toMatchObject({ code: "option_invalid" });
    }),
  );

  it.each([...settings, ...modes])("refuses a pool whose sessions have %s", async (setting) => {
    const pool = createPool({ uri: url, connectionLimit: 1 });
    pool.pool.on("connection", (connection) => connection.query(`set session ${setting}`));
    await expect(mysqlStore(pool).migrate()).rejects.toMatchObject({
      code: "option_invalid",
      message: expect.stringContaining(setting.split(" ")[0]!) as string,
    });
    await pool.end();
  });

  it.each(modes)("refuses a later session of a pool that has %s, and gives it back", async (mode) => {
    const tablePrefix = tables.next();
    const pool = createPool({ uri: url, connectionLimit: 2 });
    let opened = 0;
    pool.pool.on("connection", (connection) => {
      if (++opened === 2) connection.query(`set session ${mode}`);
    });
    const store = mysqlStore(pool, { tablePrefix });
    await store.migrate();
    await store.transaction(async (tx) => {
      await tx.query("select 1");
      const id = "\\' or 1 = 1 -- ";
      // The second call would wait for a connection if the first call kept it.
      for (let call = 0; call < 2; call++)
        await expect(store.find(id)).rejects.toMatchObject({ code: "option_invalid" });
      await expect(store.transaction((other) => other.query("select ?", [id]))).rejects.toMatchObject({
        code: "option_invalid",
      });
    });
    expect(opened).toBe(2);
    await pool.end();
  });

  it("does not count a later session that is unsafe as a failure of the handler that gets it", async () => {
    const pool = createPool({ uri: url, connectionLimit: 2 });
    let opened = 0;
    pool.pool.on("connection", (connection) => {
      if (++opened === 2) connection.query("set session autocommit = 0");
    });
    const store = mysqlStore(pool, { tablePrefix: tables.next() });
    await store.migrate();
    const away = {
      code: "store_unavailable",
      message: expect.stringContaining("autocommit = ON") as string,
      cause: { code: "option_invalid" },
    };
    await store.transaction(async (first) => {
      await first.query("select 1");
      const query = store.runHandler(
        (tx) => tx.query("select 1"),
        async () => {},
      );
      await expect(query).rejects.toMatchObject(away);
      const nothing = store.runHandler(
        async () => {},
        async () => {},
      );
      await expect(nothing).rejects.toMatchObject(away);
    });
    expect(opened).toBe(2);
    await pool.end();
  });
}
