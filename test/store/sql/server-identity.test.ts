import { createPool, type Pool as MysqlPool, type PoolConnection } from "mysql2/promise";
import { Pool } from "pg";
import { mysqlStore, postgresStore, type SqlPaymentStore } from "tillkit/sql";
import { serverUrl } from "../../promises/processes/databases.js";
import { tablePrefixes } from "./support/table-prefixes.js";

/** A store over a server that says of itself what the test says, and the end of its pool. */
interface Claiming {
  store: SqlPaymentStore;
  /** Creates a table that has the name of a table of the kit, so that the server refuses the kit's table. */
  refuseTables: () => Promise<unknown>;
  end: () => Promise<unknown>;
}

type Query = (sql: unknown, ...rest: unknown[]) => Promise<unknown>;

const isIdentity = (sql: unknown): boolean =>
  /version\(\) as version, /.test(String((sql as { text?: string }).text ?? sql));

function claimingPostgres(connectionString: string, version: string): Claiming {
  const pool = new Pool({ connectionString });
  const tables = tablePrefixes((sql) => pool.query(sql));
  pool.on("connect", (client) => {
    const query = client.query.bind(client) as Query;
    (client as { query: Query }).query = (sql, ...rest) =>
      isIdentity(sql)
        ? Promise.resolve({ rows: [{ version, citus: null }], rowCount: 1, command: "SELECT" })
        : query(sql, ...rest);
  });
  const tablePrefix = tables.next();
  const store = postgresStore(pool, { tablePrefix });
  const refuseTables = () => pool.query(`create table ${tablePrefix}payments (other int)`);
  return { store, refuseTables, end: () => tables.dropAll().then(() => pool.end()) };
}

function claimingMysql(uri: string, version: string): Claiming {
  const pool = createPool({ uri });
  const tables = tablePrefixes((sql) => pool.query(sql));
  const claiming = new Proxy(pool, {
    get: (target, name: keyof MysqlPool) =>
      name === "getConnection" ? async () => claim(await pool.getConnection()) : target[name],
  });
  const claim = (connection: PoolConnection): PoolConnection =>
    new Proxy(connection, {
      get(target, name: keyof PoolConnection) {
        const member = target[name] as unknown;
        if (typeof member !== "function") return member;
        if (name !== "query") return member.bind(target) as unknown;
        return (sql: unknown, ...rest: unknown[]) =>
          isIdentity(sql)
            ? Promise.resolve([[{ version, comment: "" }], []])
            : (member as Query).call(target, sql, ...rest);
      },
    });
  const tablePrefix = tables.next();
  const store = mysqlStore(claiming, { tablePrefix });
  const refuseTables = () => pool.query(`create table ${tablePrefix}payments (other int)`);
  return { store, refuseTables, end: () => tables.dropAll().then(() => pool.end()) };
}

/** Lets the server refuse the kit's tables. Returns the error of the migration. */
async function refusalOf({ store, refuseTables, end }: Claiming): Promise<unknown> {
  await refuseTables();
  const error: unknown = await store.migrate().catch((thrown: unknown) => thrown);
  await end();
  return error;
}

const [postgresUrl, mysqlUrl] = [serverUrl("postgres"), serverUrl("mysql")];

describe("a server that is not what its language says", () => {
  if (postgresUrl === undefined)
    it("is left out on PostgreSQL, because no server is named", () => expect(postgresUrl).toBeUndefined());
  else {
    it("is warned about where nobody has examined it, on PostgreSQL, and not where it is PostgreSQL", async () => {
      const claims = [
        ["PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu", "YugabyteDB"],
        // PGAdapter of Spanner says this.
        ["PostgreSQL 14.1", 'an unknown product with the version "PostgreSQL 14.1"'],
      ] as const;
      for (const [version, product] of claims) {
        const unexamined = claimingPostgres(postgresUrl, version);
        expect(await unexamined.store.warnings()).toEqual([
          expect.stringContaining(
            `database_unexamined: The database is ${product}, which was never examined.`,
          ),
        ]);
        await unexamined.end();
      }
      const pool = new Pool({ connectionString: postgresUrl });
      const tables = tablePrefixes((sql) => pool.query(sql));
      const warnings = await postgresStore(pool, { tablePrefix: tables.next() }).warnings();
      expect(warnings.filter((warning) => warning.startsWith("database_"))).toEqual([]);
      await tables.dropAll();
      await pool.end();
    });

    it("is named where it refuses the tables and nobody has examined it, on PostgreSQL", async () => {
      expect(await refusalOf(claimingPostgres(postgresUrl, "CockroachDB CCL v24.3.0"))).toMatchObject({
        code: "database_unexamined",
        message: expect.stringContaining(
          "is CockroachDB, which was never examined, and refuses the kit's tables",
        ),
        cause: { code: "42P07" },
      });
      const postgres = "PostgreSQL 16.6 on x86_64-pc-linux-gnu, compiled by gcc (GCC) 9.5.0, 64-bit";
      expect(await refusalOf(claimingPostgres(postgresUrl, postgres))).toMatchObject({ code: "42P07" });
    });
  }

  if (mysqlUrl === undefined)
    it("is left out on MySQL, because no server is named", () => expect(mysqlUrl).toBeUndefined());
  else {
    it("is refused with its reason where it is TiDB, and gets no tables", async () => {
      const tidb = claimingMysql(mysqlUrl, "8.0.11-TiDB-v7.5.0");
      await expect(tidb.store.find("c-1")).rejects.toMatchObject({
        code: "database_refused",
        message: expect.stringContaining("FOR UPDATE SKIP LOCKED"),
      });
      await tidb.end();
    });

    it("is warned about where it is Vitess", async () => {
      const vitess = claimingMysql(mysqlUrl, "8.0.30-Vitess");
      expect(await vitess.store.warnings()).toEqual([
        expect.stringMatching(/^database_unexamined: The database is Vitess/),
      ]);
      await vitess.end();
    });

    it("is named where it refuses the tables and nobody has examined it, on MySQL", async () => {
      const code = "ER_KEY_COLUMN_DOES_NOT_EXITS";
      expect(await refusalOf(claimingMysql(mysqlUrl, "8.0.30-Vitess"))).toMatchObject({
        code: "database_unexamined",
        message: expect.stringContaining("is Vitess, which was never examined, and refuses the kit's tables"),
        cause: { code },
      });
      expect(await refusalOf(claimingMysql(mysqlUrl, "8.0.36"))).toMatchObject({ code });
    });
  }
});
