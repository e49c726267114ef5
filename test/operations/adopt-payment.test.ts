import { MemoryStore, TillkitError } from "tillkit";
import { onEachDatabase, openStore } from "../promises/processes/databases.js";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";
import { shown, showingService } from "./lookup/service.js";
import { shopBench } from "./shop-bench.js";

const adoption = {
  clientId: "legacy-1",
  serviceId: "64f0c0ffee64f0c0ffee64f0",
  reference: "order-1",
  total: { value: "1475", currency: "KMF" },
};
const paid = () => signed(completedBody({ clientId: "legacy-1" }));

onEachDatabase("the adoption of payments", (kind) => {
  const bench = shopBench(kind);
  const { shop, recorded } = bench;

  /** Returns a shop with lookups, at a service that shows the adopted payment as completed. */
  async function lookingUp() {
    const service = await showingService();
    service.payments.set(adoption.serviceId, shown(adoption.serviceId));
    let now = new Date("2026-11-20T12:00:00.000Z");
    const payments = shop({
      service: { baseUrl: service.url, accessToken: "a-token" },
      lookup: true,
      now: () => now,
    });
    const nextSweep = () => {
      now = new Date(now.getTime() + 1);
      return payments.sweep();
    };
    return { payments, nextSweep, service };
  }

  it("stores a payment, and takes its webhooks from then on", async () => {
    const payments = shop();
    const { payment, adopted } = await payments.adopt(adoption);
    expect(adopted).toBe(true);
    expect(payment).toMatchObject({ ...adoption, state: "pending", open: false });
    expect((await payments.receiveWebhook(paid())).outcome).toBe("applied");
    expect(await payments.find("legacy-1")).toMatchObject({ state: "completed" });
  });

  it("takes the values as they were checked, whatever the caller changes later", async () => {
    const given = { ...adoption, total: { ...adoption.total } };
    const adopting = shop().adopt(given);
    given.total.value = "1";
    expect((await adopting).payment).toMatchObject(adoption);
  });

  it("makes the next sweep ask the service, because the webhooks may have been sent long ago", async () => {
    const { payments, nextSweep, service } = await lookingUp();
    await payments.adopt(adoption);
    expect(await nextSweep()).toMatchObject({ lookups: 1 });
    expect(await payments.find("legacy-1")).toMatchObject({ state: "completed" });
    await service.close();
  });

  it("makes the next sweep ask about an open payment that gets its service id, and about no completed one", async () => {
    const { payments, nextSweep, service } = await lookingUp();
    const { serviceId: _, ...unbound } = pendingPayment({ open: false });
    const done = { reference: "order-2", state: "completed", completedAt: unbound.createdAt } as const;
    await bench.seed(
      { ...unbound, clientId: "legacy-1", state: "uncertain", lookups: 9 },
      { ...unbound, clientId: "legacy-2", ...done },
    );
    await payments.adopt(adoption);
    await payments.adopt({ ...adoption, clientId: "legacy-2", reference: "order-2", serviceId: "other" });
    expect(await nextSweep()).toMatchObject({ lookups: 1 });
    expect(await payments.find("legacy-1")).toMatchObject({ state: "completed" });
    await service.close();
  });

  it("changes nothing when it is done again, from any number of processes", async () => {
    const shops = [shop(), shop(), shop()];
    const answers = await Promise.all(
      [...shops, ...shops].map((payments) => payments.adopt({ ...adoption, total: { ...adoption.total } })),
    );
    expect(answers.filter(({ adopted }) => adopted)).toHaveLength(1);
    const again = await shops[0]!.adopt({ ...adoption, total: { value: "1475.00", currency: "KMF" } });
    expect(again).toMatchObject({ adopted: false, payment: { total: { value: "1475" } } });
  });

  it("says with dryRun that a webhook of another prefix was pruned, and decides nothing by it", async () => {
    const payments = shop({ clientIdPrefix: "shop-" });
    await payments.receiveWebhook(paid());
    await payments.prune({ before: new Date("2999-01-01") });
    const { webhooks } = await payments.adopt({ ...adoption, dryRun: true });
    expect(webhooks).toEqual([
      { outcome: "foreign", reason: expect.stringContaining("its bytes were pruned") as string },
    ]);
  });

  it("says with dryRun what its webhooks become", async () => {
    const payments = shop();
    await payments.receiveWebhook(paid());
    expect(await payments.adopt({ ...adoption, dryRun: true })).toMatchObject({
      adopted: true,
      payment: { state: "completed" },
      webhooks: [{ outcome: "applied" }],
    });
    const wrong = { ...adoption, total: { value: "1745", currency: "KMF" }, dryRun: true };
    expect(await payments.adopt(wrong)).toMatchObject({
      payment: { state: "pending" },
      webhooks: [{ outcome: "mismatch", reason: "total.value: expected 1745, got 1475" }],
    });
    expect(await payments.find("legacy-1")).toBeUndefined();
  });

  it("says with dryRun that a webhook names the service id of another payment", async () => {
    const payments = shop();
    await bench.seed(pendingPayment({ reference: "order-9", serviceId: adoption.serviceId }));
    await payments.receiveWebhook(paid());
    const unbound = { ...adoption, serviceId: undefined };
    const { webhooks } = await payments.adopt({ ...unbound, dryRun: true });
    expect(webhooks).toMatchObject([
      { outcome: "mismatch", reason: expect.stringMatching(/^id: /) as string },
    ]);
    expect((await payments.adopt(unbound)).payment).toMatchObject({ state: "pending" });
  });

  it("matches parked and foreign webhooks immediately", async () => {
    const payments = shop({ clientIdPrefix: "north-" });
    expect((await payments.receiveWebhook(paid())).outcome).toBe("foreign");
    const { payment } = await payments.adopt(adoption);
    expect(payment).toMatchObject({ state: "completed" });
    expect(await recorded()).toEqual(["payment.completed"]);

    const parked = { ...adoption, clientId: "north-2", serviceId: undefined, reference: "order-2" };
    const early = signed(completedBody({ clientId: "north-2", id: "s-2" }));
    expect((await payments.receiveWebhook(early)).outcome).toBe("unmatched");
    expect((await payments.adopt(parked)).payment).toMatchObject({ state: "completed", serviceId: "s-2" });
    expect(await bench.place.store.counts()).toMatchObject({ parked: 0 });
  });

  it("matches what waits in the same commit, so that it counts also where the answer of the commit is lost", async () => {
    const store = openStore(bench.place.address);
    const payments = shop({ store, clientIdPrefix: "north-" });
    expect((await payments.receiveWebhook(paid())).outcome).toBe("foreign");
    const transaction = store.transaction.bind(store);
    store.transaction = async (work) => {
      await transaction(work);
      throw new TillkitError("store_unavailable", "The answer of the commit was lost.");
    };
    await expect(payments.adopt(adoption)).rejects.toMatchObject({ code: "store_unavailable" });
    expect(await payments.find("legacy-1")).toMatchObject({ state: "completed" });
    expect(await recorded()).toEqual(["payment.completed"]);
  });

  it("matches what was parked also where a crash ended an earlier adoption before that", async () => {
    const payments = shop();
    expect((await payments.receiveWebhook(paid())).outcome).toBe("unmatched");
    await bench.seed(pendingPayment({ ...adoption, open: false }));
    expect(await payments.adopt(adoption)).toMatchObject({ adopted: false, payment: { state: "completed" } });
  });

  it("loses no race with the webhook", async () => {
    const payments = shop();
    const [, receipt] = await Promise.all([payments.adopt(adoption), payments.receiveWebhook(paid())]);
    expect(["applied", "unmatched"]).toContain(receipt.outcome);
    // The second side looks for the first after its commit.
    let found = await payments.find("legacy-1");
    for (let tries = 0; found?.state !== "completed" && tries < 200; tries++) {
      await new Promise((resolve) => setImmediate(resolve));
      found = await payments.find("legacy-1");
    }
    expect(found).toMatchObject({ state: "completed" });
    expect(await recorded()).toEqual(["payment.completed"]);
  });

  it("sets a service id that was unknown, and no second one", async () => {
    const payments = shop();
    await payments.adopt({ ...adoption, serviceId: undefined });
    expect(await payments.adopt(adoption)).toMatchObject({
      adopted: false,
      payment: { serviceId: adoption.serviceId },
    });
    await expect(payments.adopt({ ...adoption, serviceId: "other" })).rejects.toMatchObject({
      code: "adoption_conflict",
    });
    await expect(
      payments.adopt({ ...adoption, clientId: "legacy-2", reference: "order-2" }),
    ).rejects.toMatchObject({ code: "service_id_taken" });
    expect(await payments.find("legacy-2")).toBeUndefined();
  });

  it("raises the second payment of an order as paid twice", async () => {
    const payments = shop();
    await bench.seed(pendingPayment({ serviceId: "s-0" }));
    await payments.receiveWebhook(signed(completedBody({ id: "s-0" })));
    await payments.adopt(adoption);
    await payments.receiveWebhook(paid());
    expect(await recorded()).toEqual(["payment.completed", "payment.paid_twice"]);
  });
});

