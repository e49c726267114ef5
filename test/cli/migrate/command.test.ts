import { chmodSync, existsSync } from "node:fs";
import path from "node:path";
import { createPool } from "mysql2/promise";
import { Pool } from "pg";
import { schemaState, sqlStore } from "tillkit/sql";
import { tablePrefixes } from "../../store/sql/support/table-prefixes.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();

/** Tests `migrate` on a database. `named` is its name without the password. */
function testMigrate(kind: string, database: string, named: string, tablePrefix: string): void {
  // In the environment: a password on the command line is warned about.
  const migrate = (...argv: string[]) =>
    runCli(["migrate", "--table-prefix", tablePrefix, ...argv], {
      cwd: folder.path,
      env: { TILLKIT_DATABASE: database },
    });
  const where =
    path.isAbsolute(database) || database.includes("://") ? database : path.join(folder.path, database);
  let newest: number;

  beforeAll(async () => {
    ({ newest } = await schemaState(where, { tablePrefix }));
  });

  it("only reports with --check that there are no tables yet", async () => {
    const { code, stdout } = await migrate("--check");
    expect([code, stdout]).toEqual([
      1,
      `${named} (${kind}) is at version 0; this tillkit needs version ${newest}.\n`,
    ]);
    expect(documentOf(await migrate("--check", "--json"))).toEqual({
      database: named,
      kind,
      from: 0,
      to: 0,
      newest,
      behind: true,
    });
    expect((await schemaState(where, { tablePrefix })).version).toBe(0);
  });

  it("creates the tables, prints both versions, and does nothing the second time", async () => {
    const first = await migrate();
    expect(first).toEqual({
      code: 0,
      stdout: `${named} (${kind}) was at version 0, and is now at version ${newest}.\n`,
      stderr: "",
    });
    expect((await schemaState(where, { tablePrefix })).version).toBe(newest);
    const again = { database: named, kind, from: newest, to: newest, newest, behind: false };
    expect(documentOf(await migrate("--json"))).toEqual(again);
    expect((await migrate("--check")).code).toBe(0);
  });

  it("refuses tables that a newer tillkit made", async () => {
    const store = sqlStore(where, { tablePrefix });
    await store.transaction((tx) =>
      tx.query(`update ${tablePrefix}meta set value = '99' where name = 'version'`),
    );
    await store.close();
    for (const argv of [[], ["--check"]]) {
      const { code, stderr } = await migrate(...argv);
      expect(code).toBe(3);
      expect(stderr).toContain(
        `error schema_too_new: The tables have version 99, but this tillkit supports at most version ${newest}.`,
      );
    }
  });
}

describe("tillkit migrate on SQLite", () => {
  testMigrate("sqlite", "shop.db", "shop.db", "tillkit_");

  it("creates no file with --check", async () => {
    await runCli(["migrate", "--check", "--store", "new.db"], { cwd: folder.path });
    expect(existsSync(path.join(folder.path, "new.db"))).toBe(false);
  });
});

const postgres = process.env["TILLKIT_TEST_POSTGRES_URL"];
if (postgres === undefined || postgres === "none")
  it("skips PostgreSQL, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(postgres);
  });
else
  describe("tillkit migrate on PostgreSQL", () => {
    const pool = new Pool({ connectionString: postgres });
    const prefixes = tablePrefixes((sql) => pool.query(sql));
    afterAll(async () => {
      await prefixes.dropAll();
      await pool.end();
    });
    testMigrate("postgres", postgres, plain(postgres), prefixes.next());
  });

const mysql = process.env["TILLKIT_TEST_MYSQL_URL"];
if (mysql === undefined || mysql === "none")
  it("skips MySQL, because TILLKIT_TEST_MYSQL_URL names no server", () => {
    expect([undefined, "none"]).toContain(mysql);
  });
else
  describe("tillkit migrate on MySQL", () => {
    const pool = createPool(mysql);
    const prefixes = tablePrefixes((sql) => pool.query(sql));
    afterAll(async () => {
      await prefixes.dropAll();
      await pool.end();
    });
    testMigrate("mysql", mysql, plain(mysql), prefixes.next());
  });

describe("tillkit migrate", () => {
  it.each([
    ["a password", "postgres://shop:s3cret-word@127.0.0.1:1/shop", true],
    ["a password as a parameter", "postgres://127.0.0.1:1/shop?user=shop&password=s3cret-word", true],
    ["a password, not readable", "mysql://shop:s3cret-word@[db/shop", true],
    ["no password", "postgres://shop@127.0.0.1:1/shop?sslmode=prefer", false],
  ])("warns about what the process list shows: an address with %s", async (_, address, isWarned) => {
    const argv = ["migrate", "--store", address];
    const { stderr } = await runCli(argv, { cwd: folder.path });
    expect(stderr.includes("warning secret_on_command_line")).toBe(isWarned);
  });

  it("uses the database of the environment, or of an --env-file", async () => {
    const envFile = folder.write(".env", "TILLKIT_DATABASE=sqlite:of-the-file.db\n");
    expect((await runCli(["migrate", "--env-file", envFile], { cwd: folder.path })).code).toBe(0);
    expect(existsSync(path.join(folder.path, "of-the-file.db"))).toBe(true);
  });

  it.each<[string[], number, string]>([
    [[], 2, "error command_option_invalid: No database is named"],
    [["--store", "oracle://shop:s3cret-word@db/shop"], 2, "error option_invalid"],
    [["--store", ":memory:"], 2, "error option_invalid"],
    [["--store", "shop.db", "--table-prefix", "Drop Table"], 2, "error option_invalid"],
    [["--store", "postgres://shop:s3cret-word@127.0.0.1:1/shop"], 3, "error store_unavailable"],
    [["--store", "mysql://shop:s3cret-word@127.0.0.1:1/shop"], 3, "error store_unavailable"],
    [["--store", "nowhere/at/all.db"], 3, "error store_unavailable"],
  ])("with %j ends with %i, %s, and no password", async (argv, code, message) => {
    const ran = await runCli(["migrate", ...argv], { cwd: folder.path });
    expect([ran.code, ran.stdout]).toEqual([code, ""]);
    expect(ran.stderr).toContain(message);
    expect(ran.stderr).not.toContain("s3cret-word");
  });
});

function plain(address: string): string {
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname}`;
}

describe.each([[[]], [["--check"]]])("with the options %j", (options) => {
  it("refuses a file that the store refuses, also where its tables are the newest", async () => {
    const file = path.join(folder.path, "exposed.db");
    await runCli(["migrate", "--store", file], { cwd: folder.path });
    chmodSync(file, 0o666);
    const { code, stderr } = await runCli(["migrate", "--store", file, ...options], { cwd: folder.path });
    expect([code, stderr]).toEqual([3, expect.stringContaining("exposed.db can be written by all users")]);
  });
});
