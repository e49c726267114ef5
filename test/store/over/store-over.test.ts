import { storeOver, type Payment } from "tillkit";
import { memoryAdapter } from "./memory-adapter.js";

const recordedAt = "2024-05-01T10:00:00.000Z";
const handlers = [{ event: "payment.overdue", name: "ledger" }] as const;
const claiming = { handlers, limit: 10, leaseMs: 10_000 };

function payment(clientId: string, reference = "order-1"): Payment {
  const total = { value: "1475", currency: "KMF" };
  const state = { state: "open", open: true, createdAt: recordedAt, updatedAt: recordedAt };
  return { clientId, reference, total, ...state } as unknown as Payment;
}

/** Returns a store with one claimed dispatch. */
async function withClaim(adapter = memoryAdapter()) {
  const store = storeOver(adapter);
  await store.registerHandlers(handlers);
  const event = { id: "e1", type: "payment.overdue", recordedAt, payload: {} } as const;
  await store.transaction((tx) => store.save(tx, { events: [event] }));
  const [claim] = await store.claim(claiming);
  const run = { eventId: "e1", handler: "ledger", fence: claim!.fence };
  return { store, run };
}

describe("a store over an adapter", () => {
  it("runs a transaction again after a conflict, and the run sees the other's writes", async () => {
    const adapter = memoryAdapter();
    const [store, other] = [storeOver(adapter), storeOver(adapter)];
    const seen: string[][] = [];
    await store.transaction(async (tx) => {
      const { payments } = await store.lock(tx, { references: ["order-1"] });
      seen.push(payments.map(({ clientId }) => clientId));
      if (seen.length === 1)
        await other.transaction((otherTx) => other.save(otherTx, { created: [payment("theirs")] }));
      const { takenClientIds } = await store.save(tx, { created: [payment("ours")] });
      expect(takenClientIds).toEqual(seen.length === 1 ? [] : ["ours"]);
    });
    expect(seen).toEqual([[], ["theirs"]]);
  });

  it("does not run a handler's transaction again, and rejects with lease_lost", async () => {
    const adapter = memoryAdapter();
    const { store, run } = await withClaim(adapter);
    let runs = 0;
    const settling = store.transaction(async (tx) => {
      runs += 1;
      await store.settle(tx, { ...run, state: "done" });
      const other = storeOver(adapter);
      await other.transaction((otherTx) => other.settle(otherTx, { ...run, state: "released" }));
    });
    await expect(settling).rejects.toMatchObject({ code: "lease_lost" });
    expect(runs).toBe(1);
  });

  it("does not let a renewal make a running settlement fail", async () => {
    const adapter = memoryAdapter();
    const { store, run } = await withClaim(adapter);
    const write = adapter.write.bind(adapter);
    // The renewal has read the dispatch, and writes it after the settlement could have read it.
    adapter.write = async (changes, tx) => {
      adapter.write = write;
      await new Promise(setImmediate);
      return write(changes, tx);
    };
    await store.transaction(async (tx) => {
      const renewal = store.renew(run, 10_000);
      expect(await store.settle(tx, { ...run, state: "done" })).toBe(true);
      expect(await Promise.all([renewal, store.renew(run, 10_000)])).toEqual([true, true]);
    });
    expect((await store.counts()).oldestUndoneAt).toBeUndefined();
  });

  it("rejects with store_busy when others change the same records for busyTimeoutMs", async () => {
    const adapter = { ...memoryAdapter(), write: async () => false };
    const store = storeOver(adapter, { busyTimeoutMs: 20 });
    const saving = store.transaction((tx) => store.save(tx, { created: [payment("c1")] }));
    await expect(saving).rejects.toMatchObject({ code: "store_busy" });
  });

  it("writes nothing after a save was rejected, also where the error is swallowed", async () => {
    const store = storeOver(memoryAdapter());
    const event = { id: "e1", type: "payment.overdue", recordedAt, payload: {} } as const;
    await store.transaction((tx) => store.save(tx, { events: [event] }));
    const swallowing = store.transaction(async (tx) => {
      await store.save(tx, { created: [payment("c1")] });
      const clash = store.transaction((inner) => store.save(inner, { events: [event] }));
      await expect(clash).rejects.toMatchObject({ code: "store_conflict" });
      await store.lock(tx, { clientIds: ["c1"] });
      await expect(store.save(tx, { updated: [payment("unknown")] })).rejects.toMatchObject({
        code: "store_conflict",
      });
    });
    await expect(swallowing).rejects.toMatchObject({ code: "transaction_poisoned" });
    expect(await store.find("c1")).toBeUndefined();
  });

  it.each([
    ["slashes", "a/b", "a%2Fb"],
    ["spaces", "a b", "a  b"],
    ["emoji", "😀", "😁"],
    ["half surrogates", "\ud800", "\ud801"],
    ["300 characters", "x".repeat(300), `${"x".repeat(299)}y`],
  ])("keeps ids with %s apart, under keys of printable ASCII", async (_, first, second) => {
    const adapter = memoryAdapter();
    const store = storeOver(adapter);
    const created = [payment(first, `r-${first}`), payment(second, `r-${second}`)];
    await store.transaction((tx) => store.save(tx, { created }));
    expect([(await store.find(first))?.clientId, (await store.find(second))?.clientId]).toEqual([
      first,
      second,
    ]);
    const records = await adapter.scan({ from: "!", to: "~~~", limit: 1000, reverse: false });
    expect(records.length).toBeGreaterThan(4);
    expect(records.filter(({ key }) => !/^[!-~]{1,500}$/.test(key))).toEqual([]);
  });
});
