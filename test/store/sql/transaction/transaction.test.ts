import { sqliteStore } from "tillkit/sql";
import { type Dialect } from "../../../../src/store/sql/driver/dialect.js";
import { type OpenTransaction } from "../../../../src/store/sql/driver/driver.js";
import { Transaction } from "../../../../src/store/sql/transaction/transaction.js";
import { temporaryFiles } from "../support/temporary-files.js";
import { transactionSentences } from "../support/transaction-sentences.js";

const file = temporaryFiles()();

// What transactions do is the same on all databases; the tests of the others are in their folders.
transactionSentences({ create: () => sqliteStore(file), first: "?", table: "orders" });

describe("the statements of a transaction", () => {
  it("are sent one at a time, and all before the commit, also if one is given while others wait", async () => {
    const sent: string[] = [];
    const answers = new Map<string, () => void>();
    const open: Partial<OpenTransaction<undefined>> = {
      query(sql) {
        sent.push(sql);
        return new Promise((resolve) => answers.set(sql, () => resolve({ rows: [], affected: 0 })));
      },
      commit: async () => void sent.push("commit"),
    };
    const dialect: Partial<Dialect> = { name: "sqlite" };
    const tx = new Transaction(dialect as Dialect, open as OpenTransaction<undefined>);
    const turn = () => new Promise(setImmediate);
    const first = tx.query("first");
    const second = tx.query("second");
    await turn();
    answers.get("first")!();
    await first;
    const third = tx.query("third");
    const committed = tx.commit();
    await turn();
    expect(sent).toEqual(["first", "second"]);
    answers.get("second")!();
    await second;
    await turn();
    expect(sent).toEqual(["first", "second", "third"]);
    answers.get("third")!();
    await Promise.all([third, committed]);
    expect(sent).toEqual(["first", "second", "third", "commit"]);
  });

  it("reject as lost with the connection, and as too late after the kit has ended the transaction", async () => {
    const open: Partial<OpenTransaction<undefined>> = {
      query: () => Promise.reject(new Error("the socket was closed")),
      isLost: () => true,
      rollback: async () => undefined,
    };
    const dialect: Partial<Dialect> = { name: "postgres", translate: (error) => error };
    const tx = new Transaction(dialect as Dialect, open as OpenTransaction<undefined>);
    await expect(tx.query("first")).rejects.toMatchObject({ code: "store_unavailable" });
    await tx.rollback();
    await expect(tx.query("late")).rejects.toMatchObject({ code: "transaction_closed" });
  });
});
