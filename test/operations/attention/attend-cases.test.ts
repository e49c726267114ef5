import { MemoryStore, type Payments } from "tillkit";
import { keepClaim } from "../../../src/checkout/payment-claims.js";
import { event, webhook } from "../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { closeAll, testKit } from "../../support/kit.js";
import { pendingPayment } from "../../support/webhooks.js";

afterEach(closeAll);

const why = { by: "Amina", reason: "a test of the service" };
const late = pendingPayment({ state: "completed", status: "completed", open: false, attention: "paid_late" });
const differing = (count: number) =>
  Array.from({ length: count }, (_, n) => webhook(`w-${n}`, { outcome: "mismatch", clientId: "c-1" }));

describe("an action on an entry", () => {
  it("is kept among the last fifty", async () => {
    const store = new MemoryStore();
    await saved(store, { created: [late] });
    const payments = testKit({ store });
    for (let n = 1; n <= 51; n++)
      await payments.attend("paid_late:c-1", { action: "note", by: "Said", reason: `note ${n}` });
    const [entry] = (await payments.attention({ rule: "paid_late" })).entries;
    expect(entry!.version).toBe(51);
    expect(entry!.changes).toHaveLength(50);
    expect(entry!.changes.map(({ reason }) => reason)).toEqual(
      Array.from({ length: 50 }, (_, n) => `note ${n + 2}`),
    );
  });

  it("stores nothing with dryRun, also where people acted before", async () => {
    const store = new MemoryStore();
    await saved(store, { created: [late] });
    const payments = testKit({ store });
    await payments.attend("paid_late:c-1", { action: "note", ...why });
    const settle = { action: "settle", ...why, dryRun: true } as const;
    expect(await payments.attend("paid_late:c-1", settle)).toMatchObject({ changed: true });
    expect(await store.find("c-1")).toEqual(late);
    expect((await payments.attention()).entries).toMatchObject([{ version: 1, changes: [{ did: "noted" }] }]);
  });

  it("says that the cause is gone where it is repeated for a closed entry", async () => {
    const store = new MemoryStore();
    const claimed = pendingPayment({ clientId: "c-2", reference: "order-2", serviceId: "s-2" });
    await saved(store, {
      created: [late, claimed],
      webhooks: [
        webhook("u", { outcome: "unmatched", clientId: "c-9" }),
        webhook("m", { outcome: "mismatch", clientId: "c-1", reason: "amount" }),
      ],
    });
    await keepClaim(store, claimed, { number: "PP 71", at: claimed.createdAt });
    const payments = testKit({ store });
    const settle = { action: "settle", ...why } as const;
    for (const id of ["claimed:c-2", "unmatched:c-9", "paid_late:c-1"]) {
      expect((await payments.attend(id, settle)).changed).toBe(true);
      const { entry, changed } = await payments.attend(id, settle);
      expect([changed, JSON.stringify(entry)]).toEqual([false, expect.not.stringContaining("undefined")]);
      expect(entry).toMatchObject({ id, why: "The cause of this entry is gone.", settled: why });
    }
    const note = { action: "note", ...why } as const;
    await payments.attend("mismatched:c-1", note);
    await payments.resolve({ action: "dismiss", receiptId: "receipt-of-m", ...why });
    const { entry } = await payments.attend("mismatched:c-1", note);
    expect(JSON.stringify(entry)).not.toContain("undefined");
    expect(entry.why).toBe("The cause of this entry is gone.");
  });

  it("settles all webhooks of an entry where the store limits its writes", async () => {
    const store = Object.assign(new MemoryStore(), { maxGroup: 2 });
    await saved(store, { created: [pendingPayment()], webhooks: differing(5) });
    const payments = testKit({ store });
    const { entry } = await payments.attend("mismatched:c-1", { action: "settle", ...why });
    expect(entry).toMatchObject({ version: 1, settled: why });
    expect((await store.history("c-1")).resolutions).toHaveLength(5);
    expect((await payments.attention({ rule: "mismatched", settled: true })).entries).toEqual([]);
  });

  it.each([2, Infinity])(
    "settles nothing behind a webhook that the store refuses, and all when repeated: %d",
    async (maxGroup) => {
      const store = Object.assign(new MemoryStore(), { maxGroup });
      await saved(store, { created: [pendingPayment()], webhooks: differing(5) });
      const payments = testKit({ store });
      const save = store.save.bind(store);
      store.save = (tx, changes) =>
        changes.dismissed?.includes("receipt-of-w-0")
          ? Promise.reject(new Error("the row is locked"))
          : save(tx, changes);
      const settle = { action: "settle", ...why } as const;
      await expect(payments.attend("mismatched:c-1", settle)).rejects.toThrow("the row is locked");
      const { entries } = await payments.attention({ rule: "mismatched" });
      expect(entries).toMatchObject([{ version: 0 }]);
      store.save = save;
      expect(await payments.attend("mismatched:c-1", settle)).toMatchObject({ changed: true });
      expect(await store.webhooks({ need: "mismatched", limit: 9 })).toEqual([]);
    },
  );

  it("reports a change behind the webhooks that it has settled as what it is, and not as its own work", async () => {
    const store = Object.assign(new MemoryStore(), { maxGroup: 2 });
    await saved(store, { created: [pendingPayment()], webhooks: differing(5) });
    const payments = testKit({ store });
    await payments.attention();
    const transaction = store.transaction.bind(store);
    let calls = 0;
    store.transaction = async (run) => {
      calls += 1;
      if (calls === 2) await payments.resolve({ action: "dismiss", receiptId: "receipt-of-w-3", ...why });
      return transaction(run);
    };
    await expect(payments.attend("mismatched:c-1", { action: "settle", ...why })).rejects.toMatchObject({
      code: "store_conflict",
      message: "c-1 has changed in this moment.",
    });
  });

  it("settles none of several webhooks if one of them becomes a mismatch in this moment", async () => {
    const store = new MemoryStore();
    const webhooks = [1, 2].map((n) => webhook(`w-${n}`, { outcome: "unmatched", clientId: "c-9" }));
    await saved(store, { webhooks });
    const payments = testKit({ store });
    const mark = { receiptId: webhooks[1]!.receiptId, outcome: "mismatch" as const };
    const transaction = store.transaction.bind(store);
    jest.spyOn(store, "transaction").mockImplementationOnce(async (run) => {
      await saved(store, { rematched: [mark] });
      return transaction(run);
    });
    await expect(payments.attend("unmatched:c-9", { action: "settle", ...why })).rejects.toMatchObject({
      code: "store_conflict",
    });
    const outcomes = (await store.webhooks({ clientIds: ["c-9"], limit: 9 })).map(({ outcome }) => outcome);
    expect(outcomes.toSorted()).toEqual(["mismatch", "unmatched"]);
  });

  it("keeps the newest fifty webhooks as evidence, and settles all", async () => {
    const store = new MemoryStore();
    await saved(store, { created: [pendingPayment()], webhooks: differing(70).slice(10) });
    const payments = testKit({ store });
    const { entry } = await payments.attend("mismatched:c-1", { action: "settle", ...why });
    expect(entry.settled?.evidence).toMatchObject({
      webhooks: Array.from({ length: 50 }, (_, n) => ({ receiptId: `receipt-of-w-${n + 20}` })),
    });
    expect((await store.history("c-1")).resolutions).toHaveLength(60);
  });

  it.each([0, 2])("is refused with the version %d, which the entry does not have", async (version) => {
    const store = new MemoryStore();
    await saved(store, { created: [late] });
    const payments = testKit({ store });
    await payments.attend("paid_late:c-1", { action: "note", ...why });
    const settle = { action: "settle", by: "Said", reason: "delivered", version } as const;
    await expect(payments.attend("paid_late:c-1", settle)).rejects.toMatchObject({ code: "store_conflict" });
    expect(await payments.attend("paid_late:c-1", { ...settle, version: 1 })).toMatchObject({
      changed: true,
      entry: { version: 2 },
    });
  });

  it("wakes the handlers, and does not leave it to the next poll", async () => {
    const store = new MemoryStore();
    await saved(store, { created: [pendingPayment()], webhooks: differing(1) });
    const claim = store.claim.bind(store);
    const polled = new Promise<void>((resolve) => {
      store.claim = (options) => claim(options).finally(resolve);
    });
    const payments = testKit({ store, dispatch: { pollMs: 3_600_000 } });
    const resolved = new Promise((resolve) => payments.on("payment.resolved", ({ by }) => resolve(by)));
    await payments.start({ keepAlive: false });
    await polled;
    await payments.attend("mismatched:c-1", { action: "settle", ...why });
    expect(await resolved).toBe("Amina");
  });

  it("snoozes a reason of the health, whose time is always new", async () => {
    const store = new MemoryStore();
    await store.registerHandlers([{ event: "payment.completed", name: "books" }]);
    await saved(store, { events: [event("e-1")] });
    let at = Date.now();
    const payments = testKit({ store, dispatch: false, now: () => new Date(at) });
    const ids = async () => (await payments.attention({ rule: "health" })).entries.map(({ id }) => id);
    expect(await ids()).toContain("health:events_late");
    const until = new Date(at + 3_600_000);
    await payments.attend("health:events_late", { action: "snooze", until, ...why });
    at += 60_000;
    expect(await ids()).not.toContain("health:events_late");
    at += 3_600_000;
    expect(await ids()).toContain("health:events_late");
  });
});

it("paused handlers are listed once each, on pages of one entry, and not as a reason of the health too", async () => {
  const store = new MemoryStore();
  const names = ["books", "mail", "printer"];
  await store.registerHandlers(names.map((name) => ({ event: "payment.completed", name })));
  const payments: Payments = testKit({ store });
  for (const name of names) await payments.pauseHandler(name, why);
  const found: string[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 6 && (pages === 0 || cursor !== undefined); pages++) {
    const page = await payments.attention({ rule: ["handler_paused", "health"], limit: 1, cursor });
    found.push(...page.entries.map(({ id }) => id));
    cursor = page.cursor;
  }
  expect(found).toEqual(names.map((name) => `handler_paused:${name}`));
});
