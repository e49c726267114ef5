import { MemoryStore, type MemoryTx, type TillkitEvent } from "tillkit";
import { keepClaim } from "../../../src/checkout/payment-claims.js";
import { closeAll, testKit } from "../../support/kit.js";
import { pendingPayment } from "../../support/webhooks.js";

afterEach(closeAll);

const now = () => new Date("2026-11-20T10:00:00.000Z");

async function storeWith(...payments: ReturnType<typeof pendingPayment>[]) {
  const store = new MemoryStore();
  await store.transaction((tx) => store.save(tx, { created: payments }));
  return store;
}

describe("the sweep", () => {
  it("raises payment.overdue once for an open payment, and leaves the others alone", async () => {
    const old = { createdAt: "2026-11-18T10:00:00.000Z" };
    const store = await storeWith(
      pendingPayment({ ...old }),
      pendingPayment({ clientId: "c-2", reference: "r-2", serviceId: "s-2" }),
      pendingPayment({
        ...old,
        clientId: "c-3",
        reference: "r-3",
        serviceId: "s-3",
        state: "completed",
        open: false,
      }),
    );
    const payments = testKit<never, MemoryTx>({ store, now });
    const overdue: string[] = [];
    const told = new Promise<void>((resolve) => {
      payments.on("payment.overdue", ({ payment }) => {
        overdue.push(payment.clientId);
        resolve();
      });
    });
    await payments.start({ keepAlive: false });
    expect(await payments.sweep()).toMatchObject({ overdue: 1 });
    expect(await payments.sweep()).toMatchObject({ overdue: 0 });
    await told;
    expect(overdue).toEqual(["c-1"]);
    expect(await payments.find("c-1")).toMatchObject({ state: "pending", overdueAt: now().toISOString() });
  });

  it("runs with the longest times that the options accept: a hundred years", async () => {
    const ms = 36_525 * 24 * 3_600_000;
    const store = await storeWith(pendingPayment({ nextLookupAt: "2026-11-20T09:00:00.000Z" }));
    const lookup = { afterMs: ms, maxDelayMs: ms, giveUpAfterMs: ms, timeoutMs: 1 };
    const payments = testKit({ store, now, lookup, overdueMs: ms, unmatchedAfterMs: ms });
    expect(await payments.sweep()).toEqual({ overdue: 0, unmatched: 0, lookups: 1 });
    expect(await store.find("c-1")).toMatchObject({ nextLookupAt: expect.stringMatching(/^212/) });
  });

  it("shows the handlers of payment.overdue no hash of a return token", async () => {
    const returnKeyHash = "0f".repeat(32);
    const store = await storeWith(pendingPayment({ createdAt: "2026-11-18T10:00:00.000Z", returnKeyHash }));
    expect(await testKit<never, MemoryTx>({ store, now }).sweep()).toMatchObject({ overdue: 1 });
    const { events } = await store.history("c-1");
    expect(events).toMatchObject([{ type: "payment.overdue", payload: { payment: { clientId: "c-1" } } }]);
    expect(JSON.stringify(events)).not.toContain(returnKeyHash);
  });

  it("raises payment.overdue once, also where two processes sweep at the same moment", async () => {
    const store = await storeWith(pendingPayment({ createdAt: "2026-11-18T10:00:00.000Z" }));
    const processes = [testKit<never, MemoryTx>({ store, now }), testKit<never, MemoryTx>({ store, now })];
    const swept = await Promise.all(processes.map((payments) => payments.sweep()));
    expect(swept[0]!.overdue + swept[1]!.overdue).toBe(1);
    expect((await store.history("c-1")).events).toHaveLength(1);
  });

  it("registers the handlers of its process first, also where nothing was started", async () => {
    const store = await storeWith(pendingPayment({ createdAt: "2026-11-18T10:00:00.000Z" }));
    const payments = testKit<never, MemoryTx>({ store, now });
    const told = new Promise<TillkitEvent<"payment.overdue", never>>((resolve) =>
      payments.on("payment.overdue", resolve),
    );
    expect(await payments.sweep()).toMatchObject({ overdue: 1 });
    await payments.start({ keepAlive: false });
    expect((await told).payment.clientId).toBe("c-1");
  });

  it("reaches every overdue payment, however many there are", async () => {
    const many = Array.from({ length: 250 }, (_, index) =>
      pendingPayment({
        clientId: `c-${index}`,
        reference: `r-${index}`,
        serviceId: `s-${index}`,
        createdAt: "2026-11-18T10:00:00.000Z",
      }),
    );
    const payments = testKit<never, MemoryTx>({ store: await storeWith(...many), now });
    expect(await payments.sweep()).toMatchObject({ overdue: 250 });
  });

  it("ends the claims of paid payments page by page, and then begins again with the first page", async () => {
    const ids = Array.from({ length: 120 }, (_, index) => `c-${String(index).padStart(3, "0")}`);
    const many = ids.map((id) => pendingPayment({ clientId: id, reference: id, serviceId: `s-${id}` }));
    const store = await storeWith(...many);
    for (const [index, payment] of many.entries())
      await keepClaim(store, payment, { number: `MVK-${1000 + index}`, at: now().toISOString() });
    const complete = (payment: (typeof many)[number]) =>
      store.transaction((tx) =>
        store.save(tx, { updated: [{ ...payment, state: "completed", open: false }] }),
      );
    const open = async () =>
      (await store.notes({ kind: "claim_open" })).map(({ id }) => id.slice(id.lastIndexOf(":") + 1));
    const payments = testKit<never, MemoryTx>({ store, now });
    await complete(many.at(-1)!);
    await payments.sweep();
    expect(await open()).toEqual(ids);
    await payments.sweep();
    expect(await open()).toEqual(ids.slice(0, -1));
    await complete(many[0]!);
    await payments.sweep();
    expect(await open()).toEqual(ids.slice(1, -1));
  });
});
