import { storeOver } from "tillkit";
import { at, ledger, payment, webhook } from "../../../../src/store/exam/checks/fixtures.js";
import { claimed, expectRolledBack, leased, runOf, saved } from "../../../../src/store/exam/checks/steps.js";
import { pendingPayment } from "../../../support/webhooks.js";
import { memoryAdapter } from "../memory-adapter.js";

afterEach(() => jest.restoreAllMocks());

it("what is counted may have more entries than one page of an index", async () => {
  const store = storeOver(memoryAdapter());
  const webhooks = Array.from({ length: 1001 }, (_, n) =>
    webhook(`k-${n}`, { clientId: `c-${n}`, outcome: "unmatched" }),
  );
  for (let at = 0; at < webhooks.length; at += 10)
    await saved(store, { webhooks: webhooks.slice(at, at + 10) });
  expect(await store.counts()).toMatchObject({ parked: 1001 });
});

it("a list may need more than one page of an index, in both orders", async () => {
  const store = storeOver(memoryAdapter());
  const ids = Array.from({ length: 130 }, (_, n) => `p${100 + n}`);
  const reported = { status: "sent", at: at(1), verified: [], providerId: "MVK" };
  for (const [n, id] of ids.entries())
    await saved(store, { created: [payment(id, n % 2 === 0 ? { reported } : {})] });
  const wanted = ids.filter((_, n) => n % 2 === 0);
  const list = async (newestFirst: boolean) =>
    (await store.list({ providerId: "MVK", newestFirst, limit: 100 })).map(({ clientId }) => clientId);
  expect(await list(false)).toEqual(wanted);
  expect(await list(true)).toEqual(wanted.toReversed());
});

describe("a store over an adapter", () => {
  it("makes the tables of its adapter", async () => {
    const migrate = jest.fn(async () => {});
    await storeOver({ ...memoryAdapter(), migrate }).migrate();
    expect(migrate).toHaveBeenCalledTimes(1);
  });

  it("closes its adapter once, however often it is closed, and refuses later calls", async () => {
    const close = jest.fn(async () => {});
    const store = storeOver({ ...memoryAdapter(), close });
    await store.close();
    await store.close();
    expect(close).toHaveBeenCalledTimes(1);
    await expect(store.find("c-1")).rejects.toMatchObject({ code: "store_closed" });
    await expect(saved(store, { created: [pendingPayment()] })).rejects.toMatchObject({
      code: "store_closed",
    });
  });

  it.each([true, false])("is as durable as its adapter: %s", (durable) => {
    expect(storeOver({ ...memoryAdapter(), durable }).durable).toBe(durable);
  });

  it("knows that a lease was lost, also after the transaction that would have settled it was rolled back", async () => {
    let now = 1_714_557_600_000;
    const store = storeOver({ ...memoryAdapter(), now: async () => now });
    const run = runOf(await leased(store, 1000));
    const settling = store.transaction(async (tx) => {
      expect(await store.settle(tx, { ...run, state: "done" })).toBe(true);
      throw new Error("no");
    });
    await expectRolledBack(settling);
    now += 1000;
    expect(await claimed(store, [ledger])).toMatchObject([{ fence: run.fence + 1 }]);
    expect(await store.renew(run, 1000)).toBe(false);
  });

  it("repeats a transaction for five seconds after its first conflict", async () => {
    let time = 0;
    jest.spyOn(performance, "now").mockImplementation(() => time);
    jest.spyOn(Math, "random").mockReturnValue(0);
    const store = storeOver({
      ...memoryAdapter(),
      async write() {
        time += 1000;
        return false;
      },
    });
    await expect(saved(store, { created: [pendingPayment()] })).rejects.toMatchObject({
      code: "store_busy",
      message: expect.stringContaining("for 5000 ms: `write` returned false 6 times"),
    });
  });

  it("tells the time of the leases' clock only where the adapter has one", async () => {
    const now = async () => Date.parse("2026-11-20T10:00:00.000Z");
    expect(await storeOver(memoryAdapter()).counts()).not.toHaveProperty("clock");
    expect(await storeOver({ ...memoryAdapter(), now }).counts()).toMatchObject({
      clock: "2026-11-20T10:00:00.000Z",
    });
  });

  it("records no webhook whose receiptId is stored with another eventKey, and decides again", async () => {
    const store = storeOver(memoryAdapter());
    const record = (eventKey: string) =>
      store.record({}, () => ({ webhooks: [webhook(eventKey, { receiptId: "r1" })] }));
    expect([await record("k1"), await record("k2")]).toEqual([true, false]);
    expect(await store.webhooks({ limit: 10 })).toMatchObject([{ eventKey: "k1" }]);
  });
});
