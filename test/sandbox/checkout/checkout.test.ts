import request from "supertest";
import { createSandbox, type Sandbox, type SandboxOptions } from "tillkit/sandbox";
import { createPayment } from "../create-payment.js";
import { Merchant } from "../merchant.js";
import { unwrittenBench } from "../unwritten-bench.js";

const show = (sandbox: Sandbox, path: string, language = "en") =>
  request(sandbox.app).get(path).set("Accept-Language", language);
const submit = (sandbox: Sandbox, path: string, fields: Record<string, string>) =>
  request(sandbox.app).post(path).type("form").send(fields);

describe("the checkout page", () => {
  const sendWhileUnwritten = unwrittenBench();
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await Merchant.open();
  });
  afterAll(() => merchant.close());

  async function open(options: SandboxOptions = {}, total?: { value: string; currency: string }) {
    // The currencies of these tests need not exist.
    const sandbox = createSandbox({ strict: false, ...options });
    const id = await createPayment(sandbox, merchant, "c-1", total);
    return { sandbox, path: `/payment/submit/${id}` };
  }

  it("offers every provider as a labelled radio button, and none is chosen beforehand", async () => {
    const { sandbox, path } = await open({
      providers: [
        { code: "AAA", name: "Alpha" },
        { code: "BBB", name: "Beta" },
      ],
    });
    const { text } = await show(sandbox, path).expect(200);
    expect(text.match(/<label[^]*?<\/label>/g)).toEqual([
      expect.stringMatching(/type="radio" name="provider" value="AAA"[^]*Alpha/),
      expect.stringMatching(/type="radio" name="provider" value="BBB"[^]*Beta/),
    ]);
    expect(text).not.toMatch(/<input[^>]* checked/);
    expect(text).not.toContain("<script");
  });

  it.each(["approve", "cancel"])("sends the browser back only when it is on disk: %s", async (action) => {
    const providers = [{ code: "AAA", name: "Alpha" }];
    const { isEarly, answer } = await sendWhileUnwritten({ providers }, async (sandbox) => {
      const id = await createPayment(sandbox, merchant, "c-1");
      return () => submit(sandbox, `/payment/submit/${id}`, { action, provider: "AAA" });
    });
    expect([isEarly, answer.status]).toEqual([false, 303]);
  });

  it.each([
    [" alpha", "A"],
    ["\u{1F98A} Pay", "\u{1F98A}"],
  ])("shows the initial of the provider %j as %j", async (name, initial) => {
    const { sandbox, path } = await open({ merchantName: "Shop", providers: [{ code: "AAA", name }] });
    const { text } = await show(sandbox, path);
    expect(/class="provider">[^]*?class="initial" aria-hidden="true">(.*?)</u.exec(text)![1]).toBe(initial);
  });

  it("chooses the only provider by itself", async () => {
    const { sandbox, path } = await open({ providers: [{ code: "AAA", name: "Alpha" }] });
    expect((await show(sandbox, path)).text).toMatch(/<input[^>]* checked/);
  });

  it.each([
    ["fr-KM, en;q=0.5", "fr", "Payer 1\u202f475\u00a0KMF", "Bac à sable"],
    ["en-GB, fr;q=0.5", "en", "Pay 1,475\u00a0KMF", "Sandbox"],
    ["de", "en", "Pay 1,475\u00a0KMF", "Sandbox"],
  ])("uses the browser's language: %s", async (header, language, button, banner) => {
    const { sandbox, path } = await open();
    const response = await show(sandbox, path, header).expect(200);
    expect(response.text).toContain(`<html lang="${language}" dir="ltr">`);
    expect(response.text).toContain(button);
    expect(response.text).toContain(banner);
    expect(response.get("Vary")).toContain("Accept-Language");
  });

  it.each([
    ["1234567", "KMF", "en", "1,234,567"],
    ["1234567", "KMF", "fr", "1\u202f234\u202f567"],
    ["1475.00", "KMF", "en", "1,475"],
    ["1475.5", "KMF", "en", "1,475.5"],
    ["10.5", "EUR", "fr", "10,50"],
    ["10", "EUR", "en", "10.00"],
    ["9007199254740993.0001", "XYZ", "en", "9,007,199,254,740,993.0001"],
  ])("shows %s %s to a reader of %s as %s", async (value, currency, language, shown) => {
    const { sandbox, path } = await open({}, { value, currency });
    const { text } = await show(sandbox, path, language).expect(200);
    expect(text).toContain(`>${shown}</strong>`);
    expect(text).toContain(`<span>${currency}</span>`);
  });

  it("sends headers that allow no other origin and leak no address", async () => {
    const { sandbox, path } = await open();
    const first = await show(sandbox, path);
    const second = await show(sandbox, path);
    const policy = first.get("Content-Security-Policy")!;
    const nonce = /style-src 'nonce-([^']+)'/.exec(policy)![1]!;
    // A form's answer may lead to any host, so there is no form-action.
    expect(policy).toBe(
      `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(first.text.match(/<style[^>]*>/g)!.every((tag) => tag === `<style nonce="${nonce}">`)).toBe(true);
    expect(second.get("Content-Security-Policy")).not.toContain(nonce);
    expect(first.headers).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "content-type": "text/html; charset=utf-8",
    });
    expect(first.headers).not.toHaveProperty("x-powered-by");
  });

  it("escapes the names that it was given", async () => {
    const evil = `<b>"&'`;
    const { sandbox, path } = await open({ merchantName: evil, providers: [{ code: evil, name: evil }] });
    for (const page of [path, "/"]) {
      const { text } = await show(sandbox, page).expect(200);
      expect(text).toContain("&lt;b&gt;&quot;&amp;&#39;");
      expect(text).not.toContain("<b>");
    }
  });

  it.each([{}, { provider: "ZZZ" }])("asks for a provider again when %j is approved", async (fields) => {
    const { sandbox, path } = await open();
    const sending = submit(sandbox, path, { ...fields, action: "approve" });
    const { text } = await sending.set("Accept-Language", "fr").expect(400);
    expect(text).toMatch(/role="alert"[^>]*>\s*Choisissez d’abord/);
    expect(text).toContain("Annuler");
    expect(sandbox.payments()).toMatchObject([{ status: "pending" }]);
  });

  it("changes nothing on a GET request, or for an unknown action", async () => {
    const { sandbox, path } = await open();
    await request(sandbox.app).get(`${path}?action=approve&provider=MVK`).expect(200);
    await request(sandbox.app).head(path).expect(200);
    const refund = submit(sandbox, path, { provider: "MVK", action: "refund" });
    expect((await refund.set("Accept-Language", "fr").expect(400)).text).toContain("Demande illisible");
    await submit(sandbox, path, { provider: "M".repeat(5000), action: "approve" }).expect(413);
    await request(sandbox.app).post(path).send({ provider: "MVK", action: "approve" }).expect(400);
    expect(sandbox.payments()).toMatchObject([{ status: "pending" }]);
  });

  it("redirects by 303 to exactly the address of the merchant", async () => {
    const { sandbox, path } = await open();
    const response = await submit(sandbox, path, { provider: "HOL", action: "approve" }).expect(303);
    expect(sandbox.payments()).toMatchObject([{ source: "HOL" }]);
    expect(response.get("Location")).toBe(merchant.order("c-1").successUrl);
    expect(response.get("Referrer-Policy")).toBe("no-referrer");
    expect(response.get("Cache-Control")).toBe("no-store");
  });

  it("returns to the shop where the payment was completed while the page was open, and HEAD opens no page", async () => {
    const { sandbox, path } = await open({ scenario: "webhook-during-checkout" });
    await request(sandbox.app).head(path).expect(200);
    expect(sandbox.payments()).toMatchObject([{ status: "pending" }]);
    await show(sandbox, path).expect(200);
    expect(sandbox.payments()).toMatchObject([{ status: "completed", source: "MVK" }]);
    const { headers } = await submit(sandbox, path, { provider: "MVK", action: "approve" }).expect(303);
    expect(headers["location"]).toBe(merchant.order("c-1").successUrl);
    await submit(sandbox, path, { action: "cancel" }).expect(409);
  });

  it.each([
    ["failed", "Payment failed", "The provider refused this payment.", "bad", "cancelUrl"],
    ["canceled", "Payment canceled", "This payment was canceled.", "bad", "cancelUrl"],
    ["submitted", "Payment under way", "the provider is working on it.", "info", "successUrl"],
    ["completed", "Already paid", "This payment is complete.", "good", "successUrl"],
  ] as const)("leads back to the shop from a payment that is %s", async (status, title, why, tone, back) => {
    const { sandbox, path } = await open({
      merchantName: "Shop",
      scenario: { name: "own", moves: { approved: [{ status }] } },
    });
    const { id } = sandbox.find("c-1")!;
    await sandbox.pay("c-1");
    const { text } = await show(sandbox, path).expect(200);
    expect(text).toContain(title);
    expect(text).toContain(why);
    expect(text).toContain(`class="sign ${tone}"`);
    expect(text).toContain(">1,475 KMF<");
    expect(text).toContain(`<code>${id}</code>`);
    const address = merchant.order("c-1")[back].replaceAll("&", "&amp;");
    expect(text).toContain(`href="${address}">Back to Shop<`);
  });

  it.each([
    ["approve", "Already paid", "successUrl", "completed"],
    ["cancel", "Payment canceled", "cancelUrl", "canceled"],
  ] as const)(
    "says after %s that the payment is final, and stays so",
    async (action, title, back, status) => {
      const { sandbox, path } = await open({ webhookUrls: [merchant.webhookUrl] });
      await submit(sandbox, path, { provider: "MVK", action }).expect(303);
      await sandbox.settled();
      const sent = merchant.webhooks.length;
      const { text } = await show(sandbox, path).expect(200);
      expect(text).toContain(title);
      expect(text).toContain(merchant.order("c-1")[back].replaceAll("&", "&amp;"));
      for (const again of ["approve", "cancel"]) {
        await submit(sandbox, path, { provider: "HOL", action: again }).expect(409);
      }
      await sandbox.settled();
      expect(merchant.webhooks).toHaveLength(sent);
      expect(sandbox.payments()).toMatchObject([{ status }]);
    },
  );

  it.each(["/payment/submit/000000000000000000000000", "/payment/submit/c-1", "/elsewhere"])(
    "answers %s with a 404 page in the browser's language",
    async (path) => {
      const { sandbox } = await open({ publicUrl: "https://pay.example/box" });
      expect((await show(sandbox, path, "fr").expect(404)).text).toContain("Paiement introuvable");
      const { text } = await submit(sandbox, path, { provider: "MVK", action: "approve" }).expect(404);
      expect(text.includes('href="https://pay.example/box/"')).toBe(path !== "/elsewhere");
    },
  );

  it("answers an address that cannot be decoded with a page, not with a stack", async () => {
    const { sandbox } = await open();
    const { text } = await show(sandbox, "/payment/submit/%E0").expect(400);
    expect(text).toContain("Not understood");
    expect(text).not.toContain(" at ");
  });
});

describe("the developer's pages", () => {
  it("show recent payments and deliveries, and no secret", async () => {
    const merchant = await Merchant.open();
    const sandbox = createSandbox({ webhookUrls: [merchant.webhookUrl] });
    const id = await createPayment(sandbox, merchant, "order-9");
    await sandbox.pay("order-9");
    const { text } = await request(sandbox.app).get("/").expect(200);
    for (const shown of [id, "order-9", "completed", merchant.webhookUrl, "1,475\u00a0KMF", ">200<"]) {
      expect(text.replaceAll("<wbr />", "")).toContain(shown);
    }
    expect(text).not.toContain("sandbox_");
    await sandbox.close();
    await merchant.close();
  });
});
