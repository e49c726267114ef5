import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  MemoryStore,
  type MemoryTx,
  type NoticeMap,
  type RecordChange,
  storeOver,
  type StoredRecord,
} from "tillkit";
import { closeAll, testKit } from "../../support/kit.js";
import { until } from "../spool/fixtures.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { memoryAdapter } from "../../store/over/memory-adapter.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tillkit-refused-"));
});
afterEach(async () => {
  await closeAll();
  rmSync(folder, { recursive: true, force: true });
});

const ids = ["c-1", "c-refused", "c-2", "c-3"];

/** A shop with pending payments. Its database can be away, and never takes a webhook of the payment "c-refused". */
async function shopOver(records = new Map<string, StoredRecord>()) {
  const database = { isAway: false };
  const memory = memoryAdapter(records);
  const isRefused = ({ key, value }: RecordChange) =>
    key.startsWith("webhook") && value?.includes("c-refused");
  const store = storeOver({
    ...memory,
    write(changes, items) {
      if (database.isAway) return Promise.reject(new Error("connect ECONNREFUSED"));
      if (changes.some(isRefused)) return Promise.reject(new Error("Incorrect string value"));
      return memory.write(changes, items);
    },
  });
  const created = ids.map((clientId) =>
    pendingPayment({ clientId, reference: `order-of-${clientId}`, serviceId: `s-${clientId}` }),
  );
  await store.transaction((tx) => store.save(tx, { created }));
  const payments = testKit({ store, spool: { directory: path.join(folder, "spool") } });
  const setAside: NoticeMap["webhook.set_aside"][] = [];
  payments.on("webhook.set_aside", (notice) => void setAside.push(notice));
  await payments.start({ keepAlive: false });
  const post = (clientId: string) =>
    payments.receiveWebhook(signed(completedBody({ clientId, id: `s-${clientId}` })));
  const stateOf = async (clientId: string) => (await payments.find(clientId))?.state;
  return { payments, database, setAside, post, stateOf };
}

describe("a spooled webhook that the database of a storeOver always refuses", () => {
  it("delays none of those behind it, and is set aside once the database has taken others", async () => {
    const { payments, database, setAside, post, stateOf } = await shopOver();
    database.isAway = true;
    for (const id of ids) expect(await post(id)).toMatchObject({ outcome: "spooled" });
    database.isAway = false;
    await until(async () => (await stateOf("c-2")) === "completed" && (await stateOf("c-3")) === "completed");
    expect(await payments.health()).toMatchObject({
      status: "degraded",
      reasons: [{ code: "spool_waiting" }],
      spool: { setAside: 0 },
    });
    let others = 0;
    await until(async () => {
      expect(await post(`c-${(others += 1)}-of-nobody`)).toMatchObject({ outcome: "unmatched" });
      return setAside.length > 0;
    });
    expect(setAside).toMatchObject([{ reason: expect.stringContaining("Incorrect string value") as string }]);
    await until(async () => (await payments.health()).spool?.records === 0);
    expect(await payments.health()).toMatchObject({
      reasons: [{ code: "spool_set_aside" }],
      spool: { setAside: 1 },
    });
    expect(await stateOf("c-refused")).toBe("pending");
  });
});

it("many spooled webhooks that the database refuses are set aside one after the other, each after three tries", async () => {
  const store = new MemoryStore();
  const record = jest.spyOn(store, "record").mockRejectedValue(new Error("The database is away."));
  const payments = testKit<never, MemoryTx>({
    store,
    spool: { directory: path.join(folder, "spool") },
    dispatch: { pollMs: 5 },
  });
  const count = 6;
  for (let number = 1; number <= count; number++)
    await payments.receiveWebhook(signed(completedBody({ clientId: `c-${number}`, id: `s-${number}` })));
  record.mockClear();
  const setAside: unknown[] = [];
  payments.on("webhook.set_aside", (notice) => void setAside.push(notice));
  await payments.start({ keepAlive: false });
  await until(async () => setAside.length === count && (await payments.health()).spool?.records === 0);
  // In each drain all of them once in one transaction, then one by one up to the first that is not set aside.
  expect(record.mock.calls.length).toBeLessThan(3 * count * (count + 1));
});
