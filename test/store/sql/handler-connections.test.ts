import { createPool } from "mysql2";
import { Pool } from "pg";
import { mysqlStore, postgresStore, sqliteStore, type SqlPaymentStore } from "tillkit/sql";
import { tablePrefixes } from "./support/table-prefixes.js";

const postgresUrl = process.env["TILLKIT_TEST_POSTGRES_URL"];
const mysqlUrl = process.env["TILLKIT_TEST_MYSQL_URL"];
const given = (url: string | undefined): url is string => url !== undefined && url !== "none";

it.each([4, 5.5, 0, -1, Number.NaN, 1001])(
  "refuses %d as the maximum number of connections",
  (maxConnections) => {
    expect(() => sqliteStore("never-opened.db", { maxConnections })).toThrow(
      expect.objectContaining({ code: "option_invalid" }),
    );
  },
);

if (given(postgresUrl)) {
  const pool = new Pool({ connectionString: postgresUrl });
  examine("PostgreSQL", (sql) => pool.query(sql), {
    create: (tablePrefix) => postgresStore(postgresUrl, { tablePrefix, maxConnections: 6 }),
    end: () => pool.end(),
  });
}

if (given(mysqlUrl)) {
  const pool = createPool({ uri: mysqlUrl }).promise();
  examine("MySQL", (sql) => pool.query(sql), {
    create: (tablePrefix) => mysqlStore(mysqlUrl, { tablePrefix, maxConnections: 6 }),
    end: () => pool.end(),
  });
}

function examine(
  name: string,
  run: (sql: string) => Promise<unknown>,
  { create, end }: { create: (tablePrefix: string) => SqlPaymentStore; end: () => Promise<void> },
): void {
  it(`keeps connections back for recording, however many handlers run (${name})`, async () => {
    const tables = tablePrefixes(run);
    const store = create(tables.next());
    let open = 0;
    let twoAreOpen!: () => void;
    const holding = new Promise<void>((resolve) => (twoAreOpen = resolve));
    let letGo!: () => void;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const handlers = Array.from({ length: 9 }, () =>
      store.runHandler(
        async (tx) => {
          await tx.query("select 1");
          if (++open === 2) twoAreOpen();
          await held;
        },
        async (tx) => void (await tx.query("select 1")),
      ),
    );
    await holding;
    // As many as recording, claiming and creating payments may need at the same time.
    const four = await Promise.all([1, 2, 3, 4].map(() => store.transaction((tx) => tx.query("select 1"))));
    expect(four).toHaveLength(4);
    expect(open).toBe(2);
    letGo();
    await Promise.all(handlers);
    expect(open).toBe(9);
    await store.close();
    await tables.dropAll();
    await end();
  });
}
