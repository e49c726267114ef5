import { MemoryStore, type Payment } from "tillkit";
import {
  claimPayment,
  handleReturn,
  type ReturnKind,
  type ReturnRequest,
} from "../../src/checkout/handle-return.js";
import { readClaims } from "../../src/checkout/payment-claims.js";
import { makeReturnToken } from "../../src/checkout/return-token.js";
import { closeAll } from "../support/kit.js";
import { pendingPayment } from "../support/webhooks.js";
import { gate } from "../webhook/spool/hooked-file-system.js";

afterEach(closeAll);

/** Returns a store with a payment that has a return address, and the visits of its browser. */
async function returning(payment: Partial<Payment> = {}, others: readonly Payment[] = []) {
  const { clientId = "c-1" } = payment;
  const { token, hash } = makeReturnToken(clientId);
  const store = new MemoryStore();
  const created = [...others, pendingPayment({ ...payment, clientId, returnKeyHash: hash })];
  await store.transaction((tx) => store.save(tx, { created }));
  const clock = { now: new Date("2026-11-20T10:00:00.000Z") };
  const seen = { asked: [] as string[], transactions: 0 };
  const transaction = store.transaction.bind(store);
  store.transaction = (run) => {
    seen.transactions += 1;
    return transaction(run);
  };
  const parts = { store, now: () => clock.now, onSuccess: (id: string) => void seen.asked.push(id) };
  const visit = (kind: ReturnKind, more: Partial<ReturnRequest> = {}) =>
    handleReturn(parts, { kind, token, visit: true, ...more });
  return { store, token, clock, seen, visit, find: () => store.find(clientId) };
}

describe("the first visit of a browser", () => {
  it("is noted and asks about the payment; the next ones cost no transaction", async () => {
    const { clock, seen, visit, find } = await returning();
    await visit("success");
    clock.now = new Date("2026-11-20T10:05:00.000Z");
    expect(await visit("success")).toMatchObject({ state: "delayed", waitedMs: 300_000 });
    expect(seen).toEqual({ asked: ["c-1"], transactions: 1 });
    expect(await find()).toMatchObject({
      successReturnedAt: "2026-11-20T10:00:00.000Z",
      updatedAt: "2026-11-20T10:00:00.000Z",
      open: true,
    });
  });

  it("asks nothing on the cancel address", async () => {
    const { seen, visit, find } = await returning();
    await visit("cancel");
    expect(seen).toEqual({ asked: [], transactions: 1 });
    expect(await find()).toMatchObject({
      cancelReturnedAt: "2026-11-20T10:00:00.000Z",
      updatedAt: "2026-11-20T10:00:00.000Z",
      open: false,
    });
  });

  it("on the cancel address counts the time that the browser waited there", async () => {
    const { clock, visit } = await returning({ successReturnedAt: "2026-11-20T09:00:00.000Z" });
    await visit("cancel");
    clock.now = new Date("2026-11-20T10:00:07.000Z");
    expect(await visit("cancel")).toMatchObject({ state: "canceled", waitedMs: 7000 });
  });

  it.each(["success", "cancel"] as const)("changes nothing of a completed payment on %s", async (kind) => {
    const { seen, visit, find } = await returning({ state: "completed", open: false });
    const before = await find();
    expect(await visit(kind)).toMatchObject({ state: "paid" });
    expect(seen).toEqual({ asked: [], transactions: 0 });
    expect(await find()).toEqual(before);
  });

  it("is noted once and asks once where two browsers come at the same moment", async () => {
    const { clock, seen, visit, find } = await returning();
    const second = new Date("2026-11-20T10:00:01.000Z");
    await Promise.all([visit("success").then(() => (clock.now = second)), visit("success")]);
    expect(seen).toEqual({ asked: ["c-1"], transactions: 2 });
    expect(await find()).toMatchObject({ successReturnedAt: "2026-11-20T10:00:00.000Z" });
  });

  it("changes nothing where the payment was completed after it was read", async () => {
    const { store, seen, visit, find } = await returning();
    const lock = store.lock.bind(store);
    store.lock = async (tx, keys) => {
      const { payments } = await lock(tx, keys);
      await store.save(tx, { updated: [{ ...payments[0]!, state: "completed", open: false }] });
      return lock(tx, keys);
    };
    await visit("success");
    expect(seen).toEqual({ asked: [], transactions: 1 });
    expect(await find()).not.toHaveProperty("successReturnedAt");
  });

  it("keeps what a webhook changed after the payment was read", async () => {
    const { store, visit, find } = await returning();
    const lock = store.lock.bind(store);
    const meanwhile = { status: "approved", serviceId: "s-9" };
    store.lock = async (tx, keys) => {
      const { payments } = await lock(tx, keys);
      await store.save(tx, { updated: [{ ...payments[0]!, ...meanwhile }] });
      return lock(tx, keys);
    };
    await visit("success");
    const successReturnedAt = "2026-11-20T10:00:00.000Z";
    expect(await find()).toMatchObject({ ...meanwhile, successReturnedAt });
  });

  it.each(["success", "cancel"] as const)("on %s is noted on its own attempt of the order", async (kind) => {
    const first = pendingPayment({ open: false, serviceId: "s-1", replacedBy: "c-2" });
    const { store, visit, find } = await returning({ clientId: "c-2" }, [first]);
    expect(await visit(kind)).toMatchObject({ payment: { clientId: "c-2" } });
    expect(await find()).toHaveProperty(`${kind}ReturnedAt`);
    expect(await store.find("c-1")).toEqual(first);
  });

  it("is answered also where it cannot be noted", async () => {
    const { store, visit } = await returning();
    store.save = () => Promise.reject(new Error("the disk is full"));
    expect(await visit("success")).toMatchObject({ state: "confirming" });
  });
});

