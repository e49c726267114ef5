import { type Payment } from "tillkit";
import { makeReturnToken } from "../../src/checkout/return-token.js";
import {
  firstPaid,
  isOfShop,
  isOtherTransfer,
  isPaidBack,
  newestAttempt,
  paysOrder,
  reportedTotal,
  sameTotal,
} from "../../src/model/attempts.js";
import { type PaymentReport } from "../../src/model/payment-report.js";
import { until } from "../promises/processes/members.js";
import { onEachStore } from "../operations/attention/each-store.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";

onEachStore("an order that was paid three times", (bench) => {
  it("has one first payment: in each event, and on the page of an attempt that was not paid", async () => {
    let now = Date.parse("2026-11-20T10:00:00.000Z");
    const payments = bench.shop({ now: () => new Date((now += 1000)) });
    const { token, hash } = makeReturnToken("c-4");
    const attempt = (n: number, over = {}) =>
      pendingPayment({ clientId: `c-${n}`, serviceId: `s-${n}`, open: false, ...over });
    const left = attempt(4, { state: "canceled", status: "canceled", returnKeyHash: hash });
    const created = [attempt(1), attempt(2), attempt(3), left];
    await bench.store.transaction((tx) => bench.store.save(tx, { created }));
    const twice: string[] = [];
    payments.on("payment.paid_twice", ({ payment, firstClientId }) => {
      twice.push(`${payment.clientId} after ${firstClientId}`);
    });
    await payments.start({ keepAlive: false });
    for (const n of [3, 1, 2])
      await payments.receiveWebhook(signed(completedBody({ clientId: `c-${n}`, id: `s-${n}` })));
    await until(async () => twice.length === 2, "both events");
    expect(twice).toEqual(["c-1 after c-3", "c-2 after c-3"]);

    const page = () => payments.handleReturn({ kind: "cancel", token, visit: false });
    expect(await page()).toMatchObject({ state: "paid", payment: { clientId: "c-3" } });
    const total = { value: "1475", currency: "KMF" };
    await expect(payments.create({ reference: "order-1", total })).rejects.toThrow("was paid by c-3");
    await payments.resolve({ action: "refunded", clientId: "c-3", by: "Amina", reason: "sold out" });
    expect(await page()).toMatchObject({ state: "paid", payment: { clientId: "c-1" } });
  });
});

it("the newest attempt beside an adopted payment is none that another one replaced", () => {
  const adopted = pendingPayment({ clientId: "c-3" });
  const newest = pendingPayment({ clientId: "c-2", returnKeyHash: "hash-2" });
  const replaced = pendingPayment({ clientId: "c-1", returnKeyHash: "hash-1", replacedBy: "c-2" });
  expect(newestAttempt(adopted, [replaced, newest, adopted])).toBe(newest);
});

it("the newest of adopted payments is the one that was adopted last, unless an attempt replaced it", () => {
  const adopted = (clientId: string, second: number, over: Partial<Payment> = {}) =>
    pendingPayment({ clientId, createdAt: `2026-11-20T10:00:0${second}.000Z`, ...over });
  const [first, last] = [adopted("c-9", 1), adopted("c-1", 2)];
  const replaced = adopted("c-2", 3, { replacedBy: "c-0" });
  for (const paid of [first, last]) {
    expect(newestAttempt(paid, [first, replaced, last])).toBe(last);
    expect(newestAttempt(paid, [last, first])).toBe(last);
  }
  expect(newestAttempt(first, [])).toBe(first);
  const sameTime = adopted("c-8", 1);
  for (const all of [
    [first, sameTime],
    [sameTime, first],
  ])
    expect(newestAttempt(sameTime, all)).toBe(first);
});

