import request from "supertest";
import { MemoryStore, type MemoryTx, type ReturnOptions } from "tillkit";
import { makeReturnToken } from "../../src/checkout/return-token.js";
import { appOf, closeAll, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed, statusBody } from "../support/webhooks.js";

afterEach(closeAll);

/** A kit with a payment that has a return address. */
async function returning(returns: ReturnOptions = {}, overrides: Parameters<typeof pendingPayment>[0] = {}) {
  const { token, hash } = makeReturnToken("c-1");
  const store = new MemoryStore();
  const clock = { now: new Date("2026-11-20T10:00:00.000Z") };
  const payments = testKit<never, MemoryTx>({ store, returns, now: () => clock.now });
  const payment = pendingPayment({ returnKeyHash: hash, ...overrides });
  await store.transaction((tx) => store.save(tx, { created: [payment] }));
  const app = appOf(payments);
  const get = (kind: string, path = token) => request(app).get(`/payments/${kind}/${path}`);
  return { payments, app, token, get, clock, store };
}

describe("a success return", () => {
  it("says confirming, and proves nothing", async () => {
    const { payments, get } = await returning();
    const response = await get("success");
    expect(response.status).toBe(200);
    expect(response.text).toContain('data-state="confirming"');
    expect(response.text).toContain("Confirming your payment");
    expect(await payments.find("c-1")).toMatchObject({ state: "pending", open: true });
  });

  it("says paid once the webhook is recorded, as does the state that the page asks for", async () => {
    const { payments, get, token } = await returning();
    expect((await get("success", `${token}/state`)).body).toMatchObject({
      state: "confirming",
      final: false,
    });
    await payments.receiveWebhook(signed(completedBody()));
    expect((await get("success")).text).toContain('data-state="paid"');
    expect((await get("success", `${token}/state`)).body).toMatchObject({
      state: "paid",
      title: "Payment received",
      final: true,
    });
  });

  it("reloads itself without scripts only while the payment is undecided", async () => {
    const { payments, get } = await returning();
    expect((await get("success")).text).toContain('http-equiv="refresh"');
    await payments.receiveWebhook(signed(completedBody()));
    expect((await get("success")).text).not.toContain('http-equiv="refresh"');
  });

  it("says that the shop checks a payment of another amount, and later that it was returned", async () => {
    const { payments, get, store } = await returning({}, { open: false, replacedBy: "c-2" });
    const newest = pendingPayment({
      clientId: "c-2",
      serviceId: "s-2",
      total: { value: "9", currency: "KMF" },
    });
    await store.transaction((tx) => store.save(tx, { created: [newest] }));
    await payments.receiveWebhook(signed(completedBody()));
    for (const kind of ["success", "cancel"])
      expect((await get(kind)).text).toContain('data-state="mismatch"');
    await payments.resolve({ action: "refunded", clientId: "c-1", reason: "too little", by: "Amina" });
    for (const kind of ["success", "cancel"]) {
      expect((await get(kind)).text).toContain('data-state="refunded"');
      expect((await get(kind)).text).toContain("Payment returned");
    }
  });

  it("says failed when the service reported that", async () => {
    const { payments, get } = await returning();
    await payments.receiveWebhook(signed(statusBody("failed")));
    expect((await get("success")).text).toContain('data-state="failed"');
  });

  it("says after a minute that it takes longer, that nobody need pay again, and which number to keep", async () => {
    const { get, clock, token } = await returning({ contact: "help@shop.example" });
    await get("success");
    clock.now = new Date("2026-11-20T10:00:59.999Z");
    expect((await get("success")).text).toContain('data-state="confirming"');
    clock.now = new Date("2026-11-20T10:01:00.000Z");
    const { text } = await get("success");
    expect(text).toContain('data-state="delayed"');
    expect(text).toMatch(/you need not pay again. Keep your order number: order-1/);
    expect(text).toContain('<a href="mailto:help@shop.example">');
    expect(text).toContain('http-equiv="refresh"');
    expect((await get("success", `${token}/state`)).body).toMatchObject({ state: "delayed", final: false });
  });

  it("says after a quarter of an hour that it no longer reloads itself, until it is paid", async () => {
    const { payments, get, clock } = await returning();
    await get("success");
    clock.now = new Date("2026-11-20T10:15:00.000Z");
    const { text } = await get("success");
    expect(text).toContain("data-ended");
    expect(text).not.toContain('http-equiv="refresh"');
    await payments.receiveWebhook(signed(completedBody()));
    expect((await get("success")).text).not.toContain('data-ended=""');
  });

  it.each(["success", "cancel"])(
    "says on %s neither paid nor failed after a mismatch, until a person dismisses it",
    async (kind) => {
      const { payments, get } = await returning();
      await payments.receiveWebhook(signed(completedBody({ total: { value: "14", currency: "KMF" } })));
      await payments.receiveWebhook(signed(statusBody("failed")));
      const { text } = await get(kind);
      expect(text).toContain('data-state="mismatch"');
      expect(text).toContain("Please do not pay again.");
      expect(text).not.toMatch(/Payment received|not completed|Payment canceled/);
      const { entries } = await payments.history("c-1");
      const { receiptId } = entries.find(
        (each) => each.kind === "decision" && each.outcome === "mismatch",
      ) as {
        receiptId: string;
      };
      await payments.resolve({ action: "dismiss", receiptId, reason: "A test of the service.", by: "Amina" });
      expect((await get(kind)).text).toContain('data-state="failed"');
    },
  );

  it("says mismatch also where a person had dismissed the webhook before the payment was adopted", async () => {
    const { token, hash } = makeReturnToken("c-1");
    const store = new MemoryStore();
    const payments = testKit({ store });
    const { receiptId } = await payments.receiveWebhook(signed(completedBody()));
    await payments.resolve({ action: "dismiss", receiptId, reason: "Of another shop.", by: "Amina" });
    const created = [pendingPayment({ returnKeyHash: hash, total: { value: "2000", currency: "KMF" } })];
    await store.transaction((tx) => store.save(tx, { created }));
    await payments.adopt({
      clientId: "c-1",
      reference: "order-1",
      total: { value: "2000", currency: "KMF" },
    });
    const view = await payments.handleReturn({ kind: "success", token, visit: false });
    expect(view).toMatchObject({ state: "mismatch" });
  });

  it.each(["failed", "canceled"])(
    "says paid where the attempt is %s, and another attempt of the order was paid",
    async (status) => {
      const { payments, get } = await returning();
      await payments.receiveWebhook(signed(statusBody(status)));
      const created = [pendingPayment({ clientId: "c-2", serviceId: "s-2", open: false })];
      await payments.store.transaction((tx) => payments.store.save(tx, { created }));
      await payments.receiveWebhook(signed(completedBody({ clientId: "c-2", id: "s-2" })));
      expect((await get("success")).text).toContain('data-state="paid"');
    },
  );

  it("is noted in the payment's history the first time, but not by a HEAD request or a prefetch", async () => {
    const { payments, app, get, token, clock } = await returning();
    await request(app).head(`/payments/success/${token}`).expect(200);
    await get("success").set("Sec-Purpose", "prefetch;prerender").expect(200);
    expect(await payments.find("c-1")).not.toHaveProperty("successReturnedAt");
    await get("success").expect(200);
    clock.now = new Date("2026-11-20T11:00:00.000Z");
    await get("success").expect(200);
    expect(await payments.find("c-1")).toMatchObject({ successReturnedAt: "2026-11-20T10:00:00.000Z" });
  });
});

