import {
  type Evidence,
  MemoryStore,
  type MemoryTx,
  type Payment,
  type Resolution,
  TillkitError,
} from "tillkit";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";

afterEach(closeAll);

const why = { reason: "the till was wrong", by: "Amina" };
const evidence: Evidence = {
  kind: "letter",
  document: "the letter of 20 November",
  total: { value: "1475", currency: "KMF" },
};
const short = { total: { value: "1470", currency: "KMF" } };
const completed: Partial<Payment> = { state: "completed", status: "completed", open: false };

async function shopWith(...created: Payment[]) {
  const store = new MemoryStore();
  if (created.length > 0) await saved(store, { created });
  const payments = testKit({ store });
  return {
    store,
    payments,
    receive: (data: Record<string, unknown>) => payments.receiveWebhook(signed(completedBody(data))),
    types: async (clientId = "c-1") => (await store.history(clientId)).events.map(({ type }) => type),
  };
}

describe("resolutions in memory", () => {
  it("are kept apart: several of one payment, and one of each of its webhooks", async () => {
    const { store, payments, receive, types } = await shopWith(pendingPayment());
    const [first, second] = [
      await receive(short),
      await receive({ total: { value: "1471", currency: "KMF" } }),
    ];
    for (const { receiptId } of [first, second])
      expect(await payments.resolve({ action: "dismiss", receiptId, ...why })).toMatchObject({
        resolved: true,
        payment: { state: "pending" },
      });
    for (const action of ["dismiss", "accept", "refunded"] as const) {
      const given = action === "accept" ? { evidence } : {};
      const about = { action, clientId: "c-1", ...given, ...why };
      expect(await payments.resolve(about)).toMatchObject({ resolved: true });
      expect(await payments.resolve(about)).toMatchObject({ resolved: false });
    }
    const { resolutions, webhooks } = await store.history("c-1");
    // Those of one millisecond are in the order of their ids.
    expect(resolutions.map(({ id }) => id).toSorted()).toEqual([
      "accepted:c-1",
      `dismissed:${first.receiptId}`,
      `dismissed:${second.receiptId}`,
      "dismissed:c-1",
      "refunded:c-1",
    ]);
    const dismissed = resolutions.find(({ id }) => id === "dismissed:c-1");
    expect(dismissed).not.toHaveProperty("receiptId");
    expect(dismissed).not.toHaveProperty("evidence");
    expect(webhooks.map(({ outcome }) => outcome)).not.toContain("applied");
    expect((await types()).filter((type) => type === "payment.resolved")).toHaveLength(5);
  });

  it("of one thing by several people at the same moment end in the first one for all of them", async () => {
    const { payments, types } = await shopWith(pendingPayment(completed));
    const all = await Promise.all(
      ["Amina", "Said", "Zaïna"].map((by) =>
        payments.resolve({ action: "refunded", clientId: "c-1", reason: "asked for", by }),
      ),
    );
    expect(all.filter(({ resolved }) => resolved)).toHaveLength(1);
    expect(new Set(all.map(({ resolution }) => resolution.by)).size).toBe(1);
    expect(await types()).toEqual(["payment.refunded", "payment.resolved"]);
  });

  it("fail with the store's error where the commit had no answer; the next call finds the resolution", async () => {
    const { store, payments } = await shopWith(pendingPayment(completed));
    const transaction = store.transaction.bind(store);
    store.transaction = async (run) => {
      await transaction(run as (tx: MemoryTx) => Promise<void>);
      store.transaction = transaction;
      throw new TillkitError("store_unavailable", "The answer of the commit was lost.");
    };
    const refunded = { action: "refunded", clientId: "c-1", ...why } as const;
    await expect(payments.resolve(refunded)).rejects.toMatchObject({ code: "store_unavailable" });
    expect(await payments.resolve(refunded)).toMatchObject({ resolved: false, resolution: { by: why.by } });
  });

  it("lock the payment by the ids that are known, and by no others", async () => {
    const { store, payments } = await shopWith(pendingPayment(completed));
    const lock = jest.spyOn(store, "lock");
    await payments.resolve({ action: "refunded", clientId: "c-1", ...why });
    expect(lock.mock.calls.map(([, keys]) => keys)).toStrictEqual([{ clientIds: ["c-1"], serviceIds: [] }]);
  });

  it("fail with the store's conflict where it is about something else", async () => {
    const { store, payments } = await shopWith(pendingPayment(completed));
    store.save = () => Promise.reject(new TillkitError("store_conflict", "A row was locked for too long."));
    await expect(payments.resolve({ action: "refunded", clientId: "c-1", ...why })).rejects.toMatchObject({
      code: "store_conflict",
      message: "A row was locked for too long.",
    });
  });

  it("show no payment where there is none, in their result and in their event", async () => {
    const { store, payments, receive } = await shopWith();
    const { receiptId } = await receive({});
    const resolved = await payments.resolve({ action: "dismiss", receiptId, ...why });
    expect(resolved).not.toHaveProperty("payment");
    const [told] = (await store.history("c-1")).events;
    expect(told!.payload).toEqual({ clientId: "c-1", action: "dismissed", receiptId, ...why });
  });

  it("wake the handlers, and do not leave them to the next poll", async () => {
    const store = new MemoryStore();
    await saved(store, { created: [pendingPayment(completed)] });
    const claim = store.claim.bind(store);
    const polled = new Promise<void>((resolve) => {
      store.claim = (options) => claim(options).finally(resolve);
    });
    const payments = testKit({ store, dispatch: { pollMs: 3_600_000 } });
    const handled = new Promise<string>((resolve) =>
      payments.on("payment.resolved", ({ by }) => resolve(by)),
    );
    await payments.start({ keepAlive: false });
    await polled;
    await payments.resolve({ action: "refunded", clientId: "c-1", ...why });
    expect(await handled).toBe("Amina");
  });
});

