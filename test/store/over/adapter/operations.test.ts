import { type BatchAdapter, storeOver } from "tillkit";
import { pendingPayment } from "../../../support/webhooks.js";
import { memoryAdapter } from "../memory-adapter.js";

/** Returns an adapter without transactions, and the application's writes that it has made. */
function batchAdapter(onWrite = () => {}) {
  const memory = memoryAdapter();
  const made: string[] = [];
  const adapter: BatchAdapter<string> = {
    durable: false,
    read: (keys) => memory.read(keys),
    scan: (range) => memory.scan(range),
    async write(changes, items) {
      onWrite();
      made.push(...items);
      return memory.write(changes, { id: 0 });
    },
  };
  return { adapter, made };
}

describe("a write of the application", () => {
  it("is made where its transaction changes no record", async () => {
    const { adapter, made } = batchAdapter();
    await storeOver(adapter).transaction(async (tx) => tx.add("a", "b"));
    expect(made).toEqual(["a", "b"]);
  });

  it("is refused after its transaction has started to commit, or was rolled back", async () => {
    const closed = expect.objectContaining({ code: "transaction_closed" });
    let add = () => {};
    const { adapter, made } = batchAdapter(() => expect(add).toThrow(closed));
    const store = storeOver(adapter);
    await store.transaction(async (tx) => {
      tx.add("a");
      add = () => tx.add("late");
    });
    const failing = store.transaction(async (tx) => {
      add = () => tx.add("late");
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(add).toThrow(closed);
    expect(made).toEqual(["a"]);
  });
});

it("a commit that fails in the database's second try reports its own failure, and not the first try's error", async () => {
  const adapter = memoryAdapter();
  let tries = 0;
  const run = async (): Promise<void> => {
    tries += 1;
    if (tries === 1) throw new Error("The first try conflicted.");
  };
  const store = storeOver({
    ...adapter,
    async transaction(work) {
      await expect(adapter.transaction(work)).rejects.toThrow("conflicted");
      await adapter.transaction(work);
      throw new Error("The connection was lost.");
    },
  });
  await expect(store.transaction(run)).rejects.toMatchObject({
    code: "store_unavailable",
    cause: { message: "The connection was lost." },
  });
  expect(tries).toBe(2);
});

it("a transaction rejects with the error of its run, also where an ORM wraps the errors of its callback", async () => {
  const adapter = memoryAdapter();
  const store = storeOver({
    ...adapter,
    transaction: (run) =>
      adapter.transaction(run).catch((cause: unknown) => {
        throw new Error("The transaction was rolled back.", { cause });
      }),
  });
  const error = new Error("no");
  await expect(store.transaction(() => Promise.reject(error))).rejects.toBe(error);
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  const again = store.transaction((tx) => store.save(tx, { updated: [pendingPayment({ clientId: "c-2" })] }));
  await expect(again).rejects.toMatchObject({ code: "store_conflict" });
});
