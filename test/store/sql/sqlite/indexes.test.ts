import { type SqliteDatabase } from "tillkit/sql";
import { SqliteConnection } from "../../../../src/store/sql/sqlite/connection.js";
import { sqliteDialect } from "../../../../src/store/sql/sqlite/sqlite-dialect.js";
import { lockStatements, lockSync } from "../../../../src/store/sql/sqlite/synchronous/lock-sync.js";
import { anythingToClaim, takeDue } from "../../../../src/store/sql/tables/dispatches.js";
import { expandSome } from "../../../../src/store/sql/tables/expand-events.js";
import {
  countWaiting,
  deadDispatches,
  historyOf,
  webhooksPage,
} from "../../../../src/store/sql/tables/history.js";
import { type Database, tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { readNotes } from "../../../../src/store/sql/tables/notes.js";
import { pruneFinal } from "../../../../src/store/sql/tables/prune.js";
import {
  duePayments,
  readPaymentsPage,
  lookupDuePayments,
} from "../../../../src/store/sql/tables/read-payments.js";
import { type Transaction } from "../../../../src/store/sql/transaction/transaction.js";
import { saved } from "../../../../src/store/exam/checks/steps.js";
import { event, ledger } from "../../../../src/store/exam/checks/fixtures.js";
import { openPlace, type Place } from "../../../promises/processes/databases.js";

describe("the queries of the kit on SQLite", () => {
  let place: Place;
  let db: Database;
  beforeAll(async () => {
    place = await openPlace("sqlite");
    db = { dialect: sqliteDialect, tables: tablesUnder(place.address.prefix) };
    await place.store.migrate();
  });
  afterAll(() => place.remove());

  type Run = SqliteConnection["run"];

  /** Returns the plans of SQLite for every statement of these reads. */
  async function plansOf(read: (tx: Transaction, run: Run) => Promise<unknown>): Promise<string[]> {
    const plans: string[] = [];
    await place.store.transaction(async (tx) => {
      const connection = new SqliteConnection((await tx.raw) as SqliteDatabase);
      const run: Run = (sql, params) => {
        const { rows } = connection.run(`explain query plan ${sql}`, params);
        const details = rows.map(({ detail }) => String(detail).replaceAll(place.address.prefix, ""));
        plans.push(details.filter((detail) => /^(SEARCH|SCAN|USE)/.test(detail)).join("; "));
        return connection.run(sql, params);
      };
      const session = { run: async (sql: string, params: readonly unknown[]) => run(sql, params) };
      await read(session as unknown as Transaction, run);
    });
    return plans;
  }

  const after = { createdAt: "2026-11-20T10:00:00.000Z", clientId: "c" };
  const byListed = "SEARCH payments USING INDEX payments_listed (state=? AND created_at<?)";
  const byState = "SEARCH payments USING INDEX payments_state (state=? AND created_at<?)";
  const byCreated = "SEARCH payments USING INDEX payments_created (created_at<?)";

  it.each([
    [undefined, byCreated],
    ["completed", byListed],
    ["failed", byState],
    ["canceled", byState],
    ["creating", `${byListed}; ${byState}`],
    ["pending", `${byListed}; ${byState}`],
    ["uncertain", `${byListed}; ${byState}`],
  ] as const)("lists the payments of the state %s in the order of an index", async (state, plan) => {
    const page = { newestFirst: true, limit: 50, after, ...(state && { state }) };
    expect(await plansOf((reader) => readPaymentsPage(reader, db, page))).toEqual([plan]);
  });

  it.each([undefined, "completed", "failed", "pending"] as const)(
    "lists the payments of one reference and the state %s by the reference",
    async (state) => {
      const page = { newestFirst: true, limit: 50, reference: "r", ...(state && { state }) };
      const plans = await plansOf((reader) => readPaymentsPage(reader, db, page));
      expect(plans).toEqual([expect.stringContaining("INDEX payments_reference (reference=?)")]);
    },
  );

  it("finds payments that are due in the order of an index", async () => {
    const byBoth = byListed.replace("created_at<?", "created_at>? AND created_at<?");
    const plans = await plansOf(async (reader) => {
      await duePayments(reader, db, { before: "3", limit: 50 });
      await duePayments(reader, db, { before: "3", after, limit: 50 });
      await lookupDuePayments(reader, db, { before: "3", limit: 50 });
    });
    expect(plans).toEqual([
      [byListed, byListed, byListed].join("; "),
      [byBoth, byBoth, byBoth].join("; "),
      "SEARCH payments USING INDEX payments_lookup (next_lookup_at<?)",
    ]);
  });

  it("pages through webhooks in the order of two indexes, and finds one by its ids", async () => {
    const from = "2026-11-20T10:00:00.000Z";
    const plans = await plansOf(async (reader) => {
      await webhooksPage(reader, db, { limit: 50 });
      await webhooksPage(reader, db, { from, outcome: "mismatch", limit: 50 });
      await webhooksPage(reader, db, { receiptId: "r", limit: 50 });
    });
    expect(plans).toEqual([
      "SCAN webhooks USING INDEX webhooks_kept; SCAN webhooks USING INDEX webhooks_pruned",
      "SEARCH webhooks USING INDEX webhooks_kept (received_at>?); SEARCH webhooks USING INDEX webhooks_pruned (received_at>?)",
      expect.stringMatching(/^SEARCH webhooks USING INDEX \w+ \(receipt_id=\?\)$/),
    ]);
  });

  it("reads what a person has to see, and counts it, from indexes that list nothing else", async () => {
    const position = { receivedAt: after.createdAt, receiptId: "r" };
    const plans = await plansOf(async (reader) => {
      await readPaymentsPage(reader, db, { need: "paid_late", newestFirst: false, limit: 50, after });
      await readPaymentsPage(reader, db, { need: "overdue", newestFirst: false, limit: 50, to: "3" });
      await webhooksPage(reader, db, { need: "mismatched", limit: 50, after: position });
      await deadDispatches(reader, db, { revive: false, limit: 50, after: { eventId: "e", handler: "h" } });
      await countWaiting(reader, db, { before: { unmatched: "3" } });
      await readNotes(reader, db, { kind: "told", after: "a", limit: 50 });
    });
    const byNeed = (table: string, time: string) =>
      `SEARCH ${table} USING INDEX ${table}_attention (attention=? AND ${time})`;
    expect(plans.slice(0, 3)).toEqual([
      byNeed("payments", "created_at>?"),
      byNeed("payments", "created_at<?"),
      byNeed("webhooks", "received_at>?"),
    ]);
    expect(plans[3]).toContain("SEARCH d USING INDEX dispatches_dead (dead=? AND event_seq>?)");
    for (const plan of plans)
      expect(plan).not.toMatch(/SCAN (payments|webhooks|events|dispatches|notes|[edp])\b/);
    const counts = plans.filter((plan) => plan.includes("payments_attention")).at(-1)!;
    expect(counts.match(/SEARCH \w+ USING COVERING INDEX \w+_attention/g)).toHaveLength(10);
    expect(plans.slice(0, 4).join()).not.toContain("USE TEMP B-TREE");
  });

  it("searches eventKeys for a clientId only where they contain enough of it", async () => {
    const plansFor = (clientId: string) =>
      plansOf(async (session) => {
        await historyOf(session, db, clientId);
        await webhooksPage(session, db, { clientId, limit: 50 });
      });
    const byKey = /webhooks USING COVERING INDEX \w+ \(event_key>\? AND event_key<\?\)/;
    expect((await plansFor("order-1001")).filter((plan) => byKey.test(plan))).toHaveLength(4);
    expect((await plansFor("our-shop-in-moroni-order-1001")).filter((plan) => byKey.test(plan))).toEqual([]);
  });

  it("reads no table as a whole when it locks, claims, prunes, counts and reads a history", async () => {
    const keys = { clientIds: ["c"], serviceIds: ["s"], references: ["r"], eventKeys: ["k"] };
    const many = { clientIds: ["c", "d"], serviceIds: ["s", "t"], eventKeys: ["k", "l"] };
    await place.store.registerHandlers([ledger]);
    await saved(place.store, { events: [event("e1")] });
    const plans = await plansOf(async (session, run) => {
      const statements = lockStatements(db.tables);
      for (const each of [keys, many]) lockSync({ connection: { run }, statements, read: new Map() }, each);
      await anythingToClaim(session, db, { handlers: [ledger] });
      await expandSome(session, db);
      await takeDue(session, db, { handlers: [ledger], limit: 50, leaseMs: 1000 });
      await pruneFinal(session, db, { before: "3", limit: 50 });
      await countWaiting(session, db);
      await historyOf(session, db, "c");
    });
    expect(plans.length).toBeGreaterThan(15);
    for (const plan of plans) expect(plan).not.toMatch(/SCAN (payments|webhooks|events|dispatches|[edp])\b/);
  });
});