describe("an accepted mismatch", () => {
  it("binds the service id that no other payment has, also beside another payment of the order", async () => {
    const { serviceId: _, ...unbound } = pendingPayment();
    const other = pendingPayment({ clientId: "c-2", serviceId: "s-2", open: false });
    const { payments, receive } = await shopWith(unbound, other);
    const { receiptId } = await receive({ ...short, id: "s-1" });
    const { payment } = await payments.resolve({ action: "accept", receiptId, ...why });
    expect(payment).toMatchObject({ state: "completed", serviceId: "s-1" });
  });

  it("keeps the payment's own service id where the webhook shows one that no payment has", async () => {
    const { payments, receive } = await shopWith(pendingPayment());
    const { receiptId } = await receive({ id: "s-9", ...short });
    const { payment } = await payments.resolve({ action: "accept", receiptId, ...why });
    expect(payment).toMatchObject({ state: "completed", serviceId: pendingPayment().serviceId });
  });

  it("of the second payment of an order is paid twice", async () => {
    const first = pendingPayment({ ...completed, clientId: "c-0", serviceId: "s-0" });
    const { payments, receive, types } = await shopWith(first, pendingPayment());
    const { receiptId } = await receive(short);
    await payments.resolve({ action: "accept", receiptId, ...why });
    expect(await types()).toEqual(["payment.mismatched", "payment.paid_twice", "payment.resolved"]);
  });

  it("is no second payment of another order, whose service id the webhook shows", async () => {
    const other = pendingPayment({ ...completed, clientId: "c-2", reference: "order-2", serviceId: "s-2" });
    const { payments, receive, types } = await shopWith(pendingPayment(), other);
    const { receiptId } = await receive({ id: "s-2" });
    await payments.resolve({ action: "accept", receiptId, ...why });
    expect(await types()).toEqual(["payment.mismatched", "payment.completed", "payment.resolved"]);
  });

  it("is possible after everything older was pruned", async () => {
    const { payments, receive } = await shopWith(pendingPayment());
    const { receiptId } = await receive(short);
    await payments.prune({ before: new Date("2099-01-01") });
    await payments.resolve({ action: "accept", receiptId, ...why });
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
  });

  it("is refused when it was dismissed, and its bytes were pruned", async () => {
    const { payments, receive } = await shopWith(pendingPayment());
    const { receiptId } = await receive(short);
    await payments.resolve({ action: "dismiss", receiptId, ...why });
    await payments.prune({ before: new Date("2099-01-01") });
    await expect(payments.resolve({ action: "accept", receiptId, ...why })).rejects.toMatchObject({
      code: "resolution_not_possible",
      message: expect.stringContaining("cannot be read any more") as string,
    });
    expect(await payments.find("c-1")).toMatchObject({ state: "pending" });
  });
});

