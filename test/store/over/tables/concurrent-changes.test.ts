import { type PaymentStore, storeOver, type StoredRecord } from "tillkit";
import { event, webhook } from "../../../../src/store/exam/checks/fixtures.js";
import { memoryAdapter } from "../memory-adapter.js";

const handler = { event: "payment.completed", name: "books" } as const;
const ids = [0, 1, 2, 3, 4].map((number) => `e-${number}`);

/** Returns the stores of two processes with one database, which has five webhooks and five events. */
async function openTwo() {
  const records = new Map<string, StoredRecord>();
  const stores = [0, 1].map(() => storeOver(memoryAdapter(records)));
  const [store] = stores as [(typeof stores)[0]];
  await store.registerHandlers([handler]);
  await store.transaction((tx) =>
    store.save(tx, { webhooks: ids.map((id) => webhook(id)), events: ids.map((id) => event(id)) }),
  );
  return stores;
}

/** Runs all dispatches to this state. */
async function end(store: PaymentStore, state: "done" | "dead"): Promise<void> {
  for (const { event: of, handler: name, fence } of await store.claim({
    handlers: [handler],
    limit: 9,
    leaseMs: 60_000,
  }))
    await store.transaction((tx) => store.settle(tx, { eventId: of.id, handler: name, fence, state }));
}

describe("two processes that change the same records take a full page each, as long as some are left", () => {
  it("of dead dispatches that run again", async () => {
    const stores = await openTwo();
    await end(stores[0]!, "dead");
    const found = await Promise.all(stores.map((store) => store.dead({ revive: true, limit: 2 })));
    expect(found.map((page) => page.length)).toEqual([2, 2]);
    expect((await stores[0]!.counts()).dead).toBe(1);
  });

  it("of dispatches that are retired", async () => {
    const stores = await openTwo();
    const retired = await Promise.all(stores.map((store) => store.retire({ handler: "books", limit: 2 })));
    expect(retired).toEqual([2, 2]);
  });

  it("of webhooks and events that are pruned", async () => {
    const stores = await openTwo();
    await end(stores[0]!, "done");
    const pruned = await Promise.all(
      stores.map((store) => store.prune({ before: "2999-01-01T00:00:00.000Z", limit: 2 })),
    );
    expect(pruned).toMatchObject([
      { webhooks: 2, events: 2 },
      { webhooks: 2, events: 2 },
    ]);
  });
});

it("a prune ends although an earlier version left entries of webhooks that may not be pruned", async () => {
  const records = new Map<string, StoredRecord>();
  const store = storeOver(memoryAdapter(records));
  const save = (outcome: "applied" | "mismatch") =>
    store.transaction((tx) => store.save(tx, { webhooks: [webhook("e-1", { outcome })] }));
  await save("applied");
  const stale = [...records].filter(([key]) => key.startsWith("bytes/"));
  expect(stale).toHaveLength(1);
  records.clear();
  await save("mismatch");
  for (const [key, record] of stale) records.set(key, record);
  expect(await store.prune({ before: "2999-01-01T00:00:00.000Z", limit: 1 })).toMatchObject({ webhooks: 0 });
});
