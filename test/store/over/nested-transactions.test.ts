import { storeOver, type StoredRecord } from "tillkit";
import { pendingPayment } from "../../support/webhooks.js";
import { memoryAdapter } from "./memory-adapter.js";

/** Returns a store that meets a conflict at these writes, counted from one. */
function openWith(conflicts: readonly number[]) {
  const adapter = memoryAdapter(new Map<string, StoredRecord>());
  let writes = 0;
  return storeOver({
    ...adapter,
    write: (changes, tx) =>
      conflicts.includes((writes += 1)) ? Promise.resolve(false) : adapter.write(changes, tx),
  });
}

const payment = (n: number) =>
  pendingPayment({ clientId: `c-${n}`, serviceId: `s-${n}`, reference: `order-${n}` });

describe("a transaction inside of another one that runs again after a conflict", () => {
  it("runs again after a conflict of its own, and holds no later one back", async () => {
    // The outer one at its first try, and the inner one in the second.
    const store = openWith([2, 3]);
    const create = (n: number) => store.transaction((tx) => store.save(tx, { created: [payment(n)] }));
    let tries = 0;
    await store.transaction(async (tx) => {
      await create((tries += 1));
      await store.save(tx, { created: [payment(10)] });
    });
    expect(tries).toBe(2);
    for (const n of [1, 2, 10]) expect(await store.find(`c-${n}`)).toBeDefined();
  });

  it("that hangs holds no conflict of others back", async () => {
    const store = openWith([1, 2]);
    let tries = 0;
    await new Promise<void>((again) => {
      void store.transaction(async (tx) => {
        await store.save(tx, { created: [payment(1)] });
        if ((tries += 1) === 1) return;
        again();
        await new Promise(() => {});
      });
    });
    await store.transaction((tx) => store.save(tx, { created: [payment(2)] }));
    expect(await store.find("c-2")).toBeDefined();
  });
});
