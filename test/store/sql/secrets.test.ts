import { inspect } from "node:util";
import { createPool } from "mysql2";
import { mysqlStore, postgresStore } from "tillkit/sql";
import { mysqlDialect } from "../../../src/store/sql/mysql/mysql-dialect.js";
import { postgresDialect } from "../../../src/store/sql/postgres/postgres-dialect.js";

/** Returns everything that a logger could find in an error. */
const everythingIn = (error: unknown): string => inspect(error, { depth: 10 }) + JSON.stringify(error);

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error("It threw nothing.");
}

it.each([
  ["mysql", mysqlStore, "mysql://shop:s3cret#Pw@db/shop"],
  ["mysql, with a number before the #", mysqlStore, "mysql://shop:1234#s3cret@db/shop"],
  ["mysql, with a single %", mysqlStore, "mysql://shop:s3cret%E0%A4%A@db/shop"],
  ["mysql, with a /", mysqlStore, "mysql://shop:s3cret/Pw@db/shop"],
  ["postgres", postgresStore, "postgres://shop:s3cret#Pw@db/shop"],
  ["postgres, with a ?", postgresStore, "postgres://shop:s3cret?Pw@db/shop"],
] as const)("refuses an address that cannot be read, and never repeats it (%s)", (_, create, url) => {
  const error = thrownBy(() => create(url));
  expect(error).toMatchObject({ code: "option_invalid" });
  expect(everythingIn(error)).not.toMatch(/s3cret/);
});

it.each([
  "postgres:///shop?host=/var/run/postgresql",
  "postgres://shop:pw@/shop?host=/var/run/postgresql",
  "postgresql://shop:p%23w@[::1]:5433/shop?sslmode=require",
  "postgres://%2Fvar%2Frun%2Fpostgresql/shop",
  "postgres://shop:with space%zz@db/shop",
])("takes the address %s, as the driver does", (url) => {
  expect(postgresStore(url)).toHaveProperty("durable", true);
});

it.each([
  ["mysql", mysqlDialect, { errno: 1213, sqlState: "40001", sql: "insert … values ('s3cret')" }],
  ["mysql", mysqlDialect, { errno: 1064, sqlState: "42000", sql: "insert … values ('s3cret')" }],
  ["postgres", postgresDialect, { severity: "ERROR", code: "23502", detail: "Failing row (s3cret)" }],
])("shows no values of the kit's own statements in errors of %s", (_, dialect, shape) => {
  const error = Object.assign(new Error("failed"), shape);
  const translated = dialect.translate(error);
  expect(everythingIn(translated)).not.toMatch(/s3cret/);
  expect(JSON.stringify(error)).not.toMatch(/s3cret/);
});

const mysqlUrl = process.env["TILLKIT_TEST_MYSQL_URL"];
if (mysqlUrl !== undefined && mysqlUrl !== "none") {
  it("leaves the error of a statement of the application unchanged, except that it hides the values in the text", async () => {
    const pool = createPool({ uri: mysqlUrl }).promise();
    const store = mysqlStore(pool, { tablePrefix: `t${process.pid}secrets_` });
    try {
      const run = store.transaction((tx) => tx.query("insert into no_such_table values (?)", ["s3cret"]));
      const error: unknown = await run.catch((reason: unknown) => reason);
      expect(error).toMatchObject({ errno: 1146, sql: expect.stringContaining("s3cret") });
      expect(everythingIn(error)).not.toMatch(/s3cret/);
    } finally {
      for (const table of ["payments", "webhooks", "events", "handlers", "dispatches", "resolutions", "meta"])
        await pool.query(`drop table if exists t${process.pid}secrets_${table}`);
      await pool.end();
    }
  });
}
