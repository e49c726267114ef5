import { runLazily } from "../../../src/store/rules/run-lazily.js";

interface LazyTx {
  open: () => Promise<unknown>;
}

/** A store whose late `tx` shows when its transaction is opened. */
const store = {
  transaction: (run: (tx: LazyTx) => Promise<void>) => run({ open: () => Promise.resolve() }),
  lateTx: (open: () => Promise<LazyTx>): LazyTx => ({ open }),
};
type Store = typeof store;

async function useLater(tx: LazyTx): Promise<unknown> {
  for (let microtasks = 0; microtasks < 2; microtasks++) await Promise.resolve();
  return tx.open();
}

/** Runs a handler, and notes what happens in which order. */
async function orderOf(run: (tx: LazyTx) => Promise<unknown>) {
  const order: string[] = [];
  const transaction: Store["transaction"] = async (inside) => {
    order.push("begin");
    await store.transaction(inside);
    order.push("commit");
  };
  const running = runLazily(
    { ...store, transaction },
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

  it.each([
    ["that writes", writes, ["run", "begin", "finish", "commit"]],
    ["that writes nothing", nothing, ["run", "begin", "finish", "commit"]],
    ["that fails", fails, ["run", "no"]],
  ])("are in one transaction: of one %s", async (_, run, order) => {
    expect(await orderOf(run)).toEqual(order);
  });
});

describe("a lazy transaction", () => {
  it("is not opened by a call that the handler did not wait for", async () => {
    let late!: Promise<unknown>;
    await runLazily(
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
    const away: Store = { ...store, transaction: () => Promise.reject(error) };
    const seen: unknown[] = [];
    const run = (tx: LazyTx) => tx.open().catch((cause: unknown) => void seen.push(cause));
    await expect(runLazily(away, run, () => Promise.resolve())).rejects.toBe(error);
    expect(seen).toEqual([error]);
  });

  it("ends with the error of the run, after the rollback", async () => {
    const error = new Error("no");
    const run = async (tx: LazyTx) => {
      await tx.open();
      throw error;
    };
    let isRolledBack = false;
    const slow: Store = {
      ...store,
      transaction: (inside) =>
        store.transaction(inside).catch(async (cause: unknown) => {
          await new Promise(setImmediate);
          isRolledBack = true;
          throw cause;
        }),
    };
    await expect(runLazily(slow, run, () => Promise.resolve())).rejects.toBe(error);
    expect(isRolledBack).toBe(true);
  });
});
