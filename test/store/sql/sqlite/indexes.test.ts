import { sqliteDialect } from "../../../../src/store/sql/sqlite/sqlite-dialect.js";
import { countWaiting } from "../../../../src/store/sql/tables/counts.js";
import { anythingToClaim, takeDue } from "../../../../src/store/sql/tables/dispatches.js";
import { expandSome } from "../../../../src/store/sql/tables/expand-events.js";
import { historyOf, webhooksPage } from "../../../../src/store/sql/tables/history.js";
import { lockKeys } from "../../../../src/store/sql/tables/lock-payments.js";
import { tablesUnder, type Tables } from "../../../../src/store/sql/tables/names.js";
import { pruneFinal } from "../../../../src/store/sql/tables/prune.js";
import {
  duePayments,
  listPayments,
  lookupDuePayments,
} from "../../../../src/store/sql/tables/read-payments.js";
import { type KitTx, type Session, type TxAtOnce } from "../../../../src/store/sql/sql-tx.js";
import { saved } from "../../../../src/store/exam/checks/steps.js";
import { event, ledger } from "../../../../src/store/exam/checks/fixtures.js";
import { openPlace, type Place } from "../../../promises/processes/databases.js";

const dialect = sqliteDialect;

describe("what the kit asks SQLite", () => {
  let place: Place;
  let tables: Tables;
  beforeAll(async () => {
    place = await openPlace("sqlite");
    tables = tablesUnder(place.address.prefix);
    await place.store.migrate();
  });
  afterAll(() => place.remove());

  /** How SQLite goes about every statement of these reads. */
  async function plansOf(read: (session: Session & KitTx) => Promise<unknown>): Promise<string[]> {
    const plans: string[] = [];
    await place.store.transaction(async (tx) => {
      const { atOnce } = tx as KitTx;
      const explained =
        (run: TxAtOnce["run"]): TxAtOnce["run"] =>
        (sql, params) => {
          const { rows } = run<{ detail: string }>(`explain query plan ${sql}`, params);
          const details = rows.map(({ detail }) => detail.replaceAll(place.address.prefix, ""));
          plans.push(details.filter((detail) => /^(SEARCH|SCAN|USE)/.test(detail)).join("; "));
          return run(sql, params);
        };
      const session = {
        atOnce: (run: (now: TxAtOnce) => unknown) =>
          atOnce!((now) => run({ ...now, run: explained(now.run) })),
        run: (sql: string, params: readonly unknown[]) => atOnce!((now) => explained(now.run)(sql, params)),
      };
      await read(session as Session & KitTx);
    });
    return plans;
  }

  const after = { createdAt: "2026-11-20T10:00:00.000Z", clientId: "c" };
  const byAwaited = "SEARCH payments USING INDEX payments_awaited (created_at<?)";
  const byState = "SEARCH payments USING INDEX payments_state (state=? AND created_at<?)";
  const byCreated = "SEARCH payments USING INDEX payments_created (created_at<?)";

  it.each([
    [undefined, byCreated],
    ["completed", byCreated],
    ["failed", byState],
    ["canceled", byState],
    ["creating", `${byAwaited}; ${byState}`],
    ["pending", `${byAwaited}; ${byState}`],
    ["uncertain", `${byAwaited}; ${byState}`],
  ] as const)("lists the payments of the state %s in the order of an index", async (state, plan) => {
    const page = { newestFirst: true, limit: 50, after, ...(state && { state }) };
    expect(await plansOf((reader) => listPayments(reader, dialect, tables, page))).toEqual([plan]);
  });

  it("finds payments that are due in the order of an index", async () => {
    const plans = await plansOf(async (reader) => {
      await duePayments(reader, dialect, tables, { before: "3", limit: 50 });
      await duePayments(reader, dialect, tables, { before: "3", after, limit: 50 });
      await lookupDuePayments(reader, tables, { before: "3", limit: 50 });
    });
    expect(plans).toEqual([
      byAwaited,
      "SEARCH payments USING INDEX payments_awaited (created_at>? AND created_at<?)",
      "SEARCH payments USING INDEX payments_lookup (next_lookup_at<?)",
    ]);
  });

  it("pages through webhooks in the order of two indexes, and finds one by its ids", async () => {
    const from = "2026-11-20T10:00:00.000Z";
    const plans = await plansOf(async (reader) => {
      await webhooksPage(reader, dialect, tables, { limit: 50 });
      await webhooksPage(reader, dialect, tables, { from, outcome: "mismatch", limit: 50 });
      await webhooksPage(reader, dialect, tables, { receiptId: "r", limit: 50 });
    });
    expect(plans).toEqual([
      "SCAN webhooks USING INDEX webhooks_kept; SCAN webhooks USING INDEX webhooks_pruned",
      "SEARCH webhooks USING INDEX webhooks_kept (received_at>?); SEARCH webhooks USING INDEX webhooks_pruned (received_at>?)",
      expect.stringMatching(/^SEARCH webhooks USING INDEX \w+ \(receipt_id=\?\)$/),
    ]);
  });

  it("looks through eventKeys for a clientId only where they tell it from others", async () => {
    const plansFor = (clientId: string) =>
      plansOf(async (session) => {
        await historyOf(session, dialect, tables, clientId);
        await webhooksPage(session, dialect, tables, { clientId, limit: 50 });
      });
    const byKey = /webhooks USING COVERING INDEX \w+ \(event_key>\? AND event_key<\?\)/;
    expect((await plansFor("order-1001")).filter((plan) => byKey.test(plan))).toHaveLength(4);
    expect((await plansFor("our-shop-in-moroni-order-1001")).filter((plan) => byKey.test(plan))).toEqual([]);
  });

  it("reads no table as a whole when it locks, claims, prunes, counts and tells a history", async () => {
    const keys = { clientIds: ["c"], serviceIds: ["s"], references: ["r"], eventKeys: ["k"] };
    const many = { clientIds: ["c", "d"], serviceIds: ["s", "t"], eventKeys: ["k", "l"] };
    await place.store.registerHandlers([ledger]);
    await saved(place.store, { events: [event("e1")] });
    const plans = await plansOf(async (session) => {
      await lockKeys(session, dialect, tables, keys);
      await lockKeys(session, dialect, tables, many);
      await anythingToClaim(session, dialect, tables, [ledger]);
      await expandSome(session, dialect, tables);
      await takeDue(session, dialect, tables, { handlers: [ledger], limit: 50, leaseMs: 1000 });
      await pruneFinal(session, dialect, tables, { before: "3", limit: 50 });
      await countWaiting(session, dialect, tables);
      await historyOf(session, dialect, tables, "c");
    });
    expect(plans.length).toBeGreaterThan(15);
    for (const plan of plans) expect(plan).not.toMatch(/SCAN (payments|webhooks|events|dispatches|[edp])\b/);
  });
});
