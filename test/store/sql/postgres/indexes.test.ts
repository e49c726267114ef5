import { Pool } from "pg";
import { postgresStore } from "tillkit/sql";
import { numbered, postgresDialect } from "../../../../src/store/sql/postgres/postgres-dialect.js";
import { anythingToClaim, takeDueInOneStatement } from "../../../../src/store/sql/tables/dispatches.js";
import {
  countWaiting,
  deadDispatches,
  historyOf,
  webhooksPage,
} from "../../../../src/store/sql/tables/history.js";
import { lockKeys } from "../../../../src/store/sql/tables/lock-payments.js";
import { type Database, tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { pruneFinal } from "../../../../src/store/sql/tables/prune.js";
import {
  duePayments,
  readPaymentsPage,
  lookupDuePayments,
} from "../../../../src/store/sql/tables/read-payments.js";
import { saveOrFail } from "../../../../src/store/sql/tables/save-changes.js";
import { type Transaction } from "../../../../src/store/sql/transaction/transaction.js";
import { event, ledger, payment, webhook } from "../../../../src/store/exam/checks/fixtures.js";
import { tablePrefixes } from "../support/table-prefixes.js";

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];

if (url === undefined || url === "none") {
  it("leaves the plans of PostgreSQL out, because TILLKIT_TEST_POSTGRES_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_POSTGRES_URL"]);
  });
} else examine(url);

function examine(url: string): void {
  const pool = new Pool({ connectionString: url, max: 1 });
  const prefixes = tablePrefixes((sql) => pool.query(sql));
  const tables = tablesUnder(prefixes.next());
  const db: Database = { dialect: postgresDialect, tables };
  beforeAll(async () => {
    const store = postgresStore(url, { tablePrefix: tables.prefix });
    await store.migrate();
    await store.close();
  });
  afterAll(async () => {
    await prefixes.dropAll();
    await pool.end();
  });

  /** Returns the plans of PostgreSQL for every statement of these reads, as for tables that are too large to be read as a whole. */
  async function plansOf(
    read: (tx: Transaction) => Promise<unknown>,
    settings = ["enable_seqscan = off", "enable_sort = off", "enable_bitmapscan = off"],
  ): Promise<string[]> {
    const plans: string[] = [];
    const client = await pool.connect();
    await client.query(["begin", ...settings.map((one) => `set local ${one}`)].join("; "));
    const run = async (sql: string, params: readonly unknown[]) => {
      const { text } = numbered(sql);
      const plan = await client.query<{ "QUERY PLAN": string }>(`explain (costs off) ${text}`, [...params]);
      plans.push(plan.rows.map((row) => row["QUERY PLAN"].replaceAll(tables.prefix, "")).join("\n"));
      const { rows, rowCount } = await client.query(text, [...params]);
      return { rows, affected: rowCount ?? 0 };
    };
    try {
      await read({ run } as unknown as Transaction);
    } finally {
      await client.query("rollback");
      client.release();
    }
    return plans;
  }

  /** Returns the indexes in a plan, and whether it sorts, or the table that it reads as a whole. */
  function usedIn(plan: string): string {
    const parts = plan.match(/using \w+|Sort$|Seq Scan on \w+/gm) ?? [];
    return parts.map((part) => part.replace("using ", "")).join(", ");
  }

  const after = { createdAt: "2026-11-20T10:00:00.000Z", clientId: "c" };
  const both = "payments_listed, payments_state";

  it.each([
    [undefined, "payments_created"],
    ["completed", "payments_listed"],
    ["failed", "payments_state"],
    ["canceled", "payments_state"],
    ["creating", both],
    ["pending", both],
    ["uncertain", both],
  ] as const)("lists the payments of the state %s in the order of an index", async (state, indexes) => {
    const page = { newestFirst: true, limit: 50, after, ...(state && { state }) };
    const plans = await plansOf((reader) => readPaymentsPage(reader, db, page));
    expect(plans.map(usedIn)).toEqual([indexes]);
  });

  it("finds payments that are due, and pages through webhooks, in the order of an index", async () => {
    const from = "2026-11-20T10:00:00.000Z";
    const plans = await plansOf(async (reader) => {
      await duePayments(reader, db, { before: "3", after, limit: 50 });
      await lookupDuePayments(reader, db, { before: "3", limit: 50 });
      await webhooksPage(reader, db, { from, outcome: "mismatch", limit: 50 });
      await webhooksPage(reader, db, { receiptId: "r", limit: 50 });
    });
    expect(plans.map(usedIn)).toEqual([
      "payments_listed, payments_listed, payments_listed",
      "payments_lookup",
      "webhooks_kept, webhooks_pruned",
      "Sort, webhooks_receipt_id_key",
    ]);
  });

  it("reads what a person has to see, and counts it, from indexes that list nothing else", async () => {
    const position = { receivedAt: after.createdAt, receiptId: "r" };
    const plans = await plansOf(async (reader) => {
      await readPaymentsPage(reader, db, { need: "paid_late", newestFirst: false, limit: 50, after });
      await webhooksPage(reader, db, { need: "mismatched", limit: 50, after: position });
      await deadDispatches(reader, db, { revive: false, limit: 50, after: { eventId: "e", handler: "h" } });
      await countWaiting(reader, db, { before: { unmatched: "3" } });
    });
    expect(plans.map(usedIn).slice(0, 2)).toEqual(["payments_attention", "webhooks_attention"]);
    expect(usedIn(plans[2]!)).toMatch(/dispatches_dead/);
    expect(usedIn(plans[2]!)).not.toMatch(/Sort|Seq Scan/);
    expect(usedIn(plans[4]!)).toBe(
      [...Array<string>(5).fill("payments_attention"), ...Array<string>(5).fill("webhooks_attention")].join(
        ", ",
      ),
    );
  });

  it("reads no table as a whole when it locks, claims, prunes, counts and reads a history", async () => {
    const keys = { clientIds: ["c"], serviceIds: ["s"], references: ["r"], eventKeys: ["k"] };
    const plans = await plansOf(async (session) => {
      await lockKeys(session, db, keys);
      await anythingToClaim(session, db, { handlers: [ledger] });
      await takeDueInOneStatement(session, db, { handlers: [ledger], limit: 50, leaseMs: 1000 });
      await pruneFinal(session, db, { before: "3", limit: 50 });
      await historyOf(session, db, "c");
      await countWaiting(session, db);
    });
    expect(plans.length).toBeGreaterThan(8);
    for (const plan of plans) expect(plan).not.toMatch(/Seq Scan on (payments|webhooks|events|dispatches)\b/);
  });

  it.each([
    ["differ", ["completed", "failed", "canceled"], /Hash Join|Merge Join/],
    ["are the same", ["completed", "completed", "completed"], /Index Cond: \(client_id = ANY/],
  ] as const)("finds the payments of a group once where the changes %s", async (_, states, way) => {
    const ids = ["a", "b", "c"];
    const settings = ["enable_seqscan = off", "enable_nestloop = off"];
    const plans = await plansOf(
      async (tx) =>
        saveOrFail(
          tx,
          db,
          {
            updated: ids.map((id, n) => payment(id, { state: states[n]!, open: false })),
            webhooks: ids.map((id) => webhook(id)),
            events: ids.map((id) => event(id)),
          },
          { payments: ids.map((id) => payment(id)) },
        ),
      settings,
    );
    expect(plans).toHaveLength(1);
    expect(plans[0]).toMatch(/payments_pkey/);
    expect(plans[0]).toMatch(way);
    expect(plans[0]).not.toMatch(/Nested Loop|Seq Scan/);
  });
}
