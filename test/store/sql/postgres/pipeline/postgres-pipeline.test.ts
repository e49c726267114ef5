import { Pool } from "pg";
import { postgresStore } from "tillkit/sql";
import { resolveSqlStoreOptions } from "../../../../../src/store/sql/options.js";
import { PostgresDriver } from "../../../../../src/store/sql/postgres/postgres-driver.js";
import { tablesUnder } from "../../../../../src/store/sql/tables/names.js";
import { pipelineSentences } from "../../support/pipeline-sentences.js";
import { tablePrefixes } from "../../support/table-prefixes.js";

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];

if (url === undefined || url === "none") {
  it("leaves the pipelined connection out, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_POSTGRES_URL"]);
  });
} else examine(url);

function examine(url: string): void {
  const pool = new Pool({ connectionString: url });
  const tables = tablePrefixes((sql) => pool.query(sql));
  afterAll(() => pool.end());

  const test = pipelineSentences({
    url,
    tables,
    onlyPipelined: "plan_cache_mode",
    storeAt: (at, tablePrefix) => postgresStore(at, { tablePrefix }),
    driverAt: (at, prefix) => new PostgresDriver(at, tablesUnder(prefix), resolveSqlStoreOptions()),
  });

  it("writes nothing where the begin failed, although the locks were sent with it", async () => {
    const { proxy, store, record, connect } = test();
    await connect();
    proxy.replace("begin isolation", "start isolation");
    await expect(record("p2")).rejects.toMatchObject({ code: "42601" });
    expect(await store.find("p2")).toMatchObject({ state: "pending" });
    proxy.replace("", "");
    expect(await record("p2")).toBe(true);
  });

  it("has no pipelined connection where statements are not to be prepared", async () => {
    const { proxy, tablePrefix, about, trips } = test();
    const plain = postgresStore(proxy.url, { tablePrefix, preparedStatements: false });
    expect(await plain.record({ clientIds: ["p1"] }, () => about("p1"))).toBe(true);
    await plain.close();
    expect(trips()).toBe(0);
  });
}
