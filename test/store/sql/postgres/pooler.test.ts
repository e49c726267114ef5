import { Pool } from "pg";
import { type Payments } from "tillkit";
import { postgresStore, sqlStore } from "tillkit/sql";
import { until } from "../../../promises/processes/members.js";
import { closeAll, testKit } from "../../../support/kit.js";
import { pgbouncerIsMissing, startPgbouncer } from "../../../support/pgbouncer.js";
import { completedBody, pendingPayment, signed } from "../../../support/webhooks.js";
import { tablePrefixes } from "../support/table-prefixes.js";

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];
const missing =
  url === undefined || url === "none" ? "TILLKIT_TEST_POSTGRES_URL names no server" : pgbouncerIsMissing();

if (missing !== undefined) {
  console.info(`PgBouncer is not examined: ${missing}.`);
  it("leaves PgBouncer out, because it or its server is missing", () => expect(missing).toBeDefined());
} else examine(url!);

function examine(url: string): void {
  const pool = new Pool({ connectionString: url });
  const tables = tablePrefixes((sql) => pool.query(sql));
  let pooler: Awaited<ReturnType<typeof startPgbouncer>>;
  let tablePrefix: string;

  beforeAll(async () => {
    pooler = await startPgbouncer(url);
  });
  beforeEach(async () => {
    tablePrefix = tables.next();
    const direct = postgresStore(url, { tablePrefix });
    await direct.transaction((tx) => direct.save(tx, { created: [pendingPayment()] }));
    await direct.close();
  });
  afterEach(async () => {
    await closeAll();
    await tables.dropAll();
  });
  afterAll(async () => {
    await pool.end();
    await pooler.stop();
  });

  it("goes on without prepared statements, from the start, where two processes share one session", async () => {
    const stores = [1, 2].map(() => postgresStore(pooler.url, { tablePrefix }));
    for (let round = 0; round < 10; round++) {
      const found = await Promise.all(stores.map((store) => store.find("c-1")));
      expect(found).toMatchObject([{ clientId: "c-1" }, { clientId: "c-1" }]);
    }
    await Promise.all(stores.map((store) => store.close()));
  });

  it("prepares statements where no pooler is in front of the server", async () => {
    const store = postgresStore(url, { tablePrefix });
    await store.find("c-1");
    const prepared = await store.transaction((tx) => tx.query("select name from pg_prepared_statements"));
    expect(prepared.rows).not.toEqual([]);
    await store.close();
  });

  it("records and dispatches in several processes with ?preparedStatements=false, woken by polling", async () => {
    const at = `${pooler.url}?preparedStatements=false`;
    const [web, worker] = [false as const, { pollMs: 100 }].map((dispatch) =>
      testKit({ store: sqlStore(at, { tablePrefix }), dispatch }),
    ) as [Payments, Payments];
    const seen: string[] = [];
    for (const kit of [web, worker])
      kit.onPaymentCompleted(async function fulfil({ payment }) {
        seen.push(payment.clientId);
        return Promise.resolve();
      });
    await worker.start();
    await web.start();
    const receipts = await Promise.all([1, 2].map(() => web.receiveWebhook(signed(completedBody()))));
    expect(receipts.map(({ outcome }) => outcome).toSorted()).toEqual(["applied", "duplicate"]);
    await until(() => Promise.resolve(seen.length > 0), "a run of the handler");
    expect(seen).toEqual(["c-1"]);
  });

  it("is refused in statement mode, in which no transaction can be open", async () => {
    const inStatements = await startPgbouncer(url, "statement");
    const store = postgresStore(inStatements.url, { tablePrefix: tables.next() });
    const refused = { code: "store_unavailable", fix: expect.stringMatching(/pool_mode/) as string };
    try {
      await expect(store.migrate()).rejects.toMatchObject(refused);
      await expect(store.transaction(() => Promise.resolve())).rejects.toMatchObject(refused);
    } finally {
      await store.close();
      await inStatements.stop();
    }
  });
}
