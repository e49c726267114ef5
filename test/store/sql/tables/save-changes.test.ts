import { payment } from "../../../../src/store/exam/checks/fixtures.js";
import { type Changes, type Locked } from "../../../../src/store/index.js";
import { mysqlDialect } from "../../../../src/store/sql/mysql/mysql-dialect.js";
import { tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { saveChanges } from "../../../../src/store/sql/tables/save-changes.js";
import { type Transaction } from "../../../../src/store/sql/transaction/transaction.js";

/** Returns the statements for these changes on MySQL, where each one finds its row, by their beginnings. */
async function statementsOf(
  hasSeveralWriters: boolean,
  changes: Changes,
  locked?: Locked,
): Promise<string[]> {
  const statements: string[] = [];
  const run = async (sql: string, params: readonly unknown[]) => {
    statements.push(sql.startsWith("replace") ? `replace ${String(params[0])}` : sql.split(" ")[0]!);
    return { rows: [], affected: 1 };
  };
  const attempt = async (sql: string) => Boolean(statements.push(sql.split(" ")[0]!));
  const tx = { run, attempt } as unknown as Transaction;
  const db = { dialect: { ...mysqlDialect, hasSeveralWriters }, tables: tablesUnder("shop_") };
  await saveChanges(tx, db, changes, locked);
  return statements;
}

const ofOrder = (clientId: string, order: number) => payment(clientId, { reference: `order-${order}` });
const row = expect.stringMatching(/^replace reference [\da-f]{3}$/) as string;

// Servers of such a cluster do not see each other's locks. If two write one row, one transaction ends.
describe("where several servers accept writes, a transaction writes a row of the reference", () => {
  const updated = [{ ...ofOrder("p1", 1), state: "completed" as const }];

  it("before a payment that has another attempt", async () => {
    const locked = { payments: [ofOrder("p1", 1), ofOrder("p2", 1)], eventKeys: [] };
    expect(await statementsOf(true, { updated }, locked)).toEqual([row, "update"]);
    expect(await statementsOf(false, { updated }, locked)).toEqual(["update"]);
  });

  it("not for a payment that is known to be the only one", async () => {
    const locked = { payments: [ofOrder("p1", 1), ofOrder("p2", 2)], eventKeys: [] };
    expect(await statementsOf(true, { updated }, locked)).toEqual(["update"]);
  });

  it("once for each reference, where the other attempts are not known", async () => {
    expect(await statementsOf(true, { updated })).toEqual([row, "update"]);
    const created = [ofOrder("p3", 1), ofOrder("p4", 2)];
    const statements = await statementsOf(true, { created, updated });
    expect(statements).toEqual([row, row, "update", "insert"]);
    // In one order, so that two transactions do not wait for each other.
    expect(statements[0]! < statements[1]!).toBe(true);
  });
});
