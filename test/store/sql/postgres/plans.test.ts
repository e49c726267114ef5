import { Pool } from "pg";
import { postgresStore } from "tillkit/sql";
import { payment } from "../../../../src/store/exam/checks/fixtures.js";
import { tablePrefixes } from "../support/table-prefixes.js";

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];

if (url === undefined || url === "none") {
  it("leaves the plans of PostgreSQL out, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_POSTGRES_URL"]);
  });
} else examine(url);

/** How often PostgreSQL plans a prepared statement for its values before it compares that with a general plan. */
const trials = 5;
const rounds = 12;

function examine(url: string): void {
  const pool = new Pool({ connectionString: url });
  const tables = tablePrefixes((sql) => pool.query(sql));
  afterAll(async () => {
    await tables.dropAll();
    await pool.end();
  });

  it("plans the statements of a payment's creation once, and not for each payment", async () => {
    const tablePrefix = tables.next();
    const store = postgresStore(url, { tablePrefix });
    // So many that the statistics matter.
    const others = Array.from({ length: 2000 }, (_, n) =>
      payment(`other-${n}`, { reference: `order-other-${n}`, serviceId: `service-other-${n}` }),
    );
    await store.transaction((tx) => store.save(tx, { created: others }));
    await pool.query(`analyze ${tablePrefix}payments, ${tablePrefix}webhooks`);

    for (let round = 0; round < rounds; round++) {
      const intended = payment(`p${round}`, { reference: `order-${round}`, state: "creating" });
      const { clientId, reference } = intended;
      await store.transaction(async (tx) => {
        await store.lock(tx, { references: [reference], clientIds: [clientId] });
        await store.save(tx, { updated: [], created: [intended] });
      });
      const serviceId = `service-${round}`;
      await store.transaction(async (tx) => {
        await store.lock(tx, { clientIds: [clientId], serviceIds: [serviceId] });
        await store.save(tx, { updated: [{ ...intended, state: "pending", serviceId }] });
      });
      await store.transaction((tx) => store.rematchable(tx, [clientId]));
    }

    // Transactions that run one after the other use the same connection.
    const { rows } = await store.transaction((tx) =>
      tx.query<{ statement: string; planned: number; again: number }>(
        `select statement, custom_plans::int as planned, generic_plans::int as again from pg_prepared_statements
          where custom_plans + generic_plans >= $1`,
        [rounds],
      ),
    );
    expect(rows.length).toBeGreaterThanOrEqual(6);
    expect(rows.filter(({ planned }) => planned > trials)).toEqual([]);
    await store.close();
  });
}
