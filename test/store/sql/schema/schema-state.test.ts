import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Pool } from "pg";
import { createPool } from "mysql2/promise";
import { schemaState, sqlStore } from "tillkit/sql";
import { proxyTo } from "../support/database-proxy.js";
import { untilNoneIsOpen } from "../support/server-sentences.js";
import { tablePrefixes } from "../support/table-prefixes.js";
import { temporaryFiles } from "../support/temporary-files.js";

const file = temporaryFiles();

/** Tests of the state of the tables that hold on every database. */
function sentences(kind: string, database: string, tablePrefix: string): void {
  it("is version 0 where there are no tables, and creates none", async () => {
    const state = await schemaState(database, { tablePrefix });
    expect(state).toEqual({ kind, version: 0, newest: expect.any(Number) });
    expect(state.newest).toBeGreaterThan(0);
    expect(await schemaState(database, { tablePrefix })).toEqual(state);
  });

  it("is the newest version after a store made the tables, and any version that a newer tillkit wrote", async () => {
    const store = sqlStore(database, { tablePrefix });
    await store.migrate();
    const { version, newest } = await schemaState(database, { tablePrefix });
    expect(version).toBe(newest);
    await store.transaction((tx) =>
      tx.query(`update ${tablePrefix}meta set value = '99' where name = 'version'`),
    );
    expect(await schemaState(database, { tablePrefix })).toEqual({ kind, version: 99, newest });
    await store.close();
  });

  if (kind !== "sqlite")
    it("leaves no connection open", async () => {
      const proxy = await proxyTo(database);
      expect(await schemaState(proxy.url, { tablePrefix })).toMatchObject({ kind });
      expect(await untilNoneIsOpen(proxy)).toBe(0);
      proxy.close();
    });
}

describe("the state of the tables in SQLite", () => {
  const one = file();
  sentences("sqlite", one, "tillkit_");

  it("creates no file", async () => {
    const absent = file();
    expect(await schemaState(absent)).toMatchObject({ version: 0 });
    expect(existsSync(absent)).toBe(false);
  });

  it("leaves a file unchanged, and refuses one that is no database", async () => {
    const text = file();
    writeFileSync(text, "This is a letter, and no database at all.".repeat(40));
    const before = readFileSync(text);
    await expect(schemaState(text)).rejects.toThrow("not a database");
    expect(readFileSync(text).equals(before)).toBe(true);
  });
});

const postgres = process.env["TILLKIT_TEST_POSTGRES_URL"];
if (postgres === undefined || postgres === "none")
  it("leaves the state on PostgreSQL out, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(postgres);
  });
else
  describe("the state of the tables in PostgreSQL", () => {
    const pool = new Pool({ connectionString: postgres });
    const prefixes = tablePrefixes((sql) => pool.query(sql));
    afterAll(async () => {
      await prefixes.dropAll();
      await pool.end();
    });
    sentences("postgres", postgres, prefixes.next());
  });

const mysql = process.env["TILLKIT_TEST_MYSQL_URL"];
if (mysql === undefined || mysql === "none")
  it("leaves the state on MySQL out, because TILLKIT_TEST_MYSQL_URL names no server", () => {
    expect([undefined, "none"]).toContain(mysql);
  });
else
  describe("the state of the tables in MySQL", () => {
    const pool = createPool(mysql);
    const prefixes = tablePrefixes((sql) => pool.query(sql));
    afterAll(async () => {
      await prefixes.dropAll();
      await pool.end();
    });
    sentences("mysql", mysql, prefixes.next());
  });

describe("the store and the state of a database that is named", () => {
  it.each(["oracle://db", "postgres://shop:p#ss@db/shop"])(
    "refuses %s, and does not repeat it",
    async (name) => {
      expect(() => sqlStore(name)).toThrow(expect.objectContaining({ code: "option_invalid" }));
      const refusal = await schemaState(name).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ code: "option_invalid" });
      expect(String(refusal)).not.toContain(name);
    },
  );

  it("accepts sqlite: in front of a file", () => {
    expect(sqlStore("sqlite:shop.db")).toHaveProperty("file", expect.stringMatching(/[\\/]shop\.db$/));
  });

  it("rejects with store_unavailable when there is no server", async () => {
    for (const address of ["postgres://u:secret-word@127.0.0.1:1/x", "mysql://u:secret-word@127.0.0.1:1/x"]) {
      const refusal = await schemaState(address).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ code: "store_unavailable" });
      expect(String(refusal)).not.toContain("secret-word");
    }
  });
});
