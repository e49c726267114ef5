import { postgresDialect } from "../../../../src/store/sql/postgres/postgres-dialect.js";
import { tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { pruneFinal } from "../../../../src/store/sql/tables/prune.js";
import { type Transaction } from "../../../../src/store/sql/transaction/transaction.js";

it("a prune finds nothing where another process pruned the newest events meanwhile", async () => {
  const asked: string[] = [];
  // On PostgreSQL each statement sees what was committed before it.
  const run = async (sql: string) => {
    asked.push(sql);
    return { rows: sql.includes("max(seq)") ? [{ low: "1", high: "10" }] : [], affected: 0 };
  };
  const tx = { run } as unknown as Transaction;
  const db = { dialect: postgresDialect, tables: tablesUnder("shop_") };
  const before = "2026-11-20T10:00:00.000Z";
  expect(await pruneFinal(tx, db, { before, limit: 10 })).toMatchObject({ webhooks: 0, events: 0 });
  expect(asked.filter((sql) => sql.includes("seq >= ?")).length).toBeGreaterThan(0);
});
