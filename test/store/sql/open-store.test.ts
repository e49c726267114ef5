import { Pool } from "pg";
import { postgresStore, sqlStore } from "tillkit/sql";
import { serverUrl } from "../../promises/processes/databases.js";
import { tablePrefixes } from "./support/table-prefixes.js";

/** Returns the error for an address. */
function problemOf(address: string): unknown {
  try {
    sqlStore(address);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("an address of PostgreSQL", () => {
  it.each([
    "postgres://h1,h2/shop",
    "postgres://shop:a-password@h1:5432,h2:5432/shop",
    "postgres://h1/shop?target_session_attrs=read-write",
  ])("names one host: %s is refused with an error that says what to do", (address) => {
    expect(problemOf(address)).toMatchObject({
      code: "option_invalid",
      message: expect.stringContaining("docs/failover.md"),
    });
    expect((problemOf(address) as Error).message).not.toContain("a-password");
  });

  it.each(["postgres://a,b:c,d@h1/shop", "postgres://h1/shop?application_name=a,b"])(
    "may have a comma elsewhere: %s",
    (address) => expect(problemOf(address)).toBeUndefined(),
  );

  it("refuses another value of preparedStatements than true and false", () => {
    expect(problemOf("postgres://h1/shop?preparedStatements=no")).toMatchObject({ code: "option_invalid" });
    expect(() => postgresStore("postgres://h1/shop?a=1&preparedStatements=true&b=2")).not.toThrow();
  });
});

describe("an address of MySQL", () => {
  // Managed databases give such addresses, and mysql2 would connect without encryption.
  it.each([
    "ssl-mode=REQUIRED",
    "sslmode=require",
    "a=1&sslaccept=strict",
    "useSSL=true",
    "tls=true",
    "ssl=true",
  ])("must not ask for TLS in a form that mysql2 does not read: %s", (parameters) =>
    expect(problemOf(`mysql://shop:a-password@h1/shop?${parameters}`)).toMatchObject({
      code: "option_invalid",
      message: expect.stringContaining("ssl={}"),
    }),
  );

  it.each(["ssl={}", 'ssl={"ca":"PEM"}', "ssl=Amazon%20RDS", "ssl=false", "timezone=Z"])(
    "may have the parameters of mysql2: %s",
    (parameters) => expect(problemOf(`mysql://h1/shop?${parameters}`)).toBeUndefined(),
  );
});

it.each(["shop.db", "postgres://h1/shop", "mysql://h1/shop"])("the options are used for %s", (address) => {
  const options = { tablePrefix: "not a name;" };
  expect(() => sqlStore(address, options)).toThrow(expect.objectContaining({ code: "option_invalid" }));
});

const url = serverUrl("postgres");

if (url === undefined)
  it("leaves prepared statements out, because no server is named", () => expect(url).toBeUndefined());
else
  it.each([
    ["true", {}, true],
    ["false", {}, false],
    ["false", { preparedStatements: true }, true],
    ["true&application_name=a", { preparedStatements: false }, false],
  ])("an address with preparedStatements=%s and the options %j", async (inAddress, options, isPrepared) => {
    const pool = new Pool({ connectionString: url });
    const tables = tablePrefixes((sql) => pool.query(sql));
    const at = `${url}${url.includes("?") ? "&" : "?"}preparedStatements=${inAddress}`;
    const store = postgresStore(at, { tablePrefix: tables.next(), ...options });
    await store.transaction((tx) => store.lock(tx, { clientIds: ["c-1"] }));
    const { rows } = await store.query("select name from pg_prepared_statements where name like 'tillkit%'");
    expect(rows.length > 0).toBe(isPrepared);
    await store.close();
    await tables.dropAll();
    await pool.end();
  });