describe("a resolution is refused", () => {
  it("as a dismissal of a webhook that names no payment to the kit, also where its body shows one", async () => {
    const { payments, receive } = await shopWith(pendingPayment());
    const { receiptId, outcome } = await receive({ submittedAt: "yesterday" });
    expect(outcome).toBe("inadmissible");
    await expect(payments.resolve({ action: "dismiss", receiptId, ...why })).rejects.toMatchObject({
      code: "resolution_not_possible",
      message: expect.stringContaining(`no webhook ${receiptId} about a payment`) as string,
    });
  });

  it("as an acceptance for a payment that is not stored: it must be adopted first", async () => {
    const { payments } = await shopWith();
    const accept = { action: "accept", clientId: "c-1", evidence, ...why } as const;
    await expect(payments.resolve(accept)).rejects.toMatchObject({
      code: "resolution_not_possible",
      message: expect.stringContaining("adopt it first") as string,
    });
  });

  it("as an acceptance of a payment that is completed already", async () => {
    const { payments, types } = await shopWith(pendingPayment(completed));
    const accept = { action: "accept", clientId: "c-1", evidence, ...why } as const;
    await expect(payments.resolve(accept)).rejects.toMatchObject({
      code: "resolution_not_possible",
      message: expect.stringContaining("c-1 is completed already") as string,
    });
    expect(await types()).toEqual([]);
  });

  it.each<[string, Partial<Resolution> | object]>([
    ["Give either", { action: "accept", evidence }],
    ["Give either", { action: "accept", receiptId: "", clientId: "c-1", evidence }],
    ["Give either", { action: "accept", receiptId: "r-1", clientId: 7, evidence }],
    ["Give either", { clientId: 7 }],
    ["reason must", { clientId: "c-1", reason: 7 }],
    ["reason must", { clientId: "c-1", reason: "x".repeat(1001) }],
    ["by must", { clientId: "c-1", by: "x".repeat(129) }],
    ["by must", { clientId: "c-1", by: undefined }],
    ["resaon", { clientId: "c-1", resaon: "a misspelt name" }],
  ])("with the name of what is wrong: %s %j", async (message, given) => {
    const { payments } = await shopWith(pendingPayment());
    await expect(payments.resolve({ action: "dismiss", ...why, ...given })).rejects.toMatchObject({
      code: "resolution_invalid",
      message: expect.stringContaining(message) as string,
    });
  });

  it.each([
    ["evidence_invalid", { evidence: "a letter" }],
    ["evidence_invalid", { receiptId: "r-1", evidence: { ...evidence, kind: "rumour" } }],
  ])("with %s before the store is asked: %j", async (code, given) => {
    const { store, payments } = await shopWith(pendingPayment());
    const asked = [
      jest.spyOn(store, "transaction"),
      jest.spyOn(store, "history"),
      jest.spyOn(store, "webhooks"),
    ];
    const accept = { action: "accept", clientId: "c-1", ...why, ...given } as Resolution;
    await expect(payments.resolve(accept)).rejects.toMatchObject({ code });
    for (const method of asked) expect(method).not.toHaveBeenCalled();
  });

  it("with evidence_missing where no evidence shows that the payment is paid", async () => {
    const { payments } = await shopWith(pendingPayment());
    const accepting = payments.resolve({ action: "accept", clientId: "c-1", ...why });
    await expect(accepting).rejects.toMatchObject({ code: "evidence_missing" });
    expect(await payments.find("c-1")).toEqual(pendingPayment());
  });

  it("not for a reason of 1000 characters by a name of 128", async () => {
    const { payments } = await shopWith(pendingPayment());
    const long = { reason: "x".repeat(1000), by: "y".repeat(128) };
    const { resolution } = await payments.resolve({ action: "dismiss", clientId: "c-1", ...long });
    expect(resolution).toMatchObject(long);
  });
});
