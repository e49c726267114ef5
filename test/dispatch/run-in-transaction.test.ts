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

/** Runs a handler, and notes what happens in which order. */
async function orderOf(over: Partial<PaymentStore<LazyTx>>, run: (tx: LazyTx) => Promise<unknown>) {
  const order: string[] = [];
  const transaction: PaymentStore<LazyTx>["transaction"] = async (inside) => {
    order.push("begin");
    const result = await store.transaction(inside);
    order.push("commit");
    return result;
  };
  const running = runInTransaction(
    { ...store, ...over, transaction },
    async (tx) => {
      order.push("run");
      await run(tx);
    },
    async () => void order.push("finish"),
  );
  await running.catch((error: Error) => order.push(error.message));
  return order;
}

describe("a handler and its settlement", () => {
  const writes = (tx: LazyTx) => tx.open();
  const nothing = async () => {};
  const fails = async () => {
    throw new Error("no");
  };
  const eager = { lazy: undefined } as unknown as Partial<PaymentStore<LazyTx>>;

  it.each([
    ["that writes", {}, writes, ["run", "begin", "finish", "commit"]],
    ["that writes nothing", {}, nothing, ["run", "begin", "finish", "commit"]],
    ["that fails", {}, fails, ["run", "no"]],
    ["of a store that is not lazy", eager, writes, ["begin", "run", "finish", "commit"]],
    ["of a store that is not lazy, and that fails", eager, fails, ["begin", "run", "no"]],
  ])("are in one transaction: of one %s", async (_, over, run, order) => {
    expect(await orderOf(over, run)).toEqual(order);
  });
});

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

  it("that cannot be opened rejects the first use of tx with its error, so that the handler can end", async () => {
    const error = new Error("no connection");
    const away: PaymentStore<LazyTx> = { ...store, transaction: () => Promise.reject(error) };
    const seen: unknown[] = [];
    const run = (tx: LazyTx) => tx.open().catch((cause: unknown) => void seen.push(cause));
    await expect(runInTransaction(away, run, () => Promise.resolve())).rejects.toBe(error);
    expect(seen).toEqual([error]);
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
