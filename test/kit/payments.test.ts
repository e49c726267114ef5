import { fieldsSignature, MemoryStore, type MemoryTx, type Payments, type PaymentsOptions } from "tillkit";
import { makeReturnToken } from "../../src/checkout/return-token.js";
import { shown, showingService, type ShowingService } from "../operations/lookup/service.js";
import { closeAll, secret, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";
import { until } from "../webhook/spool/fixtures.js";
import { willingService } from "../support/willing-service.js";

afterEach(closeAll);

type Options = Partial<PaymentsOptions<never, MemoryTx>>;
const total = { value: "1475", currency: "KMF" };
const request = { reference: "order-1", total };
const at = "2026-11-20T10:00:00.000Z";
const now = () => new Date(at);

/** Returns a store with one payment, and the token of its return addresses. */
async function storeWith(payment: Partial<ReturnType<typeof pendingPayment>> = {}) {
  const store = new MemoryStore();
  const { token, hash } = makeReturnToken("c-1");
  const created = [pendingPayment({ returnKeyHash: hash, ...payment })];
  await store.transaction((tx) => store.save(tx, { created }));
  return { store, token };
}

/** Resolves when a handler is called for a completed payment. */
const completed = (payments: Payments<never, MemoryTx>) =>
  new Promise<string>((resolve) => payments.onPaymentCompleted(({ payment }) => resolve(payment.clientId)));

describe("payments.create", () => {
  /** Returns a kit, and the creations that its service got. */
  function shop(options: Options = {}) {
    const { sent, options: service } = willingService();
    return { sent, payments: testKit<never, MemoryTx>({ service, now, dispatch: false, ...options }) };
  }

  it.each<[string, Options, string, string]>([
    ["the default paths", {}, "/success/", "/cancel/"],
    ["other paths", { paths: { success: "/paid", cancel: "/pay/again" } }, "/paid/", "/pay/again/"],
    ["a slash at the end", { publicUrl: "https://shop.example/payments/" }, "/success/", "/cancel/"],
  ])("sends the addresses to come back to, with %s", async (_, options, success, cancel) => {
    const { sent, payments } = shop(options);
    const { clientId } = await payments.create(request);
    const { successUrl, cancelUrl } = sent[0]!;
    const base = "https://shop.example/payments";
    expect(successUrl.startsWith(`${base}${success}${clientId}~`)).toBe(true);
    expect(cancelUrl.startsWith(`${base}${cancel}${clientId}~`)).toBe(true);
  });

  it.each<[string, Options["lookup"], string]>([
    ["after lookup.afterMs", { afterMs: 7000 }, "2026-11-20T10:00:07.000Z"],
    ["after two minutes by default", true, "2026-11-20T10:02:00.000Z"],
    ["after two minutes where nothing is looked up yet", false, "2026-11-20T10:02:00.000Z"],
  ])("notes the first lookup %s", async (_, lookup, nextLookupAt) => {
    const { payments } = shop({ lookup });
    const { clientId } = await payments.create(request);
    expect(await payments.store.find(clientId)).toMatchObject({ nextLookupAt });
  });

  it("begins clientIds with the prefix", async () => {
    const { sent, payments } = shop({ clientIdPrefix: "north-" });
    const { clientId } = await payments.create(request);
    expect(clientId).toMatch(/^north-./);
    expect(sent[0]!.clientId).toBe(clientId);
  });

  it.each([
    [999, true],
    [1000, false],
  ])("returns an attempt again for reuseForMs: after %d of 1000 ms, %s", async (age, reused) => {
    const time = { ms: now().getTime() };
    const { payments } = shop({ reuseForMs: 1000, now: () => new Date(time.ms) });
    await payments.create(request);
    time.ms += age;
    expect(await payments.create(request)).toMatchObject({ reused });
  });

  it("waits for another process that may still create the payment", async () => {
    // The time limit of the service is 1 s, and the store has 5 s more.
    const { store } = await storeWith({ state: "creating", createdAt: "2026-11-20T09:59:54.001Z" });
    const { checkoutUrl, ...creating } = (await store.find("c-1"))!;
    await store.transaction((tx) => store.save(tx, { updated: [creating] }));
    const { sent, options: service } = willingService();
    const { payments } = shop({ store, service: { ...service, timeoutMs: 1000 } });
    const lock = store.lock.bind(store);
    store.lock = async (tx, keys) => {
      store.lock = lock;
      const locked = await lock(tx, keys);
      // The other process is done after this call has looked.
      void store.transaction((later) =>
        store.save(later, { updated: [{ ...creating, checkoutUrl: checkoutUrl! }] }),
      );
      return locked;
    };
    expect(await payments.create(request)).toEqual({ clientId: "c-1", checkoutUrl, reused: true });
    expect(sent).toEqual([]);
  });

  it("replaces an attempt whose process has ended: 5 s after the time limit of the service", async () => {
    const { store } = await storeWith({ state: "creating", createdAt: "2026-11-20T09:59:54.000Z" });
    const { checkoutUrl: _, ...creating } = (await store.find("c-1"))!;
    await store.transaction((tx) => store.save(tx, { updated: [creating] }));
    const { sent, options: service } = willingService();
    const { payments } = shop({ store, service: { ...service, timeoutMs: 1000 } });
    const { clientId } = await payments.create(request);
    expect(sent.map((creation) => creation.clientId)).toEqual([clientId]);
    expect(await payments.find("c-1")).toMatchObject({ state: "uncertain", replacedBy: clientId });
  });

  it("completes a payment whose webhook arrived before it", async () => {
    const { payments } = shop();
    const early = signed(completedBody({ clientId: "c-early", id: "s-1" }));
    expect(await payments.receiveWebhook(early)).toMatchObject({ outcome: "unmatched" });
    await payments.create({ ...request, clientId: "c-early" });
    expect(await payments.find("c-early")).toMatchObject({ state: "completed", serviceId: "s-1" });
  });
});

describe("lookups", () => {
  let service: ShowingService;
  let options: Options;
  beforeEach(async () => {
    service = await showingService();
    service.payments.set("s-1", shown("s-1"));
    options = {
      service: { baseUrl: service.url, accessToken: "a-token" },
      now,
      dispatch: { pollMs: 3_600_000 },
    };
  });
  afterEach(() => service.close());

  it("ask about a payment whose browser came back to the success address", async () => {
    const { store, token } = await storeWith({ serviceId: "s-1", nextLookupAt: "2026-11-20T10:01:00.000Z" });
    const payments = testKit<never, MemoryTx>({ ...options, store, lookup: { afterReturnMs: 1 } });
    const paid = completed(payments);
    await payments.start({ keepAlive: false });
    expect(await payments.handleReturn({ kind: "success", token, visit: true })).toMatchObject({
      kind: "success",
      state: "confirming",
      payment: { clientId: "c-1" },
    });
    expect(await paid).toBe("c-1");
    expect(service.asked()).toEqual(["s-1"]);
  });

  it("confirm a completion of which only fields are signed, without waiting for a sweep", async () => {
    const { store } = await storeWith({ serviceId: "s-1" });
    const signature = fieldsSignature({ secret, merchantId: "m-1" });
    const payments = testKit({ ...options, store, signature, lookup: true, confirm: "lookup" } as never);
    const paid = completed(payments as never);
    await payments.start({ keepAlive: false });
    expect(await payments.receiveWebhook(signed(completedBody({ id: "s-1" }), signature))).toMatchObject({
      outcome: "unconfirmed",
    });
    expect(await paid).toBe("c-1");
    expect(service.asked()).toEqual(["s-1"]);
  });

  it("ask about a payment whose customer says that it is paid", async () => {
    const successReturnedAt = "2026-11-20T09:00:00.000Z";
    const nextLookupAt = "2026-11-20T10:01:00.000Z";
    const { store, token } = await storeWith({ serviceId: "s-1", successReturnedAt, nextLookupAt });
    const payments = testKit<never, MemoryTx>({ ...options, store, lookup: true });
    expect(await payments.claimPaid({ kind: "success", token, number: "MVK-778" })).toBe("kept");
    await until(() => service.asked().length > 0);
    expect(service.asked()).toEqual(["s-1"]);
  });

  it("take no longer than lookup.timeoutMs", async () => {
    const { store } = await storeWith({ serviceId: "s-1", nextLookupAt: at });
    const fetch = () => new Promise<never>(() => undefined);
    const payments = testKit<never, MemoryTx>({
      ...options,
      store,
      now: () => new Date(now().getTime() + 1),
      service: { ...options.service!, fetch, timeoutMs: 3_600_000 },
      lookup: { timeoutMs: 1 },
    });
    const failed = new Promise((resolve) => payments.on("lookup.failed", resolve));
    await payments.sweep();
    expect(await failed).toMatchObject({ clientId: "c-1" });
  });
});

describe("payments.handleReturn", () => {
  it("shows a payment also where nothing is looked up, and notes the return", async () => {
    const { store, token } = await storeWith();
    const payments = testKit<never, MemoryTx>({ store, now });
    const view = await payments.handleReturn({ kind: "success", token, visit: true });
    expect(view).toMatchObject({ state: "confirming", payment: { clientId: "c-1" } });
    expect(await payments.find("c-1")).toMatchObject({ successReturnedAt: at });
    const forged = `c-1~${"A".repeat(22)}`;
    expect(await payments.handleReturn({ kind: "success", token: forged, visit: true })).toBeUndefined();
  });
});

describe("payments.history", () => {
  it("is that of the payment in the store", async () => {
    const { store } = await storeWith();
    const payments = testKit<never, MemoryTx>({ store, dispatch: false });
    await payments.receiveWebhook(signed(completedBody()));
    const { clientId, payment, entries } = await payments.history("c-1");
    expect({ clientId, state: payment?.state }).toEqual({ clientId: "c-1", state: "completed" });
    expect(entries.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["created", "webhook", "event"]));
  });
});

