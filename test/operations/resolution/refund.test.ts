import {
  type Evidence,
  MemoryStore,
  type Payment,
  type PaymentStore,
  type Resolution,
  storeOver,
  type TillkitError,
} from "tillkit";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { onEachDatabase } from "../../promises/processes/databases.js";
import { memoryAdapter } from "../../store/over/memory-adapter.js";
import { closeAll, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { shopBench } from "../shop-bench.js";

afterEach(closeAll);

const why = { reason: "one of two shirts came back", by: "Amina" };
const kmf = (value: string) => ({ value, currency: "KMF" });
const paid = (over: Partial<Payment> = {}) =>
  pendingPayment({ state: "completed", status: "completed", open: false, ...over });
const refund = (amount?: string, more: Partial<Resolution> = {}): Resolution => ({
  action: "refunded",
  clientId: "c-1",
  ...(amount !== undefined && { amount }),
  ...why,
  ...more,
});

/** Returns two processes over one store, the store, and what it has of the payment. */
async function shopOver(open: () => PaymentStore, created: Payment) {
  const store = open();
  await saved(store, { created: [created] });
  const [one, other] = [
    testKit({ store }),
    testKit({ store: store instanceof MemoryStore ? store : open() }),
  ];
  const events = async () => (await store.history("c-1")).events;
  return {
    store,
    one,
    other,
    refunds: async () => (await events()).filter(({ type }) => type === "payment.refunded"),
  };
}

const overAdapter = () => {
  const records = new Map();
  return () => storeOver(memoryAdapter(records));
};

describe.each([
  ["the store in memory", () => () => new MemoryStore()],
  ["a store over an adapter", overAdapter],
])("refunds in %s", (_, place) => {
  it("are refused where two at the same moment exceed what was paid", async () => {
    const { store, one, other, refunds } = await shopOver(place(), paid());
    const both = await Promise.allSettled([
      one.resolve(refund("1000", { key: "a" })),
      other.resolve(refund("1000", { key: "b" })),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(both.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "resolution_not_possible", message: expect.stringContaining("475 KMF") },
    });
    expect(await store.find("c-1")).toMatchObject({ refunded: "1000" });
    expect(await refunds()).toHaveLength(1);
  });

  it("are recorded once, however often the same one is asked for at the same moment", async () => {
    const { store, one, other, refunds } = await shopOver(place(), paid());
    for (const given of [refund("500"), refund()]) {
      const all = await Promise.all([one, other, one, other].map((kit) => kit.resolve(given)));
      expect(all.filter(({ resolved }) => resolved)).toHaveLength(1);
      expect(new Set(all.map(({ resolution }) => resolution.id)).size).toBe(1);
    }
    expect(await store.find("c-1")).toMatchObject({ refunded: "1475" });
    expect((await refunds()).map(({ payload }) => payload["refund"])).toEqual([
      { kind: "refund", amount: kmf("500"), before: kmf("1475"), rest: kmf("975") },
      { kind: "refund", amount: kmf("975"), before: kmf("975"), rest: kmf("0") },
    ]);
  });
});

onEachDatabase("refunds of a payment", (kind) => {
  const bench = shopBench(kind);

  it("never exceed what was paid, however many processes record them at the same moment", async () => {
    await bench.seed(paid());
    const kits = [bench.shop(), bench.shop(), bench.shop(), bench.shop()];
    const all = await Promise.allSettled(
      kits.map((kit, index) => kit.resolve(refund("600", { key: `k${index}` }))),
    );
    expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    const refused = all.flatMap((one) =>
      one.status === "rejected" ? [(one.reason as TillkitError).code] : [],
    );
    expect(refused).toEqual(["resolution_not_possible", "resolution_not_possible"]);
    expect(await bench.place.store.find("c-1")).toMatchObject({ state: "completed", refunded: "1200" });
    expect((await bench.recorded()).filter((type) => type === "payment.refunded")).toHaveLength(2);
  });

  it("record the same command once, and say so to all the others", async () => {
    await bench.seed(paid());
    const kits = [bench.shop(), bench.shop(), bench.shop()];
    const all = await Promise.all(kits.map((kit) => kit.resolve(refund("1475"))));
    expect(all.filter(({ resolved }) => resolved)).toHaveLength(1);
    const { resolutions } = await bench.place.store.history("c-1");
    expect(resolutions).toMatchObject([
      {
        action: "refunded",
        refund: { kind: "refund", amount: kmf("1475"), before: kmf("1475"), rest: kmf("0") },
      },
    ]);
    expect(await bench.recorded()).toEqual(["payment.refunded", "payment.resolved"]);
  });
});

describe("a refund", () => {
  const shop = async (over: Partial<Payment> = {}) => shopOver(() => new MemoryStore(), paid(over));

  it("reaches its handler with its amount and the rest, in the currency's scale", async () => {
    const { one } = await shop({ total: { value: "10.5", currency: "EUR" } });
    const told = new Promise((resolve) => one.on("payment.refunded", (event) => resolve(event)));
    await one.start();
    const evidence = {
      kind: "letter",
      document: "letter 7",
      total: { value: "3.50", currency: "EUR" },
    } as const;
    await one.resolve(refund(undefined, { evidence, reversal: true, key: "letter-7" }));
    expect(await told).toMatchObject({
      type: "payment.refunded",
      refund: {
        kind: "reversal",
        amount: { value: "3.50", currency: "EUR" },
        before: { value: "10.50", currency: "EUR" },
        rest: { value: "7.00", currency: "EUR" },
        key: "letter-7",
      },
      evidence,
      ...why,
      payment: { clientId: "c-1", state: "completed", refunded: "3.50" },
    });
  });

  it("is in the history with who, when, why, before and after", async () => {
    const { one } = await shop();
    await one.resolve(refund("500"));
    const { entries, payment } = await one.history("c-1");
    expect(payment).toMatchObject({ refunded: "500" });
    const entry = entries.find(({ kind }) => kind === "resolution");
    expect(entry).toMatchObject({ by: "Amina", refund: { before: kmf("1475"), rest: kmf("975") } });
    expect(entry!.text).toBe(
      "refunded by Amina: 500 KMF of 1475 KMF, 975 KMF left: one of two shirts came back",
    );
  });

  it("is another one with another key, reason or document, and the same one otherwise", async () => {
    const { one, refunds } = await shop();
    const evidence = (document: string) => ({ kind: "statement", document, total: kmf("100") }) as const;
    const given = [
      refund("100"),
      refund("100", { reason: "the other shirt" }),
      refund("100", { key: "r-1" }),
      refund("100", { evidence: evidence("may.csv, line 3") }),
      refund("100", { evidence: evidence("may.csv, line 4") }),
    ];
    for (const each of [...given, ...given]) await one.resolve(each);
    const again = await one.resolve(refund("100.0", { by: "Said" }));
    expect(again).toMatchObject({ resolved: false, resolution: { by: "Amina" } });
    expect(await refunds()).toHaveLength(given.length);
  });

  it("is no reversal, even with the same amount and reason, and says so", async () => {
    const { one } = await shop();
    await one.resolve(refund("100"));
    await expect(one.resolve(refund("100", { reversal: true }))).rejects.toMatchObject({
      code: "resolution_not_possible",
      message: expect.stringContaining("recorded as a refund already") as string,
    });
  });

  it("is refused with a key that another amount has", async () => {
    const { one } = await shop();
    await one.resolve(refund("100", { key: "r-1" }));
    await expect(one.resolve(refund("200", { key: "r-1" }))).rejects.toMatchObject({
      code: "resolution_not_possible",
      message: expect.stringContaining("100 KMF"),
    });
  });

  it("changes nothing in a dry run, which refuses what the real one would", async () => {
    const { one, store } = await shop();
    expect(await one.resolve(refund("500", { dryRun: true }))).toMatchObject({
      resolved: true,
      resolution: { refund: { rest: kmf("975") } },
    });
    await expect(one.resolve(refund("1476", { dryRun: true }))).rejects.toMatchObject({
      code: "resolution_not_possible",
    });
    expect(await store.find("c-1")).not.toHaveProperty("refunded");
    expect(await store.history("c-1")).toMatchObject({ resolutions: [], events: [] });
  });

  it.each<[string, Partial<Resolution>, string]>([
    ["an amount that is a number", { amount: 5 as never }, "resolution_invalid"],
    ["an amount of zero", { amount: "0" }, "resolution_invalid"],
    ["more decimals than the currency has", { amount: "5.5" }, "resolution_invalid"],
    ["more than was paid", { amount: "1476" }, "resolution_not_possible"],
    ["an empty key", { amount: "5", key: "" }, "resolution_invalid"],
    ["an amount of a dismissal", { action: "dismiss", amount: "5" }, "resolution_invalid"],
    [
      "evidence of another amount",
      { amount: "5", evidence: { kind: "letter", document: "d", total: kmf("6") } },
      "evidence_mismatch",
    ],
    [
      "evidence of another payment",
      { evidence: { kind: "letter", document: "d", total: kmf("6"), serviceId: "s-9" } },
      "evidence_mismatch",
    ],
  ])("is refused with %s", async (_, over, code) => {
    const { one, store } = await shop({ serviceId: "s-1" });
    await expect(one.resolve(refund(undefined, over))).rejects.toMatchObject({ code });
    expect(await store.history("c-1")).toMatchObject({ resolutions: [], events: [] });
  });

  it.each<[string, unknown]>([
    ["total.value", { kind: "letter", document: "p. 1" }],
    ["total.currency", { kind: "letter", document: "p. 1", total: { value: "5" } }],
    ["providerId", { kind: "letter", document: "p. 1", total: kmf("5"), providerId: 778 }],
    ["providerId", { kind: "letter", document: "p. 1", total: kmf("5"), providerId: null }],
    ["serviceId", { kind: "letter", document: "p. 1", total: kmf("5"), serviceId: 7 }],
  ])("is refused with evidence that has no usable %s, before anything is stored", async (field, evidence) => {
    const { one } = await shopOver(() => new MemoryStore(), paid());
    const refunding = one.resolve(refund(undefined, { evidence: evidence as Evidence }));
    await expect(refunding).rejects.toMatchObject({
      code: "evidence_invalid",
      message: expect.stringContaining(field),
    });
    expect(await one.find("c-1")).not.toHaveProperty("refunded");
  });

  it("is refused where nothing is left, also without an amount", async () => {
    const { one, refunds } = await shop();
    await one.resolve(refund(undefined, { key: "a" }));
    for (const amount of [undefined, "1"])
      await expect(one.resolve(refund(amount, { key: "b" }))).rejects.toMatchObject({
        code: "resolution_not_possible",
        message: expect.stringContaining("0 KMF are left"),
      });
    expect(await refunds()).toHaveLength(1);
  });

  it("of a payment that is not completed is refused", async () => {
    const { one } = await shop({ state: "pending", open: true });
    await expect(one.resolve(refund("5"))).rejects.toMatchObject({ code: "resolution_not_possible" });
  });

  it("goes up to what was received, where a person accepted another amount", async () => {
    const { one, store } = await shopOver(() => new MemoryStore(), pendingPayment());
    const { receiptId } = await one.receiveWebhook(signed(completedBody({ total: kmf("14750") })));
    await one.resolve({ action: "accept", receiptId, ...why });
    expect(await store.find("c-1")).toMatchObject({ total: kmf("1475"), received: kmf("14750") });
    const { resolution } = await one.resolve(refund("13275"));
    expect(resolution).toMatchObject({ refund: { rest: kmf("1475") } });
    await expect(one.resolve(refund("1476"))).rejects.toMatchObject({ code: "resolution_not_possible" });
  });

  it("finds nothing left where an earlier version recorded one without an amount", async () => {
    const { one, store } = await shop();
    const at = "2026-01-01T00:00:00.000Z";
    const old = { id: "refunded:c-1", clientId: "c-1", action: "refunded", ...why, at } as const;
    await saved(store, { resolutions: [old] });
    expect(await one.resolve(refund())).toMatchObject({ resolved: false });
    await expect(one.resolve(refund("1"))).rejects.toMatchObject({ code: "resolution_not_possible" });
  });

  it("of the first of two payments leaves nothing to pay back of the second, and of three one", async () => {
    const store = new MemoryStore();
    const created = ["c-1", "c-2", "c-3"].map((clientId) =>
      paid({ clientId, serviceId: `s-${clientId}`, ...(clientId !== "c-1" && { attention: "paid_twice" }) }),
    );
    await saved(store, { created });
    const payments = testKit({ store });
    const open = async () => (await payments.attention()).entries.map(({ id }) => id);
    await payments.resolve(refund("1000"));
    await payments.resolve(refund());
    expect(await open()).toEqual(["paid_twice:c-2", "paid_twice:c-3"]);
    await payments.resolve(refund(undefined, { clientId: "c-3" }));
    expect(await open()).toEqual([]);
    expect(await payments.find("c-2")).toMatchObject({ state: "completed" });
  });

  it("of the first payment leaves a second payment of another amount to a person", async () => {
    const store = new MemoryStore();
    const earlier = { clientId: "c-0", serviceId: "s-0", total: kmf("5"), replacedBy: "c-1" };
    await saved(store, { created: [paid(), paid({ ...earlier, attention: "paid_twice" })] });
    const payments = testKit({ store });
    await payments.resolve(refund());
    expect((await payments.attention()).entries).toMatchObject([{ id: "paid_twice:c-0" }]);
  });

  it("of a part leaves a withheld payment to a person, and the last one settles it", async () => {
    const { one } = await shop({ withheld: "unsettled" });
    expect((await one.resolve(refund("475"))).payment).toMatchObject({ withheld: "unsettled" });
    expect((await one.resolve(refund())).payment).toMatchObject({ withheld: "refunded", refunded: "1475" });
  });
});
