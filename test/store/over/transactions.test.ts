import { storeOver, type RecordChange, type StoredRecord, type WebhookRecord } from "tillkit";
import { pendingPayment } from "../../support/webhooks.js";
import { memoryAdapter } from "./memory-adapter.js";

/** Records in memory, and the number of reads of one transaction that ran at the same time. */
function watchedAdapter() {
  const records = new Map<string, StoredRecord>();
  const watched = { overlapping: 0, afterScan: async () => {} };
  const running = new Map<object, number>();
  const read = async <T>(tx: object | undefined, result: T): Promise<T> => {
    if (!tx) return result;
    running.set(tx, (running.get(tx) ?? 0) + 1);
    watched.overlapping = Math.max(watched.overlapping, running.get(tx)!);
    await new Promise(setImmediate);
    running.set(tx, running.get(tx)! - 1);
    return result;
  };
  const inRange = (from: string, to: string) =>
    [...records.values()].filter(({ key }) => key >= from && key < to);
  const apply = ({ key, version, value }: RecordChange) => {
    if (value === null) records.delete(key);
    else records.set(key, { key, value, version: version + 1 });
  };
  const adapter = {
    durable: false,
    read: (keys: readonly string[], tx?: object) =>
      read(
        tx,
        keys.flatMap((key) => records.get(key) ?? []),
      ),
    scan: async ({ from, to }: { from: string; to: string }, tx?: object) => {
      const found = await read(tx, inRange(from, to));
      if (tx) await watched.afterScan();
      return found;
    },
    transaction: <T>(run: (tx: object) => Promise<T>) => run({}),
    write: async (changes: readonly RecordChange[]) => {
      for (const change of changes) apply(change);
      return true;
    },
  };
  return { adapter, watched };
}

describe("a store over a database with transactions", () => {
  afterEach(() => jest.restoreAllMocks());

  it("runs one statement of a transaction at a time, because most drivers cannot run more", async () => {
    const { adapter, watched } = watchedAdapter();
    const store = storeOver(adapter);
    await store.transaction(async (tx) => {
      await store.save(tx, { created: [pendingPayment()] });
      await store.rematchable(tx, ["c-1", "c-2", "c-3"]);
    });
    expect(watched.overlapping).toBe(1);
  });

  it("runs transactions again one at a time after a conflict, so that each of them ends", async () => {
    jest.spyOn(Math, "random").mockReturnValue(0);
    const { adapter } = watchedAdapter();
    let conflicts = 3;
    const store = storeOver({
      ...adapter,
      write: async (changes: readonly RecordChange[]) => --conflicts < 0 && adapter.write(changes),
    });
    const running = { now: 0, most: 0 };
    const create = (clientId: string) => {
      let tries = 0;
      return store.transaction(async (tx) => {
        running.now += (tries += 1) > 1 ? 1 : 0;
        running.most = Math.max(running.most, running.now);
        // The pauses of the others have ended when this timer fires.
        if (tries > 1) await new Promise((resolve) => setTimeout(resolve, 5));
        running.now -= tries > 1 ? 1 : 0;
        await store.save(tx, {
          created: [pendingPayment({ clientId, reference: clientId, serviceId: clientId })],
        });
      });
    };
    await Promise.all(["c-1", "c-2", "c-3"].map(create));
    expect(running.most).toBe(1);
  });

  it("does not return a stray webhook that another transaction raises meanwhile", async () => {
    const { adapter, watched } = watchedAdapter();
    const store = storeOver(adapter);
    const webhook = {
      eventKey: "k1",
      receiptId: "r1",
      rawBody: Buffer.from("{}"),
      outcome: "unmatched",
    } as const;
    const at = "2026-11-20T10:00:05.000Z";
    await store.transaction((tx) =>
      store.save(tx, {
        webhooks: [{ ...webhook, receivedAt: at, decidedAt: at } as unknown as WebhookRecord],
      }),
    );
    watched.afterScan = async () => {
      watched.afterScan = async () => {};
      await store.transaction((tx) => store.save(tx, { raised: ["r1"] }));
    };
    const page = { before: "2026-11-21T10:00:05.000Z", limit: 10 };
    expect(await store.transaction((tx) => store.stray(tx, page))).toEqual([]);
  });

  it("changes a payment in the transaction that creates it", async () => {
    const store = storeOver(memoryAdapter(new Map()));
    const completed = pendingPayment({ state: "completed" });
    await store.transaction(async (tx) => {
      await store.save(tx, { created: [pendingPayment()] });
      await store.save(tx, { updated: [completed] });
    });
    expect(await store.list({ newestFirst: false, limit: 10 })).toEqual([completed]);
    expect(await store.list({ state: "pending", newestFirst: false, limit: 10 })).toEqual([]);
  });
});
