import { MemoryStore, type MemoryTx, type Payment } from "tillkit";
import { openCheckout } from "../../src/checkout/create-payment.js";
import { type CreatePaymentRequest } from "../../src/service/payment-service.js";
import { pendingPayment } from "../support/webhooks.js";

const total = { value: "1475", currency: "KMF" };
const orders = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ reference: `order-${index}`, total }));

/** A checkout over a store in memory. Its service answers immediately, with the id that the test gives to a payment. */
function checkoutOf({ idOf = (clientId: string) => `s-${clientId}` } = {}) {
  const store = new MemoryStore();
  const asked: string[] = [];
  const matched: (readonly string[])[] = [];
  let ids = 0;
  const create = openCheckout<MemoryTx>({
    store,
    service: {
      createPayment: async ({ clientId }: CreatePaymentRequest) => {
        asked.push(clientId);
        const serviceId = idOf(clientId);
        return { serviceId, checkoutUrl: `https://pay.invalid/${serviceId}`, status: "pending" };
      },
    },
    now: () => new Date("2026-11-20T10:00:00.000Z"),
    newId: () => `c-${++ids}`,
    ready: () => Promise.resolve(),
    maxGroup: 100,
    rematch: async (clientIds) => void matched.push(clientIds),
    options: {
      returnUrls: { success: "https://shop.example/success", cancel: "https://shop.example/cancel" },
      reuseForMs: 60_000,
      clientIdPrefix: undefined,
      firstLookupMs: 60_000,
      creationMs: 10_000,
    },
  });
  const stored = () => store.list({ newestFirst: false, limit: 100 });
  const seed = (...created: Payment[]) => store.transaction((tx) => store.save(tx, { created }));
  return { store, create, asked, matched, stored, seed };
}

/** Lets the first transactions of the store commit, and then fail as if their results were lost. */
function loseResults(store: MemoryStore, count: number): void {
  const transaction = store.transaction.bind(store);
  let left = count;
  jest.spyOn(store, "transaction").mockImplementation(async (run) => {
    const result = await transaction(run);
    if (left-- > 0) throw new Error("the connection was lost during the commit");
    return result;
  });
}