describe("a cancel return", () => {
  it("says canceled, leaves the decision to the webhook, and closes the attempt for reuse", async () => {
    const { payments, get } = await returning();
    expect((await get("cancel")).text).toContain('data-state="canceled"');
    expect(await payments.find("c-1")).toMatchObject({ state: "pending", open: false });
    await payments.receiveWebhook(signed(completedBody()));
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
    expect((await get("cancel")).text).toContain('data-state="paid"');
  });

  it("says paid where another attempt of the order was paid", async () => {
    const { payments, get } = await returning();
    await get("cancel");
    const { store } = payments;
    const total = { value: "2950", currency: "KMF" };
    const second = pendingPayment({ clientId: "c-2", serviceId: "s-2", total, returnKeyHash: "h" });
    await store.transaction((tx) => store.save(tx, { created: [second] }));
    await payments.receiveWebhook(signed(completedBody({ clientId: "c-2", id: "s-2", total })));
    const page = (await get("cancel")).text;
    expect(page).toContain('data-state="paid"');
    // What the customer has paid, with its number.
    expect(page).toContain('<dd id="amount">2,950\u00a0KMF</dd>');
    expect(page).toContain('<dd id="receipt">MVK-778</dd>');
    expect((await get("success")).text).toContain('data-state="confirming"');
  });

  it("makes a later completion late", async () => {
    const { payments, get } = await returning();
    const late = new Promise((resolve) => payments.on("payment.paid_late", resolve));
    await payments.start({ keepAlive: false });
    await get("cancel");
    await payments.receiveWebhook(signed(completedBody()));
    expect(await late).toMatchObject({ because: "canceled" });
  });
});