describe("an adoption", () => {
  afterEach(closeAll);

  it.each([
    ["adoption_conflict", { reference: "order-2" }],
    ["adoption_conflict", { total: { value: "1476", currency: "KMF" } }],
    ["adoption_conflict", { total: { value: "1475", currency: "EUR" } }],
    ["service_id_invalid", { serviceId: "" }],
    ["service_id_invalid", { serviceId: 7 as never }],
    ["client_id_invalid", { clientId: "a b" }],
    ["client_id_invalid", { clientId: undefined as never }],
    ["amount_invalid", { total: { value: "0", currency: "KMF" } }],
    ["reference_invalid", { reference: "" }],
    ["reference_invalid", { reference: "." }],
    ["client_id_invalid", { clientId: ".." }],
  ])("is refused with %s: %j", async (code, facts) => {
    const payments = testKit();
    await payments.adopt(adoption);
    await expect(payments.adopt({ ...adoption, ...facts })).rejects.toMatchObject({ code });
    expect(await payments.find("legacy-1")).toMatchObject(adoption);
  });
});

describe("an adoption in memory", () => {
  afterEach(closeAll);
  const { serviceId: _, ...unbound } = adoption;
  const times = (from: Date) => () => (from = new Date(from.getTime() + 1000));

  it("keeps the metadata, and changes nothing of the stored payment when it is done again", async () => {
    const metadata = { desk: "4" };
    const payments = testKit({ now: times(new Date("2026-11-20T12:00:00.000Z")) });
    const { payment } = await payments.adopt({ ...unbound, metadata });
    expect(payment).toMatchObject({ metadata, state: "pending", open: false });
    expect(payment).not.toHaveProperty("serviceId");
    expect((await payments.adopt(unbound)).payment).toEqual(payment);
    const bound = await payments.adopt(adoption);
    expect(bound.payment.updatedAt).not.toBe(payment.updatedAt);
    for (const again of [adoption, unbound])
      expect(await payments.adopt(again)).toEqual({ adopted: false, payment: bound.payment });
    expect(bound.payment).not.toHaveProperty("metadata.other");
    const second = await payments.adopt({ ...unbound, clientId: "legacy-2" });
    expect(second.payment).not.toHaveProperty("metadata");
  });

  it("takes several payments of one order, whose service ids may all be unknown at first", async () => {
    const payments = testKit();
    const second = { ...unbound, clientId: "legacy-2" };
    for (const adopted of [true, false])
      for (const each of [unbound, second]) expect(await payments.adopt(each)).toMatchObject({ adopted });
    const person = { by: "Amina", reason: "of the list" };
    for (let calls = 0; calls < 2; calls++)
      expect(await payments.adopt({ ...second, serviceId: "s-2", ...person })).toMatchObject({
        adopted: false,
        payment: { clientId: "legacy-2", serviceId: "s-2" },
      });
    // The history has who added the id.
    const { entries } = await payments.history("legacy-2");
    const said = entries.filter(({ kind }) => kind === "resolution").map(({ text }) => text);
    expect(said).toEqual(["adopted by Amina: of the list"]);
  });

  it("by a person is in the history with the state that the waiting webhooks gave to the payment", async () => {
    const payments = testKit();
    await payments.receiveWebhook(paid());
    const person = { by: "Amina", reason: "of the list" };
    const { payment } = await payments.adopt({ ...unbound, ...person });
    expect(payment).toMatchObject({ state: "completed" });
    const { resolutions } = await payments.store.history(unbound.clientId);
    expect(resolutions).toMatchObject([{ action: "adopted", after: "completed", ...person }]);
    expect(resolutions[0]).not.toHaveProperty("before");
  });

  it("is refused with everything that differs from the stored payment", async () => {
    const payments = testKit();
    await payments.adopt(adoption);
    const other = { ...adoption, reference: "order-2", total: { value: "1", currency: "KMF" } };
    await expect(payments.adopt(other)).rejects.toMatchObject({
      code: "adoption_conflict",
      message: "The store has legacy-1 with the reference order-1 and the total 1475 KMF.",
    });
  });

  it.each(["a\nb", "a\n", "\na", "x".repeat(129), "a\ud800"])(
    "refuses the service id %j",
    async (serviceId) => {
      await expect(testKit().adopt({ ...adoption, serviceId })).rejects.toMatchObject({
        code: "service_id_invalid",
      });
    },
  );

  it("takes a service id of 128 characters", async () => {
    const serviceId = "é".repeat(128);
    expect((await testKit().adopt({ ...adoption, serviceId })).payment).toMatchObject({ serviceId });
  });

  it("looks again where another process stored the payment after the lock", async () => {
    const store = new MemoryStore();
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment({ clientId: "legacy-1" })] }));
    const lock = jest.spyOn(store, "lock").mockResolvedValueOnce({ payments: [], eventKeys: [] });
    const adopted = await testKit({ store }).adopt(unbound);
    expect(adopted).toMatchObject({ adopted: false, payment: { clientId: "legacy-1", open: true } });
    expect(lock).toHaveBeenCalledTimes(2);
  });

  it.each([
    ["store_conflict", 5],
    ["store_unavailable", 1],
  ] as const)("that always ends with %s is tried %s times", async (code, count) => {
    const store = new MemoryStore();
    const payments = testKit({ store });
    const failed = () => Promise.reject(new TillkitError(code, "A test."));
    const transaction = jest.spyOn(store, "transaction").mockImplementation(failed);
    await expect(payments.adopt(adoption)).rejects.toMatchObject({ code });
    expect(transaction).toHaveBeenCalledTimes(count);
  });

  it("succeeds after a conflict with another process", async () => {
    const store = new MemoryStore();
    const conflict = new TillkitError("store_conflict", "Another transaction was faster.");
    jest.spyOn(store, "save").mockRejectedValueOnce(conflict);
    expect(await testKit({ store }).adopt(adoption)).toMatchObject({ adopted: true });
  });

  it("wakes the handlers for what it matched, and does not leave it to the next poll", async () => {
    const store = new MemoryStore();
    const polled = new Promise<void>((resolve) => {
      const claim = store.claim.bind(store);
      store.claim = (options) => claim(options).finally(resolve);
    });
    const north = testKit({ store, clientIdPrefix: "north-", dispatch: false });
    expect((await north.receiveWebhook(paid())).outcome).toBe("foreign");
    const payments = testKit({ store, dispatch: { pollMs: 3_600_000 } });
    const handled = new Promise<string>((resolve) =>
      payments.onPaymentCompleted(({ payment }) => resolve(payment.clientId)),
    );
    await payments.start({ keepAlive: false });
    await polled;
    await payments.adopt(adoption);
    expect(await handled).toBe("legacy-1");
  });
});
