import { createHash } from "node:crypto";
import { PostgresDriver } from "../../../../src/store/sql/postgres/postgres-driver.js";
import { resolveSqlStoreOptions } from "../../../../src/store/sql/options.js";
import {
  isPostgresSessionOver,
  postgresDialect,
} from "../../../../src/store/sql/postgres/postgres-dialect.js";
import { tablesUnder } from "../../../../src/store/sql/tables/names.js";

it.each([
  ["a session that was idle in a transaction", "25P03"],
  ["a transaction that took too long", "25P04"],
  ["a session at the request of an administrator", "57P01"],
])("knows that the connection is lost when the server ends %s", (_, code) => {
  const error = Object.assign(new Error("terminating connection"), { severity: "FATAL", code });
  expect(postgresDialect.translate(error)).toMatchObject({ code: "store_unavailable" });
  expect(isPostgresSessionOver(error)).toBe(true);
});

// The server caused these errors, and not the record that is written.
it.each(
  [
    "53100 53200 53300 53400 58000 58030 25006 57P01 57P02 57P03 08001 08003 08006 28P01 28000 3D000 42501",
    "57014 40P01 40001 26000 42P05",
  ].flatMap((codes) => codes.split(" ")),
)("translates PostgreSQL's error %s to store_unavailable", (code) => {
  const error = { severity: "ERROR", code };
  expect(postgresDialect.translate(error)).toMatchObject({ code: "store_unavailable", cause: error });
});

it.each([
  ["a value that is taken", "23505", "store_conflict"],
  ["a lock that is not free in time", "55P03", "store_busy"],
])("translates PostgreSQL's error about %s", (_, code, translated) => {
  const error = { severity: "ERROR", code };
  expect(postgresDialect.translate(error)).toMatchObject({ code: translated, cause: error });
});

it("takes an error without a severity for that of a connection, unless it is a mistake in the code", () => {
  const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  expect(postgresDialect.translate(reset)).toMatchObject({ code: "store_unavailable", cause: reset });
  const mistake = new TypeError("value.map is not a function");
  expect(postgresDialect.translate(mistake)).toBe(mistake);
});

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];

if (url === undefined || url === "none") {
  it("leaves the names of prepared statements out, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_POSTGRES_URL"]);
  });
} else examine(url);

function examine(url: string): void {
  it("names each prepared statement by a hash of its text, so that no process gives the name to another statement", async () => {
    const driver = new PostgresDriver(
      url,
      tablesUnder("none_"),
      resolveSqlStoreOptions({ busyTimeoutMs: 1234 }),
    );
    await driver.readVersion();
    const tx = await driver.begin("handler");
    const { rows } = await tx.query("select name, statement from pg_prepared_statements where $1 = 1", [1]);
    await tx.run("select ?::text as kept", ["a value"]);
    const { rows: later } = await tx.query("select name, statement from pg_prepared_statements", []);
    await tx.rollback();
    await driver.close();
    const named = [...rows, ...later].filter((row) => String(row["name"]).startsWith("tillkit_"));
    expect(named.map((row) => row["statement"])).toEqual(
      expect.arrayContaining([
        "select set_config('lock_timeout', '1234', true), set_config('array_nulls', 'on', true)",
        "select $1::text as kept",
      ]),
    );
    for (const { name, statement } of named) {
      const digest = createHash("sha256").update(String(statement)).digest("hex").slice(0, 32);
      expect(String(name).replace(/_ahead$/, "")).toBe(`tillkit_${digest}`);
    }
  });
}