describe("a payment of an order", () => {
  const paid = (n: number, over: Partial<Payment> = {}) =>
    pendingPayment({
      clientId: `c-${n}`,
      state: "completed",
      completedAt: `2026-11-20T10:0${n}:00.000Z`,
      ...over,
    });

  it("is its first one by its time, unless it is marked as the second one, or does not pay the order", () => {
    const [first, second] = [paid(1), paid(2)];
    expect(firstPaid([second, first])).toBe(first);
    expect(firstPaid([paid(1, { attention: "paid_twice" }), second])).toBe(second);
    for (const withheld of ["unsettled", "refunded"] as const) {
      expect(paysOrder(paid(1, { withheld }))).toBe(false);
      expect(firstPaid([paid(1, { withheld }), second])).toBe(second);
    }
    expect(paysOrder(first)).toBe(true);
    expect(firstPaid([pendingPayment()])).toBeUndefined();
  });

  it("is paid back when all that was received has gone back", () => {
    const received = { value: "1470", currency: "KMF" };
    expect(isPaidBack(paid(1))).toBe(false);
    expect(isPaidBack(paid(1, { refunded: "1475.00" }))).toBe(true);
    expect(isPaidBack(paid(1, { received, refunded: "1470" }))).toBe(true);
    expect(isPaidBack(paid(1, { received, refunded: "1475" }))).toBe(false);
  });

  it("has a total of its own value and currency", () => {
    const total = { value: "1475", currency: "KMF" };
    expect(sameTotal(total, { value: "1475.0", currency: "KMF" })).toBe(true);
    expect(sameTotal(total, { value: "1475", currency: "EUR" })).toBe(false);
    expect(sameTotal(total, { value: "1470", currency: "KMF" })).toBe(false);
  });

  it("is of the shop by its prefix, and of any shop if it was adopted", () => {
    expect(isOfShop(paid(1, { returnKeyHash: "hash" }), "c-")).toBe(true);
    expect(isOfShop(paid(1, { returnKeyHash: "hash" }), "d-")).toBe(false);
    expect(isOfShop(paid(1), "d-")).toBe(true);
    expect(isOfShop(paid(1, { returnKeyHash: "hash" }))).toBe(true);
  });
});

describe("a report of a transfer", () => {
  const report = (id: string, verified = {}, untrusted = {}) =>
    ({ kind: "payment", verified: { id, ...verified }, untrusted }) as unknown as PaymentReport;

  it("is another one with another service id or number, signed or not, and the same one without", () => {
    const one = report("s-1", { providerId: "MVK-1" });
    expect(isOtherTransfer(one, report("s-1", { providerId: "MVK-1" }))).toBe(false);
    expect(isOtherTransfer(one, report("s-1"))).toBe(false);
    expect(isOtherTransfer(one, undefined)).toBe(false);
    expect(isOtherTransfer(one, report("s-2", { providerId: "MVK-1" }))).toBe(true);
    expect(isOtherTransfer(one, report("s-1", { providerId: "MVK-2" }))).toBe(true);
    expect(isOtherTransfer(one, report("s-1", {}, { providerId: "MVK-2" }))).toBe(true);
    expect(isOtherTransfer(undefined, one)).toBe(true);
  });

  it("has an amount only if it is one", () => {
    const total = (value: string) =>
      reportedTotal(report("s-1", { "total.value": value, "total.currency": "KMF" }));
    expect(total("1475")).toEqual({ value: "1475", currency: "KMF" });
    for (const value of ["0", "-5", "1475.5"]) expect(total(value)).toBeUndefined();
  });
});

it("the newest attempt is the end of the replacements, also where they form a circle", () => {
  const attempt = (n: number, replacedBy?: string) =>
    pendingPayment({ clientId: `c-${n}`, returnKeyHash: "hash", ...(replacedBy && { replacedBy }) });
  const all = [attempt(1, "c-2"), attempt(2, "c-3"), attempt(3)];
  expect(newestAttempt(all[0]!, all)).toBe(all[2]);
  const circle = [attempt(1, "c-2"), attempt(2, "c-1")];
  expect(circle).toContain(newestAttempt(circle[0]!, circle));
});