describe("creations of the same moment", () => {
  it("share the commit of their intents, that of their answers, and the look for earlier webhooks", async () => {
    const { store, create, asked, matched } = checkoutOf();
    const transactions = jest.spyOn(store, "transaction");
    const created = await Promise.all(orders(20).map(create));
    expect(transactions).toHaveBeenCalledTimes(2);
    expect(matched).toEqual([asked]);
    expect(created.map(({ clientId }) => clientId)).toEqual(asked);
  });

  it("are stored in the order of their references, so that two processes do not wait for each other", async () => {
    const { store, create } = checkoutOf();
    const saved: (string[] | undefined)[] = [];
    const save = store.save.bind(store);
    store.save = (tx, changes) => {
      if (changes.created) saved.push(changes.created.map(({ reference }) => reference));
      return save(tx, changes);
    };
    const created = await Promise.all(orders(3).toReversed().map(create));
    expect(saved).toEqual([["order-0", "order-1", "order-2"]]);
    expect(await store.find(created[0]!.clientId)).toMatchObject({ reference: "order-2" });
  });

  it("fail alone where their requests are refused", async () => {
    const { store, create, seed, asked } = checkoutOf();
    await seed(
      pendingPayment({ clientId: "paid", reference: "order-1", state: "completed", open: false }),
      pendingPayment({ clientId: "taken", serviceId: "s-2", reference: "order-other" }),
    );
    const transactions = jest.spyOn(store, "transaction");
    const [first, paid, taken, last] = await Promise.allSettled([
      create({ reference: "order-0", total }),
      create({ reference: "order-1", total }),
      create({ reference: "order-2", total, clientId: "taken" }),
      create({ reference: "order-3", total }),
    ]);
    expect([first.status, last.status]).toEqual(["fulfilled", "fulfilled"]);
    expect(paid).toMatchObject({ reason: { code: "already_paid" } });
    expect(taken).toMatchObject({ reason: { code: "client_id_taken" } });
    expect([asked.length, transactions.mock.calls.length]).toEqual([2, 2]);
  });

  it("for different amounts of one reference leave one open attempt, and mark the other one as replaced", async () => {
    const { create, stored, asked } = checkoutOf();
    const totals = [total, { value: "1500", currency: "KMF" }];
    const [first, second] = await Promise.all(
      totals.map((each) => create({ reference: "order-1", total: each })),
    );
    expect(asked).toEqual([first!.clientId, second!.clientId]);
    expect(await stored()).toMatchObject([
      { clientId: first!.clientId, open: false, replacedBy: second!.clientId, state: "pending" },
      { clientId: second!.clientId, open: true, total: totals[1] },
    ]);
  });

  it("under one clientId store one payment, and refuse the other one", async () => {
    const { create, asked } = checkoutOf();
    const results = await Promise.allSettled(
      orders(2).map((order) => create({ ...order, clientId: "shop:7" })),
    );
    expect(results).toMatchObject([
      { value: { clientId: "shop:7" } },
      { reason: { code: "client_id_taken" } },
    ]);
    expect(asked).toEqual(["shop:7"]);
  });

  it("that meet the attempt of another process are stored one by one, and return that attempt", async () => {
    const { store, create, seed, asked } = checkoutOf();
    const lock = store.lock.bind(store);
    const other = { clientId: "other", serviceId: "s-other", reference: "order-1", total };
    await seed(pendingPayment({ ...other, createdAt: "2026-11-20T10:00:00.000Z" }));
    store.lock = async (tx, keys) => {
      store.lock = lock;
      // Read before the other process had committed.
      return { ...(await lock(tx, keys)), payments: [] };
    };
    const created = await Promise.all(orders(3).map(create));
    expect(created.map(({ clientId, reused }) => [clientId, reused])).toEqual([
      [asked[0], false],
      ["other", true],
      [asked[1], false],
    ]);
  });

  it("under a clientId that another process takes meanwhile are refused, and not sent", async () => {
    const { store, create, seed, asked } = checkoutOf();
    await seed(pendingPayment({ clientId: "shop:7", reference: "order-other" }));
    const lock = store.lock.bind(store);
    store.lock = async (tx, keys) => {
      store.lock = lock;
      return { ...(await lock(tx, keys)), payments: [] };
    };
    const [order] = orders(1);
    await expect(create({ ...order!, clientId: "shop:7" })).rejects.toMatchObject({
      code: "client_id_taken",
    });
    expect(asked).toEqual([]);
  });

  it("whose commit has an unknown result are stored and sent once", async () => {
    const { store, create, stored, asked } = checkoutOf();
    loseResults(store, 1);
    const created = await Promise.all(orders(5).map(create));
    expect(asked).toEqual(created.map(({ clientId }) => clientId));
    expect((await stored()).map(({ clientId, state }) => [clientId, state])).toEqual(
      asked.map((clientId) => [clientId, "pending"]),
    );
  });

  it("that cannot be stored are not sent", async () => {
    const { store, create, asked } = checkoutOf();
    jest.spyOn(store, "save").mockRejectedValue(new Error("the disk is full"));
    const results = await Promise.allSettled(orders(3).map(create));
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(asked).toEqual([]);
  });
});

describe("answers of the same moment", () => {
  it("with one id bind the first payment, and leave the others uncertain", async () => {
    const { create, stored } = checkoutOf({ idOf: () => "s-1" });
    const results = await Promise.allSettled(orders(3).map(create));
    const failure = { reason: { code: "creation_response_invalid", certainty: "uncertain" } };
    expect(results).toMatchObject([{ status: "fulfilled" }, failure, failure]);
    expect(await stored()).toMatchObject([
      { serviceId: "s-1", state: "pending", open: true },
      { state: "uncertain", open: false },
      { state: "uncertain", open: false },
    ]);
  });

  it("whose commit has an unknown result are stored again", async () => {
    const { store, create, stored } = checkoutOf();
    let commits = 0;
    const record = store.record.bind(store);
    jest.spyOn(store, "record").mockImplementation(async (keys, decide) => {
      const isRecorded = await record(keys, decide);
      if (++commits === 1) throw new Error("the connection was lost during the commit");
      return isRecorded;
    });
    const created = await Promise.all(orders(3).map(create));
    expect(commits).toBe(4);
    expect((await stored()).map(({ checkoutUrl }) => checkoutUrl)).toEqual(
      created.map(({ checkoutUrl }) => checkoutUrl),
    );
  });
});