describe("payments.health", () => {
  const old = { handler: "ledger", since: "2026-11-20T09:00:00.000Z" };

  it.each<[string, string[], boolean, string[]]>([
    ["has no reason where this process runs the handler", ["mail", "ledger"], true, []],
    ["has a reason where this process runs only others", ["mail"], true, ["handler_missing"]],
    ["has a reason where this process has no handlers", [], true, ["handler_missing"]],
    ["has a reason where this process calls none", ["mail", "ledger"], false, ["handler_missing"]],
  ])("%s", async (_, names, dispatches, codes) => {
    const store = new MemoryStore();
    const counts = await store.counts();
    store.counts = async () => ({ ...counts, waiting: [old] });
    const payments = testKit<never, MemoryTx>({ store, now, ...(!dispatches && { dispatch: false }) });
    for (const name of names) payments.onPaymentCompleted(() => undefined, { name });
    const { reasons } = await payments.health();
    expect(reasons.map(({ code }) => code)).toEqual(codes);
  });
});

it("payments.health has a reason where three sweeps in a row failed", async () => {
  const store = new MemoryStore();
  store.due = () => Promise.reject(new Error("away"));
  const payments = testKit<never, MemoryTx>({ store, now });
  const codes = async () => (await payments.health()).reasons.map(({ code }) => code);
  for (let sweeps = 1; sweeps <= 3; sweeps++) {
    expect(await codes()).toEqual([]);
    await expect(payments.sweep()).rejects.toThrow("away");
  }
  expect(await codes()).toEqual(["sweep_failing"]);
});

