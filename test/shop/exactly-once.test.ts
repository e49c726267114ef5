import { goToCheckout, openShop, placeOrder, type OpenShop } from "./open-shop.js";
import { settlesTo } from "./settles-to.js";

describe("the tables of the example shop", () => {
  let shop: OpenShop;
  beforeEach(async () => {
    shop = await openShop();
  });
  afterEach(() => shop.close());

  async function paidOrder(): Promise<string> {
    const order = await placeOrder(shop);
    await goToCheckout(shop, order);
    await shop.sandbox.pay(shop.sandbox.payments().at(-1)!.id);
    await settlesTo(async () => (await shop.orders.find(order))?.paidAt !== undefined, true);
    return order;
  }

  it("have one ledger row, and one piece less, after twenty copies of one webhook", async () => {
    const order = await paidOrder();
    const [delivery] = shop.sandbox.deliveries;
    const copies = await Promise.all(
      Array.from({ length: 20 }, () => shop.sandbox.deliverAgain(delivery!.id)),
    );
    expect(copies.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));

    // This event is dispatched after any events of the copies.
    const next = await paidOrder();
    expect((await shop.orders.ledger()).map(({ orderId }) => orderId).toSorted()).toEqual(
      [order, next].toSorted(),
    );
    expect((await shop.orders.stock()).get("cloves")).toBe(10);
    expect(await shop.orders.attention()).toEqual([]);
  });

  it("have one ledger row when twenty copies arrive first", async () => {
    const order = await placeOrder(shop);
    await goToCheckout(shop, order);
    const [payment] = shop.sandbox.payments();
    // One event twenty times: the overrides replace all times.
    const overrides = {
      timestamp: "2026-01-02T03:04:05.678Z",
      data: { submittedAt: "2026-01-02T03:04:05.000Z" },
    };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => shop.sandbox.sendWebhook({ payment: payment!.id, overrides })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    await settlesTo(async () => (await shop.orders.ledger()).length > 0, true);

    const next = await paidOrder();
    expect((await shop.orders.ledger()).map(({ orderId }) => orderId).toSorted()).toEqual(
      [order, next].toSorted(),
    );
    expect((await shop.orders.stock()).get("cloves")).toBe(10);
  });

  it("have a changed amount on the shopkeeper's list, and the order unpaid", async () => {
    const order = await placeOrder(shop);
    await goToCheckout(shop, order);
    const overrides = { data: { total: { value: "1", currency: "KMF" } } };
    const [payment] = shop.sandbox.payments();
    await shop.sandbox.sendWebhook({ payment: payment!.id, overrides });
    await settlesTo(
      async () =>
        (await shop.orders.attention()).map(({ kind, orderId, detail }) => ({ kind, orderId, detail })),
      [{ kind: "payment.mismatched", orderId: order, detail: "total.value: 1, not 1475" }],
    );
    expect(await shop.orders.find(order)).toMatchObject({ paidAt: undefined });
    expect(await shop.orders.ledger()).toEqual([]);
  });
});
