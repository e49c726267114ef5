import { setImmediate as nextIteration } from "node:timers/promises";
import { MemoryStore, TillkitError } from "tillkit";
import {
  besideReads,
  concurrently,
  expectRolledBack,
  leased,
  settled,
} from "../../../../src/store/exam/checks/steps.js";

it("what runs at the same time runs on both stores in turn", async () => {
  const stores = [new MemoryStore(), new MemoryStore()] as const;
  const used = await concurrently(4, stores, async (store, index) => [stores.indexOf(store as never), index]);
  expect(used).toEqual([
    [0, 0],
    [1, 1],
    [0, 2],
    [1, 3],
  ]);
});

it("a settlement is lost only where the store says so", async () => {
  const store = new MemoryStore();
  const claim = await leased(store);
  const rejecting = (code: "lease_lost" | "store_busy") => {
    store.settle = () => Promise.reject(new TillkitError(code, "It was not settled."));
    return settled(store, claim, { state: "done" });
  };
  expect(await rejecting("lease_lost")).toBe(false);
  await expect(rejecting("store_busy")).rejects.toMatchObject({ code: "store_busy" });
});

it("a transaction is rolled back only where it rejects with the error of its run", async () => {
  await expectRolledBack(Promise.reject(new Error("no")));
  await expect(expectRolledBack(Promise.reject(new Error("another")))).rejects.toThrow("another");
  await expect(expectRolledBack(Promise.resolve())).rejects.toThrow("although its run had rejected");
});

it("the reads beside a write have ended when it ends, also where the write rejects", async () => {
  let running = 0;
  const read = async () => {
    running += 1;
    for (let pauses = 0; pauses < 5; pauses++) await nextIteration();
    running -= 1;
  };
  await expect(besideReads([read, read], () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(running).toBe(0);
});
