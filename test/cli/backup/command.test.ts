import { existsSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { schemaState, sqliteStore } from "tillkit/sql";
import { serverUrl } from "../../promises/processes/databases.js";
import { pendingPayment } from "../../support/webhooks.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";

const folder = temporaryFolder();
const inFolder = (name: string): string => path.join(folder.path, name);

beforeAll(async () => {
  const store = sqliteStore(inFolder("shop.db"));
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  await store.close();
});

const backup = (...argv: string[]) => runCli(["backup", ...argv], { cwd: folder.path });

describe("tillkit backup", () => {
  it("writes a file that a store opens, while another store has the database open", async () => {
    const shop = sqliteStore(inFolder("shop.db"));
    await shop.find("c-1");
    const { code, stdout, stderr } = await backup("copy.db", "--store", "shop.db");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^shop\.db was backed up to .*copy\.db \(\d+ bytes\)\.\n$/);
    await shop.close();
    const copy = sqliteStore(inFolder("copy.db"));
    expect(await copy.find("c-1")).toMatchObject({ state: "pending" });
    await copy.close();
  });

  it("makes no other tables beside those of --table-prefix", async () => {
    const store = sqliteStore(inFolder("south.db"), { tablePrefix: "south_" });
    await store.migrate();
    await store.close();
    expect(await backup("s.db", "--store", "south.db", "--table-prefix", "south_")).toMatchObject({
      code: 0,
    });
    for (const name of ["south.db", "s.db"])
      expect(await schemaState(inFolder(name))).toMatchObject({ version: 0 });
  });

  it("prints the file and its size with --json", async () => {
    expect(documentOf(await backup("other.db", "--store", "shop.db", "--json"))).toEqual({
      database: "shop.db",
      file: inFolder("other.db"),
      bytes: expect.any(Number) as unknown,
    });
  });

  it("overwrites nothing, and makes no file of a database that is not there or has no tables", async () => {
    writeFileSync(inFolder("taken.db"), "");
    writeFileSync(inFolder("empty.db"), "");
    // A closed connection lives until it is collected, and its log with it.
    const files = () => readdirSync(folder.path).filter((name) => !/-(wal|shm)$/.test(name));
    const before = files().toSorted();
    const refusals: [string[], number, string][] = [
      [["taken.db", "--store", "shop.db"], 3, "error backup_refused"],
      [["new.db", "--store", "none.db"], 3, "error store_unavailable: There is no file none.db."],
      [["new.db", "--store", "empty.db"], 3, "error store_unavailable: empty.db has no tables of the kit"],
      [["no/folder/new.db", "--store", "shop.db"], 3, "error backup_failed"],
      [["new.db"], 2, "error command_option_invalid: No database is named"],
      [["--store", "shop.db"], 2, "error command_operand_invalid"],
    ];
    const { stderr } = await backup("new.db", "--store", "none.db");
    expect(stderr).toContain(
      "fix: Name the application's database, and its --table-prefix if the application sets one.",
    );
    for (const [argv, code, message] of refusals) {
      const ran = await backup(...argv);
      expect([argv, ran.code, ran.stderr]).toEqual([argv, code, expect.stringContaining(message)]);
    }
    expect(files().toSorted()).toEqual(before);
  });

  it.each([
    ["PostgreSQL", "postgres", "pg_dump"],
    ["MySQL", "mysql", "mariadb-dump"],
  ] as const)("names the tool of %s", async (_, kind, tool) => {
    const url = serverUrl(kind);
    if (url === undefined) return console.info(`Left out: no server for ${kind} is named.`);
    const ran = await backup("new.db", "--store", url);
    expect(ran.code).toBe(3);
    expect(ran.stderr).toContain(tool);
    expect(existsSync(inFolder("new.db"))).toBe(false);
  });
});
