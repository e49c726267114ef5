import { mysqlDialect } from "../../../../src/store/sql/mysql/mysql-dialect.js";
import { tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { writeNotes } from "../../../../src/store/sql/tables/notes.js";
import { type Transaction } from "../../../../src/store/sql/transaction/transaction.js";

const db = { dialect: mysqlDialect, tables: tablesUnder("shop_") };
const note = { kind: "handler", id: "books", version: 0, value: {} };

/** Writes a note with a statement that fails with this error. */
const failingWith = (reason: Error): Promise<void> =>
  writeNotes({ run: () => Promise.reject(reason) } as unknown as Transaction, db, [note]);

it("a deadlock of two transactions that insert neighbouring notes is a conflict of one of them", async () => {
  const deadlock = Object.assign(new Error("Deadlock found"), { errno: 1213, sqlState: "40001" });
  await expect(failingWith(deadlock)).rejects.toMatchObject({ code: "store_conflict" });
  const denied = Object.assign(new Error("denied"), { errno: 1142, sqlState: "42000" });
  await expect(failingWith(denied)).rejects.toBe(denied);
});
