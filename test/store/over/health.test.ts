import { type BatchAdapter, storeOver, type StoredRecord } from "tillkit";
import { closeAll, testKit } from "../../support/kit.js";
import { signed } from "../../support/webhooks.js";
import { memoryAdapter } from "./memory-adapter.js";

afterEach(closeAll);

const probeKey = expect.stringMatching(/^probes\/\d{1,2}$/);
const full = (): Promise<never> => Promise.reject(new Error("The disk is full."));

/** Returns a database without transactions. */
function batchAdapter(records = new Map<string, StoredRecord>()): BatchAdapter<unknown> {
  const memory = memoryAdapter(records);
  return {
    durable: false,
    read: (keys) => memory.read(keys),
    scan: (range) => memory.scan(range),
    write: (changes) => memory.write(changes, { id: 0 }),
  };
}

describe("the health of a kit with a store over an adapter", () => {
  it.each([
    [
      "with transactions",
      () => testKit({ store: storeOver({ ...memoryAdapter(), write: full }), spool: false }),
    ],
    [
      "without transactions",
      () => testKit({ store: storeOver({ ...batchAdapter(), write: full }), spool: false }),
    ],
  ])("is down where a database %s refuses every write", async (_, open) => {
    const health = await open().health();
    expect(health).toMatchObject({ status: "down", reasons: [{ code: "store_not_writable" }] });
  });

  it("is ok for ten kits that ask at the same time and write the same record", async () => {
    const records = new Map<string, StoredRecord>();
    const adapter = batchAdapter(records);
    const write = jest.spyOn(adapter, "write");
    const kits = Array.from({ length: 10 }, () => testKit({ store: storeOver(adapter) }));
    const healths = await Promise.all(kits.map((kit) => kit.health()));
    expect(healths.map(({ status }) => status)).toEqual(kits.map(() => "ok"));
    expect(write.mock.calls.length).toBeGreaterThan(10);
    expect([...records.values()]).toEqual([{ key: probeKey, version: 10, value: "10" }]);
  });

  it("writes the record of a probe in no transaction that raises a stored webhook", async () => {
    const records = new Map<string, StoredRecord>();
    const store = storeOver(memoryAdapter(records));
    const at = "2026-11-20T10:00:00.000Z";
    const webhook = { receiptId: "r1", eventKey: "k1", rawBody: Buffer.from("{}"), receivedAt: at };
    const webhooks = [{ ...webhook, outcome: "unmatched", covers: "body", decidedAt: at }] as const;
    await store.transaction((tx) => store.save(tx, { webhooks }));
    await testKit({ store }).health();
    const isProbe = ({ key }: StoredRecord) => key.startsWith("probes/");
    const probed = [...records.values()].filter(isProbe);
    await store.transaction((tx) => store.save(tx, { raised: ["r1"] }));
    expect(probed).toEqual([{ key: probeKey, version: 1, value: "1" }]);
    expect([...records.values()].filter(isProbe)).toEqual(probed);
  });

  it("names the event for which no process has a handler any more, although its name has one", async () => {
    const records = new Map<string, StoredRecord>();
    const open = () => testKit({ store: storeOver(memoryAdapter(records)), dispatch: false });
    const before = open();
    before.onAny(() => undefined, { name: "books" });
    await before.start({ keepAlive: false });
    await before.receiveWebhook(signed("{}"));
    await before.close();
    const later = open();
    later.onPaymentCompleted(() => undefined, { name: "books" });
    const { waiting } = (await later.health()).counts!;
    expect(waiting).toEqual([{ handler: "books", event: "webhook.inadmissible", since: expect.any(String) }]);
  });

  it.each(["dead", "waiting"])("reads at most 10,000 entries of %s for the counts", async (index) => {
    const entries = Array.from({ length: 10_500 }, (_, n) => {
      const key = `${index}/books/${String(n).padStart(6, "0")}`;
      return [key, { key, version: 1, value: "{}" }] as const;
    });
    const adapter = memoryAdapter(new Map(entries));
    const store = storeOver(adapter);
    let read = 0;
    jest.spyOn(adapter, "scan").mockImplementation(async (range) => {
      const found = entries.filter(([key]) => key >= range.from && key < range.to).slice(0, range.limit);
      read += found.length;
      return found.map(([, record]) => record);
    });
    const { dead, parked } = await store.counts();
    expect([dead + parked, read]).toEqual([10_000, 10_000]);
  });
});
