import { type BatchAdapter, type NoticeMap, storeOver, type StoredRecord, TillkitError } from "tillkit";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { memoryAdapter } from "./memory-adapter.js";

afterEach(closeAll);

/** A database that refuses each write of the application with this error. Resolves when its dispatch is dead. */
async function deadBy(refusal: Error) {
  const records = new Map<string, StoredRecord>();
  const memory = memoryAdapter(records);
  const adapter: BatchAdapter<string> = {
    durable: false,
    read: (keys) => memory.read(keys),
    scan: (range) => memory.scan(range),
    write: (changes, items) =>
      items.length > 0 ? Promise.reject(refusal) : memory.write(changes, { id: 0 }),
  };
  const store = storeOver(adapter);
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
  const dispatch = { firstDelayMs: 1, pollMs: 5, maxFailures: 3 };
  const payments = testKit({ store, spool: false, dispatch });
  const during: string[] = [];
  payments.on("store.unavailable", (notice) => void during.push(notice.during));
  let runs = 0;
  payments.onPaymentCompleted(async (_, { tx }) => {
    runs += 1;
    tx.add("the order is paid");
  });
  const dead = new Promise<NoticeMap["dispatch.dead"]>((resolve) => payments.on("dispatch.dead", resolve));
  await payments.start({ keepAlive: false });
  await payments.receiveWebhook(signed(completedBody()));
  return { ...(await dead), runs, during };
}

describe("a write of the application that the database always refuses", () => {
  it("is not repeated for ever: after five losses in a row its runs have failed, and its dispatch is dead", async () => {
    const { error, runs, during } = await deadBy(new Error("no such column"));
    expect(error).toContain("no such column");
    expect(runs).toBe(5 + 3);
    expect(during).toEqual(Array<string>(5).fill("handler"));
  });

  it("has failed with its first run where the adapter rejects with store_conflict", async () => {
    const { error, runs, during } = await deadBy(new TillkitError("store_conflict", "the order is taken"));
    expect(error).toContain("the order is taken");
    expect({ runs, during }).toEqual({ runs: 3, during: [] });
  });
});
