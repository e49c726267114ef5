import { makeReturnToken } from "../../src/checkout/return-token.js";
import { newestAttempt } from "../../src/model/attempts.js";
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
