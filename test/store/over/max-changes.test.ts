import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type RecordChange, storeOver } from "tillkit";
import { testStore } from "tillkit/testing";
import { fileAdapter } from "../../../examples/stores/file.js";
import { keepClaim, openClaims } from "../../../src/checkout/payment-claims.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";

const folders = new Map<object, string>();

/** Returns a store over a database that takes 60 changes in one write, the least that an adapter may take. */
function openLimited() {
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-file-"));
  const adapter = fileAdapter(path.join(folder, "payments.jsonl"));
  const maxChanges = 60;
  const store = storeOver<RecordChange>({
    ...adapter,
    maxChanges,
    async write(changes, items) {
      if (changes.length > maxChanges)
        throw new Error(`${changes.length} changes are more than ${maxChanges}.`);
      return adapter.write(changes, items);
    },
  });
  folders.set(store, folder);
  return store;
}

const remove = async (store: object) => rmSync(folders.get(store)!, { recursive: true, force: true });

testStore({
  name: "a store that takes 60 changes",
  create: async () => openLimited(),
  remove,
  test: it,
});

it("a sweep raises more overdue payments than one write can take", async () => {
  const store = openLimited();
  const payments = testKit({ store });
  payments.on("payment.overdue", () => {}, { name: "reminder" });
  await payments.start();
  const ids = Array.from({ length: 50 }, (_, index) => `c-${index}`);
  for (const clientId of ids) {
    const { serviceId: _, ...payment } = pendingPayment({ clientId, reference: `order-of-${clientId}` });
    await store.transaction((tx) => store.save(tx, { created: [payment] }));
  }
  await payments.sweep();
  for (const clientId of ids) expect((await store.find(clientId))?.overdueAt).toBeDefined();
  await closeAll();
  await remove(store);
});

describe("many handlers of all events, whose dispatches make one write too large for a usual group", () => {
  async function shopWith(handlers: number) {
    const store = openLimited();
    const payments = testKit({ store, now: () => new Date(Date.now() + 48 * 3_600_000) });
    for (let number = 0; number < handlers; number++) payments.onAny(() => {}, { name: `handler-${number}` });
    await payments.start();
    return { store, payments };
  }
  const pending = (number: number) =>
    pendingPayment({ clientId: `c-${number}`, reference: `order-${number}`, serviceId: `s-${number}` });

  it("let a sweep raise what is overdue and what waits for its payment", async () => {
    const { store, payments } = await shopWith(12);
    for (let number = 0; number < 5; number++) {
      await store.transaction((tx) => store.save(tx, { created: [pending(number)] }));
      await payments.receiveWebhook(signed(completedBody({ clientId: `x-${number}`, id: `t-${number}` })));
    }
    const later = testKit({ store, now: () => new Date(Date.now() + 96 * 3_600_000) });
    expect(await later.sweep()).toMatchObject({ overdue: 5, unmatched: 5 });
    await closeAll();
    await remove(store);
  });

  it("let a person settle all webhooks of an entry, or dismiss one of them", async () => {
    const { store, payments } = await shopWith(12);
    await store.transaction((tx) => store.save(tx, { created: [pending(0)] }));
    const receiptIds: string[] = [];
    for (let number = 0; number < 7; number++) {
      const body = completedBody({
        clientId: "c-0",
        id: "s-0",
        total: { value: "5", currency: "KMF" },
        submittedAt: `2026-11-01T10:00:1${number}.000Z`,
      });
      receiptIds.push((await payments.receiveWebhook(signed(body))).receiptId);
    }
    const why = { by: "Amina", reason: "the till was wrong" };
    await payments.resolve({ action: "dismiss", receiptId: receiptIds[0], ...why });
    await payments.attend("mismatched:c-0", { action: "settle", ...why });
    expect(await store.webhooks({ need: "mismatched", limit: 100 })).toEqual([]);
    const { resolutions, events } = await store.history("c-0");
    expect(resolutions).toHaveLength(7);
    expect(events.filter(({ type }) => type === "payment.resolved").length).toBeGreaterThan(3);
    await closeAll();
    await remove(store);
  });

  it("let parked webhooks find their payments, and a replay decide them", async () => {
    const { store, payments } = await shopWith(12);
    const receive = (number: number) =>
      payments.receiveWebhook(signed(completedBody({ clientId: `c-${number}`, id: `s-${number}` })));
    for (let number = 0; number < 6; number++) await receive(number);
    for (let number = 0; number < 6; number++)
      await store.transaction((tx) => store.save(tx, { created: [pending(number)] }));
    expect(await payments.replay({ dryRun: false })).toMatchObject({ changed: 6 });
    await closeAll();
    await remove(store);
  });
});

it("a sweep claims more lookups, and finds more ended claims, than one write can take", async () => {
  const store = openLimited();
  const fetch = async () => Response.json({}, { status: 404 });
  const service = { baseUrl: "https://pay.invalid", accessToken: "a-token", fetch };
  const payments = testKit({ store, service, lookup: { perSecond: 1000 } });
  const ids = Array.from({ length: 90 }, (_, index) => `c-${index}`);
  for (const [index, clientId] of ids.entries()) {
    const isPaid = index >= 20;
    const payment = pendingPayment({
      clientId,
      reference: `order-of-${clientId}`,
      serviceId: `id-of-${clientId}`,
      ...(isPaid
        ? { state: "completed" as const, open: false }
        : { nextLookupAt: "2026-11-20T10:00:00.000Z" }),
    });
    await store.transaction((tx) => store.save(tx, { created: [payment] }));
    if (isPaid) await keepClaim(store, payment, { number: `1234-${index}`, at: payment.createdAt });
  }
  expect(await payments.sweep()).toMatchObject({ lookups: 20 });
  expect((await openClaims(store, { limit: 100 })).length).toBeLessThan(70);
  await closeAll();
  await remove(store);
});

