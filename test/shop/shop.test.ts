import { PaymentCreationError, TillkitError } from "tillkit";
import { type SqlTx } from "tillkit/sql";
import { Orders } from "../../examples/express-shop/src/orders.js";
import { problemOf } from "../../examples/express-shop/src/problems.js";
import { goToCheckout, openShop, placeOrder, post, type OpenShop } from "./open-shop.js";
import { settlesTo } from "./settles-to.js";

describe("the example shop", () => {
  let shop: OpenShop;
  beforeEach(async () => {
    shop = await openShop();
  });
  afterEach(() => shop.close());

  async function read(path: string, headers: Record<string, string> = {}) {
    const answer = await fetch(`${shop.url}${path}`, { headers });
    return { status: answer.status, headers: answer.headers, page: await answer.text() };
  }

  it("gives each order an id that cannot be guessed from another", async () => {
    const ids = [await placeOrder(shop), await placeOrder(shop), await placeOrder(shop)];
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{4}$/);
    expect(new Set(ids.map((id) => id.slice(0, 4))).size).toBe(3);
  });

  it("shows an order's page to everybody with its address, and the list only to the shopkeeper", async () => {
    const order = await placeOrder(shop);
    expect(await read(`/orders/${order}`)).toMatchObject({
      status: 200,
      page: expect.stringContaining(order),
    });
    const strangers: Record<string, string>[] = [
      {},
      { authorization: `Basic ${btoa("keeper:wrong")}` },
      { authorization: "Basic" },
    ];
    for (const headers of strangers) {
      const { status, page } = await read("/desk", headers);
      expect(status).toBe(401);
      expect(page).not.toContain(order);
    }
    const authorization = `Basic ${btoa(`keeper:${shop.keeperPassword}`)}`;
    expect(await read("/desk", { authorization })).toMatchObject({
      status: 200,
      page: expect.stringContaining(order),
    });
  });

  it("shows its pages while a handler has the writer of the database", async () => {
    const order = await placeOrder(shop);
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    const holds = new Promise<void>((resolve) => {
      const slow = async (_event: unknown, { tx }: { tx: SqlTx }) => {
        await tx.query("update shelf set pieces = pieces");
        resolve();
        await released;
      };
      shop.payments.onPaymentCompleted(slow, { name: "slow" });
    });
    await goToCheckout(shop, order);
    await shop.sandbox.pay(shop.sandbox.payments()[0]!.id);
    await holds;
    const authorization = `Basic ${btoa(`keeper:${shop.keeperPassword}`)}`;
    for (const page of ["/", `/orders/${order}`, "/desk"])
      expect(await read(page, { authorization })).toMatchObject({ status: 200 });
    release();
  });

  it("shows a handler's run that is dead at the desk until it is revived, whichever process ran it", async () => {
    const order = await placeOrder(shop);
    const failed = new Promise((resolve) => shop.payments.on("dispatch.failed", resolve));
    let isBroken = true;
    const fulfil = () => {
      if (isBroken) throw new Error("the printer has no paper");
    };
    shop.payments.onPaymentCompleted(fulfil, { name: "printer" });
    await goToCheckout(shop, order);
    await shop.sandbox.pay(shop.sandbox.payments()[0]!.id);
    await failed;
    // As after all of its runs, which are hours apart.
    const sql =
      "update tillkit_dispatches set state = 'dead', dead = 1, open_handler = null, due_at = null, error = 'the printer has no paper'";
    await shop.payments.store.transaction((tx) => tx.query(`${sql} where handler = 'printer'`));
    const authorization = `Basic ${btoa(`keeper:${shop.keeperPassword}`)}`;
    expect((await read("/desk", { authorization })).page).toContain("printer: the printer has no paper");
    isBroken = false;
    await shop.payments.replayDispatches({ dryRun: false });
    expect((await read("/desk", { authorization })).page).not.toContain("the printer has no paper");
  });

  it("redirects a customer who wants to pay a paid order to the order", async () => {
    const order = await placeOrder(shop);
    await goToCheckout(shop, order);
    await shop.sandbox.pay(shop.sandbox.payments()[0]!.id);
    await settlesTo(async () => (await shop.orders.find(order))?.paidAt !== undefined, true);
    const answer = await post(`${shop.url}/checkout/${order}`);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, `/orders/${order}`]);
    expect(shop.sandbox.payments()).toHaveLength(1);
  });

  it("does not ask a customer again who paid an earlier amount, and says that the shop is looking at it", async () => {
    const order = await placeOrder(shop);
    await goToCheckout(shop, order);
    const sql = "update orders set value = '147500' where id = ?";
    await shop.payments.store.transaction((tx) => tx.query(sql, [order]));
    await goToCheckout(shop, order);
    await shop.sandbox.pay(shop.sandbox.payments()[0]!.id);
    const answer = await post(`${shop.url}/checkout/${order}`);
    const page = await answer.text();
    expect(answer.status).toBe(409);
    expect(page).toContain("We have received a payment of another amount");
    expect(page).not.toContain("Nothing was charged");
    expect(page).not.toContain(`action="/checkout/${order}"`);
    expect(shop.sandbox.payments()).toHaveLength(2);
  });

  it("shows a helpful page when the payment service cannot be reached, and keeps the order", async () => {
    const order = await placeOrder(shop);
    await shop.sandbox.close();
    const answer = await post(`${shop.url}/checkout/${order}`);
    const page = await answer.text();
    expect(answer.status).toBe(503);
    expect(page).toContain("The payment could not be started");
    expect(page).toContain(`action="/checkout/${order}"`);
    expect((await read(`/orders/${order}`)).page).toContain("Not paid yet");
  });

  it.each([
    ["creation-error", 503, "We do not know yet whether your payment was started"],
    ["token-down", 503, "Nothing was charged, and your order is kept"],
  ])("says what is known after %s", async (scenario, status, told) => {
    const order = await placeOrder(shop);
    shop.sandbox.scenario(scenario);
    const answer = await post(`${shop.url}/checkout/${order}`);
    expect([answer.status, (await answer.text()).includes(told)]).toEqual([status, true]);
  });

  it.each([
    [new TillkitError("already_paid", "-"), "alreadyPaid"],
    [new TillkitError("paid_other_amount", "-"), "held"],
    [new TillkitError("creation_pending_elsewhere", "-"), "busy"],
    [new PaymentCreationError("creation_refused", "-", { certainty: "failed" }), "refused"],
    [new PaymentCreationError("creation_timeout", "-", { certainty: "uncertain" }), "uncertain"],
    [new PaymentCreationError("creation_unreachable", "-", { certainty: "failed" }), "unavailable"],
    [new PaymentCreationError("access_token_refused", "-", { certainty: "failed" }), "unavailable"],
    [new TillkitError("amount_invalid", "-"), undefined],
    [new Error("a fault of the shop"), undefined],
  ])("has an answer of its own for %s", (error, problem) => {
    expect(problemOf(error)).toBe(problem);
  });

  it("is ready and alive", async () => {
    expect([(await read("/ready")).status, (await read("/alive")).status]).toEqual([200, 200]);
  });

  it("keeps its tables when it is opened again", async () => {
    const order = await placeOrder(shop);
    const reopened = new Orders(shop.payments.store);
    await reopened.open();
    expect(await reopened.find(order)).toMatchObject({ id: order });
    expect((await reopened.stock()).get("cloves")).toBe(11);
  });

  it("sells nothing that is sold out", async () => {
    for (let sold = 0; sold < 12; sold += 1) await placeOrder(shop);
    const answer = await post(`${shop.url}/orders`, { product: "cloves" });
    expect(answer.headers.get("location")).toBe("/");
    expect((await read("/")).page).toContain("Sold out");
  });

  it("sells only its products", async () => {
    for (const product of ["constructor", "", "<script>"]) {
      expect((await post(`${shop.url}/orders`, { product })).status).toBe(404);
    }
    expect((await post(`${shop.url}/orders`)).status).toBe(404);
    expect((await post(`${shop.url}/checkout/0000-0000-0000`)).status).toBe(404);
  });

  it("escapes the requested path", async () => {
    const { status, page } = await read("/orders/%3Cscript%3Ealert(1)%3C%2Fscript%3E");
    expect(status).toBe(404);
    expect(page).not.toContain("<script");
  });

  it("runs and loads only its own content", async () => {
    const { headers } = await read("/");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
    );
  });

  it("is in French for customers who prefer French, from the front page to the payment", async () => {
    const french = { "accept-language": "fr-KM,fr;q=0.9,en;q=0.5" };
    expect((await read("/", french)).page).toContain('<html lang="fr">');
    const order = await placeOrder(shop);
    await fetch(`${shop.url}/checkout/${order}`, { method: "POST", redirect: "manual", headers: french });
    const { clientId } = shop.sandbox.payments()[0]!;
    expect(await shop.payments.find(clientId)).toMatchObject({ reference: order, locale: "fr" });
  });

  it("does not ask for payment while an approved payment waits for its webhook", async () => {
    const order = await placeOrder(shop);
    shop.sandbox.holdWebhooks();
    const checkout = await goToCheckout(shop, order);
    const approved = await post(checkout, { provider: "MVK", action: "approve" });
    await fetch(approved.headers.get("location")!);
    expect((await read(`/orders/${order}`)).page).toContain("Waiting for confirmation");
    shop.sandbox.releaseWebhooks();
    await settlesTo(async () => (await read(`/orders/${order}`)).page.includes("Thank you!"), true);
  });
});
