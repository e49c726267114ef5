import { type PaymentStore } from "tillkit";
import { runInTransaction } from "../../src/dispatch/run-in-transaction.js";

interface LazyTx {
  open: () => Promise<unknown>;
}

/** A store whose lazy `tx` shows when its transaction is opened. */
const store = {
  transaction: (run: (tx: LazyTx) => Promise<unknown>) => run({ open: () => Promise.resolve() }),
  lazy: (open: () => Promise<LazyTx>): LazyTx => ({ open }),
} as unknown as PaymentStore<LazyTx>;

async function useLater(tx: LazyTx): Promise<unknown> {
  for (let microtasks = 0; microtasks < 2; microtasks++) await Promise.resolve();
  return tx.open();
}

describe("a lazy transaction", () => {
  it("is not opened by a call that the handler did not wait for", async () => {
    let late!: Promise<unknown>;
    await runInTransaction(
      store,
      async (tx) => {
        late = useLater(tx);
        late.catch(() => {});
      },
      () => Promise.resolve(),
    );
    await expect(late).rejects.toMatchObject({ code: "transaction_closed" });
  });

  it("ends with the error of the run, after the rollback", async () => {
    const error = new Error("no");
    const run = async (tx: LazyTx) => {
      await tx.open();
      throw error;
    };
    let isRolledBack = false;
    const slow: PaymentStore<LazyTx> = {
      ...store,
      transaction: (inside) =>
        store.transaction(inside).catch(async (cause: unknown) => {
          await new Promise(setImmediate);
          isRolledBack = true;
          throw cause;
        }),
    };
    await expect(runInTransaction(slow, run, () => Promise.resolve())).rejects.toBe(error);
    expect(isRolledBack).toBe(true);
  });
});