describe("a return address", () => {
  it.each([
    ["forged", "c-1~AAAAAAAAAAAAAAAAAAAAAA"],
    ["of an unknown payment", makeReturnToken("c-9").token],
    ["without its random part", "c-1"],
    ["with markup", "%3Cscript%3Ealert(1)%3C%2Fscript%3E"],
    ["that climbs", "..%2f..%2fetc%2fpasswd"],
  ])("that is %s gets a 404 page that repeats nothing of it", async (_, token) => {
    const { get } = await returning();
    const response = await get("success", token);
    expect(response.status).toBe(404);
    expect(response.text).toContain("Page not found");
    expect(response.text).not.toContain("alert(1)");
    expect((await get("cancel", `${token}/state`)).status).toBe(404);
  });

  it("is valid for 30 days", async () => {
    const { get, clock } = await returning({}, { createdAt: "2026-11-20T10:00:00.000Z" });
    clock.now = new Date("2026-12-20T09:59:59.000Z");
    expect((await get("success")).status).toBe(200);
    clock.now = new Date("2026-12-20T10:00:00.000Z");
    expect((await get("success")).status).toBe(404);
  });

  it("ignores query parameters, repeated and nested ones too", async () => {
    const { get, token } = await returning();
    const response = await get("success", `${token}?state=paid&state[x]=1&next=https://evil.example`);
    expect(response.text).toContain('data-state="confirming"');
    expect(response.text).not.toContain("evil.example");
  });

  it("answers other methods with 405", async () => {
    const { app, token } = await returning();
    const response = await request(app).post(`/payments/success/${token}`);
    expect([response.status, response.headers["allow"]]).toEqual([405, "GET, HEAD"]);
  });

  it("sends headers that keep the token private, and a policy that allows no foreign content", async () => {
    const { get } = await returning();
    const { headers, text } = await get("success");
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    const nonce = /'nonce-([^']+)'/.exec(headers["content-security-policy"] ?? "")?.[1];
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
    expect(text).toContain(`<script nonce="${nonce}"`);
  });
});

describe("the merchant's own return pages", () => {
  it("redirects to the configured addresses, with the reference escaped", async () => {
    const { get } = await returning(
      { successUrl: "https://shop.example/orders/{reference}?from=pay", cancelUrl: "/cart" },
      { reference: "a/b?c#d" },
    );
    const success = await get("success");
    expect([success.status, success.headers["location"]]).toEqual([
      303,
      "https://shop.example/orders/a%2Fb%3Fc%23d?from=pay",
    ]);
    expect((await get("cancel")).headers["location"]).toBe("/cart");
  });

  it("renders the merchant's own page", async () => {
    const { get } = await returning({
      render: ({ state, kind }, { language }) => `${kind}:${state}:${language}`,
    });
    expect((await get("success").set("Accept-Language", "fr")).text).toBe("success:confirming:fr");
  });

  it.each([
    ["https://cdn.example:8443/logo.svg?v=2", "img-src data: https://cdn.example:8443;"],
    ["/logo.svg", "img-src data: 'self';"],
  ])("has the logo %s, and a policy that allows images of its origin only", async (logoUrl, policy) => {
    const look = { logoUrl, shopName: "Soko <Bahari>", backUrl: "/", backLabel: "Back to Soko" };
    const { get } = await returning(look);
    const { text, headers } = await get("success");
    expect(text).toContain(`<img class="logo" src="${logoUrl}" alt="Soko &lt;Bahari&gt;" />`);
    expect(text).toContain(">Back to Soko</a>");
    expect(headers["content-security-policy"]).toContain(policy);
  });

  it.each([
    ["accent", "green"],
    ["accent", "#fff; } body { display: none"],
    ["logoUrl", "http://cdn.example/logo.svg"],
    ["logoUrl", "https://cdn.example;script-src/logo.svg"],
    ["logoUrl", "//cdn.example/logo.svg"],
    ["logoUrl", "data:image/svg+xml,x"],
    ["contact", ""],
    ["backLabel", "a\nb"],
    ["contact", 33612345678],
    ["shopName", ["Soko"]],
    ["successUrl", ["/orders"]],
  ])("refuses the %s %j", (name, value) => {
    expect(() => testKit({ returns: { [name]: value } })).toThrow(
      expect.objectContaining({ problems: [expect.objectContaining({ option: `returns.${name}` })] }),
    );
  });

  it("is a page in French for a French reader, or where the payment says so, with the reference escaped", async () => {
    const french = await returning();
    expect((await french.get("success").set("Accept-Language", "fr-FR, en;q=0.5")).text).toContain(
      "Confirmation du",
    );
    const chosen = await returning({}, { locale: "fr", reference: "<b>&" });
    const { text } = await chosen.get("success").set("Accept-Language", "en");
    expect(text).toContain("Confirmation du");
    expect(text).toContain("&lt;b&gt;&amp;");
  });

  it("is refused at construction where it could redirect elsewhere", () => {
    for (const successUrl of [
      "//evil.example",
      "javascript:alert(1)",
      "https://{reference}.example/",
      "/\\evil",
    ]) {
      expect(() => testKit({ returns: { successUrl } })).toThrow(
        expect.objectContaining({ code: "option_invalid" }),
      );
    }
  });
});

describe("a return while the store does not answer", () => {
  it("shows a page that reloads itself, and answers 503 to the state request", async () => {
    const { payments, get, token } = await returning();
    payments.store.find = () => Promise.reject(new Error("the database is restarting"));
    const response = await get("success").set("Accept-Language", "en");
    expect(response.status).toBe(503);
    expect(response.text).toContain("One moment, please");
    expect(response.text).toContain('http-equiv="refresh"');
    expect(response.headers["cache-control"]).toBe("no-store");
    expect((await get("success", `${token}/state`)).status).toBe(503);
  });
});