describe("what a return shows", () => {
  it.each([
    ["failed", "success", "failed"],
    ["canceled", "success", "canceled"],
    ["uncertain", "success", "confirming"],
    ["failed", "cancel", "failed"],
    ["uncertain", "cancel", "canceled"],
  ] as const)("of a payment that is %s on %s is %s, with no time waited", async (state, kind, shown) => {
    const { visit } = await returning({ state });
    expect(await visit(kind, { visit: false })).toMatchObject({ state: shown, waitedMs: 0 });
  });

  it("has no time waited where the clock of the host that noted the first visit is ahead", async () => {
    const { visit } = await returning({ successReturnedAt: "2026-11-20T10:00:07.000Z" });
    expect(await visit("success")).toMatchObject({ state: "confirming", waitedMs: 0 });
  });

  it("is the attempt that pays the order, and not one whose money went back", async () => {
    const paid = { state: "completed", open: false } as const;
    const { total } = pendingPayment();
    const back = pendingPayment({
      ...paid,
      clientId: "c-2",
      serviceId: "s-2",
      completedAt: "2026-11-20T09:00:00.000Z",
    });
    const kept = pendingPayment({
      ...paid,
      clientId: "c-3",
      serviceId: "s-3",
      completedAt: "2026-11-20T09:30:00.000Z",
    });
    const { visit } = await returning({ state: "canceled", open: false }, [
      { ...back, refunded: total.value },
      kept,
    ]);
    expect(await visit("success")).toMatchObject({ state: "paid", payment: { clientId: "c-3" } });
  });

  it("is nothing for a payment without a return address, such as an adopted one", async () => {
    const store = new MemoryStore();
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    const { token } = makeReturnToken("c-1");
    const now = () => new Date("2026-11-20T10:00:00.000Z");
    expect(await handleReturn({ store, now }, { kind: "success", token, visit: true })).toBeUndefined();
  });
});

it("a claim is stored when it is kept, and then asked about", async () => {
  const { store, token } = await returning({ successReturnedAt: "2026-11-20T09:58:00.000Z" });
  const { opened, open } = gate();
  const transaction = store.transaction.bind(store);
  store.transaction = (run) => opened.then(() => transaction(run));
  const steps: string[] = [];
  const parts = {
    store,
    now: () => new Date("2026-11-20T10:00:00.000Z"),
    onClaim: (clientId: string) => void steps.push(`asked about ${clientId}`),
  };
  const claiming = claimPayment(parts, { kind: "success", token, number: "MVK-778" });
  void claiming.then((outcome) => steps.push(String(outcome)));
  for (let iteration = 0; iteration < 5; iteration++) await new Promise(setImmediate);
  expect(steps).toEqual([]);
  open();
  expect(await claiming).toBe("kept");
  expect(steps).toEqual(["asked about c-1", "kept"]);
  expect(await readClaims(store, "c-1")).toEqual([{ number: "MVK-778", at: "2026-11-20T10:00:00.000Z" }]);
});
