import { type PaymentState } from "tillkit";
import { mysqlDialect } from "../../../../src/store/sql/mysql/mysql-dialect.js";
import { type Database, tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { duePayments, readPaymentsPage } from "../../../../src/store/sql/tables/read-payments.js";
import { webhooksPage } from "../../../../src/store/sql/tables/history.js";
import { openPlace, serverUrl } from "../../../promises/processes/databases.js";

if (serverUrl("mysql") === undefined) {
  it("leaves the plans of MySQL out, because TILLKIT_TEST_MYSQL_URL names no server", () => {
    expect([undefined, "none"]).toContain(process.env["TILLKIT_TEST_MYSQL_URL"]);
  });
} else {
  it("reads each list of payments on MySQL in the order of an index, which begins with the state", async () => {
    const place = await openPlace("mysql");
    const { prefix } = place.address;
    const db: Database = { dialect: mysqlDialect, tables: tablesUnder(prefix) };
    await place.store.migrate();
    const used: string[] = [];
    const after = { createdAt: "2026-11-20T10:00:00.000Z", clientId: "c" };
    await place.store.transaction(async (tx) => {
      const run = async (sql: string, params: readonly unknown[]) => {
        const plan = await tx.query<{ key: string; Extra: string }>(`explain ${sql}`, params);
        for (const { key, Extra } of plan.rows)
          used.push(key.replace(prefix, "") + (Extra.includes("filesort") ? ", sorted" : ""));
        return { rows: [], affected: 0 };
      };
      const page = { newestFirst: true, limit: 50, after };
      for (const state of ["completed", "pending", "failed"] satisfies PaymentState[])
        await readPaymentsPage({ run }, db, { ...page, state });
      await readPaymentsPage({ run }, db, page);
      await duePayments({ run }, db, { before: "3", after, limit: 50 });
      await readPaymentsPage({ run }, db, { ...page, newestFirst: false, need: "paid_late" });
      const position = { receivedAt: after.createdAt, receiptId: "r" };
      await webhooksPage({ run }, db, { need: "mismatched", limit: 50, after: position });
    });
    const needs = ["payments_attention", "webhooks_attention"];
    expect(used).toEqual([
      ...Array<string>(3).fill("payments_state"),
      "payments_created",
      "payments_awaited",
      ...needs,
    ]);
    await place.remove();
  });
}
