import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import path from "node:path";
import { Pool } from "pg";
import { createPool } from "mysql2/promise";
import { schemaState, sqlStore } from "tillkit/sql";
import { secret, testKit } from "../../support/kit.js";
import { pgbouncerIsMissing, startPgbouncer } from "../../support/pgbouncer.js";
import { tablePrefixes } from "../../store/sql/support/table-prefixes.js";
import { documentOf, runCli, temporaryFolder } from "../support/run-cli.js";
import { type Examined } from "./planted-shop.js";

const folder = temporaryFolder();

async function examine(
  argv: readonly string[],
  { env = {}, now }: { env?: Record<string, string>; now?: () => Date } = {},
) {
  const ran = await runCli(["doctor", ...argv, "--json"], {
    env: { TILLKIT_WEBHOOK_SECRET: secret, ...env },
    cwd: folder.path,
    ...(now && { now }),
  });
  const { findings }: Examined = documentOf(ran);
  return findings.map(({ code, severity }) => `${severity} ${code}`);
}

const anHourLate = () => new Date(Date.now() - 3_600_000);
const production = { env: { NODE_ENV: "production" } };

describe("tillkit doctor, on a SQLite file", () => {
  const file = path.join(folder.path, "shop.db");

  it("finds nothing if there is no file yet, and creates none", async () => {
    expect(await examine(["--store", "shop.db"])).toEqual([]);
    expect((await schemaState(file)).version).toBe(0);
  });

  it("finds nothing in one that is at the newest version", async () => {
    const store = sqlStore(file);
    await store.migrate();
    await store.close();
    expect(await examine(["--store", "shop.db"])).toEqual([]);
  });

  it.each([
    ["1", "warning schema_behind"],
    ["99", "error schema_too_new"],
  ])("finds tables of version %s: %s", async (version, finding) => {
    const other = `version-${version}.db`;
    const store = sqlStore(path.join(folder.path, other));
    await store.migrate();
    await store.transaction((tx) =>
      tx.query(`update tillkit_meta set value = '${version}' where name = 'version'`),
    );
    await store.close();
    expect(await examine(["--store", other])).toEqual([finding]);
    expect((await schemaState(path.join(folder.path, other))).version).toBe(Number(version));
  });

  it("finds a spool that the kit could not use: beside the file, or where it is configured", async () => {
    mkdirSync(path.join(folder.path, "shop.db-spool"));
    chmodSync(path.join(folder.path, "shop.db-spool"), 0o777);
    expect(await examine(["--store", "shop.db"])).toEqual(["error spool_unavailable"]);
    const spoolAt = (TILLKIT_SPOOL: string) => examine(["--store", "shop.db"], { env: { TILLKIT_SPOOL } });
    folder.write("OFF", "");
    for (const off of ["off", " OFF "]) expect(await spoolAt(off)).toEqual([]);
    expect(await spoolAt(path.join(folder.path, "other-spool"))).toEqual([]);
    expect(await spoolAt(path.join(folder.path, "shop.db"))).toEqual(["error spool_unavailable"]);
    expect(await spoolAt("shop.db")).toEqual(["error spool_unavailable"]);
    rmSync(path.join(folder.path, "shop.db-spool"), { recursive: true });
  });

  it("finds a spool that belongs to another store, and says what to do", async () => {
    const directory = path.join(folder.path, "tied-spool");
    const argv = ["doctor", "--store", "shop.db", "--json"];
    const env = { TILLKIT_WEBHOOK_SECRET: secret, TILLKIT_SPOOL: directory };
    const doctor = async () => {
      const { findings }: Examined = documentOf(await runCli(argv, { env, cwd: folder.path }));
      return findings;
    };
    const useWith = async (database: string) => {
      const payments = testKit({ store: sqlStore(path.join(folder.path, database)), spool: { directory } });
      await payments.start({ keepAlive: false });
      await payments.close();
    };
    await useWith("other-shop.db");
    const [found, ...others] = await doctor();
    expect(others).toEqual([]);
    expect(found).toMatchObject({ code: "spool_unavailable", severity: "error" });
    expect(found!.message).toContain(`${directory} belongs to another store`);
    expect(found!.message).toContain("remove this directory");
    rmSync(directory, { recursive: true });
    expect(await doctor()).toEqual([]);
    expect(existsSync(directory)).toBe(false);
    await useWith("shop.db");
    expect(await doctor()).toEqual([]);
  });

  it("finds a file that is not a database", async () => {
    folder.write("letter.db", "This is a letter, and no database at all. ".repeat(40));
    expect(await examine(["--store", "letter.db"])).toEqual(["error store_unavailable"]);
  });

  const inMemory = 0x01021994;
  const isMemory = (() => {
    try {
      return statfsSync("/dev/shm").type === inMemory;
    } catch {
      return false;
    }
  })();
  if (isMemory)
    it("finds one in the machine's memory, in production", async () => {
      const shared = mkdtempSync("/dev/shm/tillkit-");
      const store = path.join(shared, "shop.db");
      expect(await examine(["--store", store], production)).toEqual(["error store_on_memory_disk"]);
      expect(await examine(["--store", store])).toEqual([]);
      const spool = { env: { NODE_ENV: "production", TILLKIT_SPOOL: path.join(shared, "spool") } };
      expect(await examine([], spool)).toEqual(["error store_on_memory_disk"]);
      rmSync(shared, { recursive: true });
    });
  else
    it("skips a disk in memory, because this machine has none at /dev/shm", () => {
      expect(isMemory).toBe(false);
    });
});

