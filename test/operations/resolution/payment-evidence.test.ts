import { type Evidence, fieldsSignature, MemoryStore } from "tillkit";
import { keepClaim } from "../../../src/checkout/payment-claims.js";
import { saved } from "../../../src/store/exam/checks/steps.js";
import { closeAll, secret, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";

afterEach(closeAll);

const row: Evidence = {
  kind: "statement",
  document: "statement-2026-11.csv, line 14",
  total: { value: "1475", currency: "KMF" },
};
const accept = { action: "accept", clientId: "c-1", reason: "it was paid", by: "Amina" } as const;

async function shop(options: Parameters<typeof testKit>[0] = {}) {
  const store = new MemoryStore();
  await saved(store, { created: [pendingPayment()] });
  const payments = testKit({ store, ...options });
  return { store, payments };
}

describe("evidence", () => {
  it.each([
    ["of a lookup", { kind: "lookup" as const }],
    ["of a letter", { kind: "letter" as const }],
    ["whose document has 500 characters", { document: "x".repeat(500) }],
  ])("%s completes a payment, without any id", async (_, over) => {
    const { store, payments } = await shop();
    const { payment } = await payments.resolve({ ...accept, evidence: { ...row, ...over } });
    const { serviceId } = pendingPayment();
    expect(payment).toMatchObject({ state: "completed", serviceId });
    const { events } = await store.history("c-1");
    expect(events[0]).toMatchObject({ type: "payment.completed", payload: { verified: { id: serviceId } } });
  });

  it("needs no lookup, also where completions of signed fields wait for one", async () => {
    const signature = fieldsSignature({ secret, merchantId: "m-1" });
    const { payments } = await shop({ signature, lookup: true, confirm: "lookup" });
    const { payment } = await payments.resolve({ ...accept, evidence: row });
    expect(payment).toMatchObject({ state: "completed" });
  });

  it.each<[string, string, unknown]>([
    ["evidence_invalid", "must be an object", null],
    [
      "evidence_invalid",
      "kind must be one of statement, lookup, letter, webhook",
      { ...row, kind: "rumour" },
    ],
    ["evidence_invalid", "document must", { ...row, document: "x".repeat(501) }],
    ["evidence_invalid", "document must", { ...row, document: 14 }],
    ["evidence_invalid", "total.value", { ...row, total: { value: 1475, currency: "KMF" } }],
    ["evidence_invalid", "providerId must be", { ...row, providerId: 778 }],
    [
      "evidence_mismatch",
      "total.value: expected 1475, got 9",
      { ...row, total: { ...row.total, value: "9" } },
    ],
  ])("is refused with %s, and says why: %s", async (code, message, evidence) => {
    const { payments } = await shop();
    await expect(payments.resolve({ ...accept, evidence: evidence as Evidence })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message) as string,
    });
    expect(await payments.find("c-1")).toEqual(pendingPayment());
  });

  const other = pendingPayment({ clientId: "c-2", serviceId: "s-2", reference: "o-2" });
  const used = {
    code: "evidence_mismatch",
    message: expect.stringContaining("the provider's number MVK 778 belongs to c-1") as string,
  };

  it("is refused with a number by which another payment was accepted, also if it is written in another way", async () => {
    const { store, payments } = await shop();
    await saved(store, { created: [other] });
    await payments.resolve({ ...accept, evidence: { ...row, providerId: "mvk-778" } });
    const again = { ...accept, clientId: "c-2", evidence: { ...row, providerId: "MVK 778" } };
    await expect(payments.resolve({ ...again, dryRun: true })).rejects.toMatchObject(used);
    await expect(payments.resolve(again)).rejects.toMatchObject(used);
    expect(await payments.find("c-2")).toEqual(other);
    const { payment } = await payments.resolve({ ...again, evidence: { ...row, providerId: "MVK-779" } });
    expect(payment).toMatchObject({ state: "completed" });
  });

  it("is refused with such a number also after many customers have claimed it", async () => {
    const { store, payments } = await shop();
    const claimants = Array.from({ length: 45 }, (_, index) =>
      pendingPayment({ clientId: `d-${index}`, serviceId: `t-${index}`, reference: `p-${index}` }),
    );
    await saved(store, { created: [other, ...claimants] });
    const claim = { number: "MVK-778", at: other.createdAt };
    for (const one of claimants.slice(0, 20)) await keepClaim(store, one, claim);
    await payments.resolve({ ...accept, evidence: { ...row, providerId: "MVK 778" } });
    for (const one of [...claimants, other]) await keepClaim(store, one, claim);
    const again = { ...accept, clientId: "c-2", evidence: { ...row, providerId: "MVK 778" } };
    await expect(payments.resolve(again)).rejects.toMatchObject(used);
  });

  it("is refused with a long number by which another payment was accepted", async () => {
    const { store, payments } = await shop();
    await saved(store, { created: [other] });
    const evidence = { ...row, providerId: "0123456789abcdef".repeat(4) };
    await payments.resolve({ ...accept, evidence });
    const { code } = used;
    await expect(payments.resolve({ ...accept, clientId: "c-2", evidence })).rejects.toMatchObject({ code });
  });

  it("is refused with a number that the service reported for another completed payment", async () => {
    const { store, payments } = await shop();
    await saved(store, { created: [other] });
    await payments.receiveWebhook(signed(completedBody({ providerId: "MVK 778" })));
    const again = { ...accept, clientId: "c-2", evidence: { ...row, providerId: "MVK 778" } };
    await expect(payments.resolve(again)).rejects.toMatchObject(used);
  });

  it.each([
    ["MVK-778", "mvk 778"],
    ["MVK778", "MVK-778"],
    ["HOL-C0FFEE42", "holc0ffee42"],
    ["mvk/778", "MVK.778"],
    ["99812", "99 812"],
    ["7", "7"],
  ])(
    "is refused with a number that was reported as %s, and is written as %s",
    async (providerId, written) => {
      const { store, payments } = await shop();
      await saved(store, { created: [other] });
      await payments.receiveWebhook(signed(completedBody({ providerId })));
      const again = { ...accept, clientId: "c-2", evidence: { ...row, providerId: written } };
      await expect(payments.resolve(again)).rejects.toMatchObject({ code: used.code });
      expect(await payments.find("c-2")).toEqual(other);
    },
  );

  it("is accepted with a number that customers of other payments gave, and that shows a refund", async () => {
    const { store, payments } = await shop();
    const paid = pendingPayment({ clientId: "c-2", serviceId: "s-2", reference: "o-2", state: "completed" });
    const third = { ...paid, clientId: "c-3", serviceId: "s-3", reference: "o-3" };
    await saved(store, {
      created: [paid, third].map((one) => ({ ...one, status: "completed" as const, open: false })),
    });
    await keepClaim(store, paid, { number: "MVK 778", at: paid.createdAt });
    const evidence = { ...row, providerId: "MVK 778" };
    await payments.resolve({ ...accept, action: "refunded", clientId: "c-2", evidence });
    expect((await payments.resolve({ ...accept, evidence })).payment).toMatchObject({ state: "completed" });
    await payments.resolve({ ...accept, action: "refunded", clientId: "c-3", evidence });
  });
});