it("a replay changes more webhooks than one write can take", async () => {
  const store = openLimited();
  const ids = Array.from({ length: 40 }, (_, index) => `c-${index}`);
  const north = testKit({ store, clientIdPrefix: "north-" });
  for (const clientId of ids)
    await north.receiveWebhook(signed(completedBody({ clientId, id: `id-of-${clientId}` })));
  for (const clientId of ids) {
    const payment = pendingPayment({
      clientId,
      reference: `order-of-${clientId}`,
      serviceId: `id-of-${clientId}`,
    });
    await store.transaction((tx) => store.save(tx, { created: [payment] }));
  }
  const replayed = await testKit({ store }).replay({ dryRun: false });
  expect(replayed).toMatchObject({ looked: 40, changed: 40 });
  for (const clientId of ids) expect(await store.find(clientId)).toMatchObject({ state: "completed" });
  await closeAll();
  await remove(store);
});

describe("a payment with more waiting webhooks than one write can take", () => {
  const adoption = { clientId: "c-1", reference: "order-1", total: { value: "1475", currency: "KMF" } };

  async function openWithWaiting() {
    const store = openLimited();
    // The order of arrival counts, also where two would come in one millisecond.
    let time = Date.now();
    const north = testKit({ store, clientIdPrefix: "north-", now: () => new Date(time++) });
    for (let number = 0; number < 30; number++)
      await north.receiveWebhook(signed(completedBody({ id: `s-${number}` })));
    return { store, north };
  }
  const outcomesIn = async (store: ReturnType<typeof openLimited>) =>
    (await store.history("c-1")).webhooks.map(({ outcome }) => outcome);
  const decided = ["applied", ...Array.from({ length: 29 }, () => "mismatch")];

  it("is matched with all of them, in the order of their arrival", async () => {
    const { store, north } = await openWithWaiting();
    expect(new Set(await outcomesIn(store))).toEqual(new Set(["foreign"]));
    expect((await north.adopt(adoption)).payment).toMatchObject({ state: "completed", serviceId: "s-0" });
    expect(await outcomesIn(store)).toEqual(decided);
    await closeAll();
    await remove(store);
  });

  it("is matched with the rest by the sweep where the process ended after the first write", async () => {
    const { store, north } = await openWithWaiting();
    const transaction = store.transaction.bind(store);
    store.transaction = async (run) => {
      const result = await transaction(run);
      store.transaction = () => Promise.reject(new Error("The process has ended."));
      return result;
    };
    await expect(north.adopt(adoption)).rejects.toThrow("The process has ended.");
    store.transaction = transaction;
    expect(await store.find("c-1")).toMatchObject({ state: "completed" });
    expect(await outcomesIn(store)).not.toEqual(decided);
    const later = new Date(Date.now() + 24 * 3_600_000);
    const next = testKit({ store, clientIdPrefix: "north-", now: () => later });
    expect(await next.sweep()).toMatchObject({ unmatched: 0 });
    expect(await outcomesIn(store)).toEqual(decided);
    await closeAll();
    await remove(store);
  });
});

describe("a payment with more refused webhooks than one write can take", () => {
  const why = { by: "Amina", reason: "the till was wrong" };

  async function openWithMismatches(count: number) {
    const store = openLimited();
    let time = Date.now();
    const payments = testKit({ store, now: () => new Date(time++) });
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    const receiptIds: string[] = [];
    for (let number = 0; number < count; number++) {
      const body = completedBody({
        total: { value: "5", currency: "KMF" },
        submittedAt: `2026-11-01T10:00:${10 + number}.000Z`,
      });
      receiptIds.push((await payments.receiveWebhook(signed(body))).receiptId);
    }
    return { store, payments, receiptIds };
  }
  const open = (store: ReturnType<typeof openLimited>) => store.webhooks({ need: "mismatched", limit: 100 });

  it("is decided by a person, with some of the others each time", async () => {
    const { store, payments, receiptIds } = await openWithMismatches(20);
    expect(await payments.resolve({ action: "dismiss", receiptId: receiptIds[0], ...why })).toMatchObject({
      resolved: true,
    });
    const left = (await open(store)).length;
    expect(left).toBeLessThan(19);
    await payments.resolve({ action: "accept", receiptId: receiptIds[19], ...why });
    expect(await store.find("c-1")).toMatchObject({ state: "completed" });
    expect((await open(store)).length).toBeLessThan(left - 1);
    await closeAll();
    await remove(store);
  });

  it("is settled by a person, with all of them", async () => {
    const { store, payments } = await openWithMismatches(20);
    const { changed } = await payments.attend("mismatched:c-1", { action: "settle", ...why });
    expect(changed).toBe(true);
    expect(await open(store)).toEqual([]);
    expect((await store.history("c-1")).resolutions).toHaveLength(20);
    await closeAll();
    await remove(store);
  });

  it("stays listed with the webhooks of a later write that failed", async () => {
    const { store, payments } = await openWithMismatches(8);
    const transaction = store.transaction.bind(store);
    let calls = 0;
    store.transaction = (run) =>
      ++calls >= 2 ? Promise.reject(new Error("The process has ended.")) : transaction(run);
    const settle = () => payments.attend("mismatched:c-1", { action: "settle", ...why });
    await expect(settle()).rejects.toThrow("The process has ended.");
    const listed = async () => (await payments.attention({ rule: "mismatched" })).entries.length;
    store.transaction = transaction;
    expect([await listed(), (await open(store)).length]).toEqual([1, 5]);
    expect(await settle()).toMatchObject({ changed: true });
    expect([await listed(), (await open(store)).length]).toEqual([0, 0]);
    await closeAll();
    await remove(store);
  });
});