const postgres = process.env["TILLKIT_TEST_POSTGRES_URL"];
if (postgres === undefined || postgres === "none")
  it("skips PostgreSQL, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(postgres);
  });
else
  describe("tillkit doctor, on PostgreSQL", () => {
    const pool = new Pool({ connectionString: postgres });
    const prefixes = tablePrefixes((sql) => pool.query(sql));
    const prefix = prefixes.next();
    beforeAll(async () => {
      const store = sqlStore(postgres, { tablePrefix: prefix });
      await store.migrate();
      await store.close();
    });
    afterAll(async () => {
      await prefixes.dropAll();
      await pool.end();
    });

    it("finds commits that do not wait for the disk: an error in production, a note elsewhere", async () => {
      const address = new URL(postgres);
      address.searchParams.set("options", "-c synchronous_commit=off");
      const argv = ["--store", address.href, "--table-prefix", prefix];
      expect(await examine(argv)).toContain("note store_not_durable");
      expect(await examine(argv, production)).toContain("error store_not_durable");
    });

    const noPooler = pgbouncerIsMissing();
    if (noPooler !== undefined)
      it(`skips a pooler, because ${noPooler}`, () => expect(noPooler).toBeDefined());
    else
      it("finds a pooler, unless the address already switches prepared statements off", async () => {
        const pooler = await startPgbouncer(postgres);
        const at = (address: string) => examine(["--store", address, "--table-prefix", prefix]);
        expect(await at(pooler.url)).toContain("note database_pooled");
        expect(await at(`${pooler.url}?preparedStatements=false`)).not.toContain("note database_pooled");
        expect(await at(postgres)).not.toContain("note database_pooled");
        await pooler.stop();
      });

    it("finds a clock that is far from this machine's", async () => {
      const argv = ["--store", postgres, "--table-prefix", prefix];
      expect(await examine(argv)).not.toContain("warning database_clock_off");
      expect(await examine(argv, { now: anHourLate })).toContain("warning database_clock_off");
    });

    it("finds a server that does not run", async () => {
      expect(await examine(["--store", "postgres://127.0.0.1:1/x"])).toEqual(["error store_unavailable"]);
    });
  });

const mysql = process.env["TILLKIT_TEST_MYSQL_URL"];
if (mysql === undefined || mysql === "none")
  it("skips MySQL, because TILLKIT_TEST_MYSQL_URL names no server", () => {
    expect([undefined, "none"]).toContain(mysql);
  });
else
  describe("tillkit doctor, on MySQL", () => {
    const pool = createPool(mysql);
    const prefixes = tablePrefixes((sql) => pool.query(sql));
    const prefix = prefixes.next();
    afterAll(async () => {
      await prefixes.dropAll();
      await pool.end();
    });

    it("finds a clock that is far from this machine's", async () => {
      const store = sqlStore(mysql, { tablePrefix: prefix });
      await store.migrate();
      await store.close();
      const argv = ["--store", mysql, "--table-prefix", prefix];
      expect(await examine(argv)).not.toContain("warning database_clock_off");
      expect(await examine(argv, { now: anHourLate })).toContain("warning database_clock_off");
    });
  });

describe("tillkit doctor, on the address of a database on another host", () => {
  const unencrypted = "warning database_unencrypted";

  it.each([
    ["postgres://shop:a-password@db.invalid/shop", {}],
    ["postgresql://db.invalid/shop?sslmode=disable", {}],
    ["postgres://db.invalid/shop?ssl=false", {}],
    ["postgres://db.invalid/shop?ssl=0", {}],
    ["mysql://shop:a-password@db.invalid/shop", {}],
    ["mysql://db.invalid/shop?ssl=false", {}],
  ])("finds that %s has no TLS", async (address, env) => {
    expect(await examine(["--store", address], { env })).toContain(unencrypted);
  });

  it.each([
    ["postgres://db.invalid/shop?sslmode=verify-full", {}],
    ["postgres://db.invalid/shop", { PGSSLMODE: "require" }],
    ["postgres://db.invalid/shop?sslrootcert=/etc/hosts", { PGSSLMODE: "disable" }],
    ["postgres://db.invalid/shop?sslcert=/etc/hosts", { PGSSLMODE: "disable" }],
    ["postgres://db.invalid/shop?sslkey=/etc/hosts", { PGSSLMODE: "disable" }],
    ["postgres://127.0.0.1:1/shop", {}],
    ["postgres:///shop?host=/no/such/socket", {}],
    ["postgres:///shop?host=::1", {}],
    ["postgres://shop.localhost:1/shop", {}],
    ["mysql://db.invalid/shop?ssl={}", {}],
    ["mysql://localhost:1/shop", {}],
  ])("finds nothing about TLS in %s with %j", async (address, env) => {
    expect(await examine(["--store", address], { env })).not.toContain(unencrypted);
  });
});