describe("payments.pauseHandler and payments.resumeHandler", () => {
  it("are followed without a poll", async () => {
    const { store } = await storeWith();
    const payments = testKit<never, MemoryTx>({ store, now, dispatch: { pollMs: 3_600_000 } });
    const handled: string[] = [];
    payments.onPaymentCompleted(({ payment }) => handled.push(payment.clientId));
    await payments.start({ keepAlive: false });
    await payments.pauseHandler("payment.completed", { reason: "slow", by: "Amina" });
    await payments.receiveWebhook(signed(completedBody()));
    for (let round = 0; round < 30; round++) await new Promise(setImmediate);
    expect(handled).toEqual([]);
    await payments.resumeHandler("payment.completed", { by: "Amina" });
    await until(() => handled.length > 0);
    expect(handled).toEqual(["c-1"]);
  });
});

describe("an entry that needs a person", () => {
  it("opens after unmatchedAfterMs, and is told again after attentionReminderMs", async () => {
    const store = new MemoryStore();
    const time = { ms: now().getTime() };
    const payments = testKit<never, MemoryTx>({
      store,
      now: () => new Date(time.ms),
      dispatch: { pollMs: 3_600_000 },
      unmatchedAfterMs: 1000,
      attentionReminderMs: 5000,
    });
    const types: string[] = [];
    payments.on("attention.opened", ({ type, entry }) => void types.push(`${type} ${entry.rule}`));
    payments.on("attention.reminder", ({ type, entry }) => void types.push(`${type} ${entry.rule}`));
    await payments.receiveWebhook(signed(completedBody()));
    const sweepAfter = async (ms: number) => {
      time.ms += ms;
      await payments.sweep();
      return (await store.notes({ kind: "attention" })).length;
    };
    expect(await sweepAfter(999)).toBe(0);
    await sweepAfter(2);
    await sweepAfter(4998);
    await sweepAfter(3);
    await payments.start({ keepAlive: false });
    await until(() => types.length === 2);
    expect(types.toSorted()).toEqual(["attention.opened unmatched", "attention.reminder unmatched"]);
  });
});

describe("payments.retireHandler", () => {
  it("retires the dispatches of a name, and refuses one that this process has", async () => {
    const { store } = await storeWith();
    const before = testKit<never, MemoryTx>({ store, dispatch: false });
    before.onPaymentCompleted(() => undefined, { name: "ledger" });
    await before.receiveWebhook(signed(completedBody()));
    await expect(before.retireHandler("ledger")).rejects.toMatchObject({ code: "handler_registered" });
    const after = testKit<never, MemoryTx>({ store, dispatch: false });
    expect(await after.retireHandler("ledger")).toBe(1);
    expect(await after.retireHandler("ledger")).toBe(0);
  });
});

describe("payments.backup", () => {
  it("is made by the store", async () => {
    const backup = jest.fn(async () => ({ bytes: 4096 }));
    const payments = testKit({ store: Object.assign(new MemoryStore(), { backup }) });
    expect(await payments.backup("copy.db")).toEqual({ bytes: 4096 });
    expect(backup.mock.calls).toEqual([["copy.db"]]);
  });

  it("rejects where the store cannot make one", async () => {
    await expect(testKit().backup("copy.db")).rejects.toMatchObject({
      code: "backup_unsupported",
      message: "The store cannot be copied to a file.",
    });
  });
});

describe("payments.onAny", () => {
  it("calls the handler for events of each type", async () => {
    const { store } = await storeWith();
    const payments = testKit<never, MemoryTx>({ store, now, dispatch: { pollMs: 3_600_000 }, overdueMs: 1 });
    const types: string[] = [];
    const all = new Promise<void>((resolve) =>
      payments.onAny(({ type }) => void (types.push(type) === 3 && resolve()), { name: "log" }),
    );
    await payments.start({ keepAlive: false });
    await payments.sweep();
    await payments.receiveWebhook(signed(completedBody()));
    await all;
    expect(types.toSorted()).toEqual(["payment.completed", "payment.overdue", "payment.paid_late"]);
    const { dispatches } = await store.history("c-1");
    expect(dispatches.map(({ handler }) => handler)).toEqual(["log", "log", "log"]);
  });
});
