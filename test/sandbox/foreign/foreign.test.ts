import { createSandbox, type Sandbox, type SandboxOptions } from "tillkit/sandbox";
import { type ForeignMerchant, type ServiceAccess } from "./foreign-merchant.js";
import { openExpressBasic } from "./merchants/express-basic.js";
import { openParsedFields } from "./merchants/parsed-fields.js";
import { openPlainHttp } from "./merchants/plain-http.js";
import { openPolling } from "./merchants/polling.js";
import { openRawBody } from "./merchants/raw-body.js";

const merchantId = "merchant-4711";
const fields = { scheme: "fields", merchantId } as const;

/** Shops without the kit, written from the interface document and a description of the signature. */
const merchants: {
  shop: string;
  open: (access: ServiceAccess) => Promise<ForeignMerchant>;
  options: SandboxOptions;
}[] = [
  { shop: "node:http and fetch", open: openPlainHttp, options: { signature: fields } },
  { shop: "Express, Basic auth and expires_in", open: openExpressBasic, options: { signature: fields } },
  {
    shop: "a global JSON parser and its own header",
    open: openParsedFields,
    options: { signature: { ...fields, header: "X-Pay-Signature" } },
  },
  { shop: "an HMAC over the raw body", open: openRawBody, options: { signature: { scheme: "hmac" } } },
  { shop: "polling instead of webhooks", open: openPolling, options: { readBack: true } },
];

describe.each(merchants)("a shop with $shop", ({ open, options }) => {
  let sandbox: Sandbox;
  let shop: ForeignMerchant;

  beforeEach(async () => {
    sandbox = createSandbox({
      clients: [{ clientId: "m-4711", clientSecret: "sandbox_s3cret:of-ours" }],
      ...options,
    });
    await sandbox.start();
    shop = await open({
      apiUrl: sandbox.url,
      tokenUrl: sandbox.tokenUrl,
      merchantId,
      ...sandbox.client,
      webhookSecret: sandbox.secret!,
    });
    if (shop.webhookUrl !== undefined) sandbox.registerWebhook(shop.webhookUrl);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await sandbox.close();
    await shop.close();
  });

  /** Buys, and opens the checkout page to which the shop redirects. */
  async function buy(amount = "1475"): Promise<string> {
    const body = new URLSearchParams({ amount });
    const answer = await fetch(`${shop.url}/buy`, { method: "POST", body, redirect: "manual" });
    const checkout = answer.headers.get("location");
    if (checkout === null) throw new Error(`${answer.status}: ${await answer.text()}`);
    expect(checkout).toMatch(new RegExp(`^${sandbox.url}/payment/submit/[0-9a-f]{24}$`));
    expect(await (await fetch(checkout)).text()).toContain("<form");
    return checkout;
  }
  /** Presses a button on the checkout page. The browser returns to the shop, which names the order. */
  async function press(checkout: string, form: Record<string, string>) {
    const page = await (await fetch(checkout, { method: "POST", body: new URLSearchParams(form) })).text();
    const [, said, order] = /^(Thank you for|You canceled) order (\S+)$/.exec(page) ?? [undefined, page];
    await sandbox.settled();
    return { said, order: String(order) };
  }
  const approval = { action: "approve", provider: "MVK" };
  const statusOf = async (order: string) => (await fetch(`${shop.url}/status/${order}`)).text();

  it("is paid", async () => {
    const { said, order } = await press(await buy(), approval);
    expect(said).toBe("Thank you for");
    expect(await statusOf(order)).toBe("paid");
    expect(sandbox.deliveries.map(({ status }) => status! < 300)).toEqual(shop.webhookUrl ? [true] : []);
  });

  it("learns that its customer canceled, and is paid at the next attempt", async () => {
    const first = await press(await buy(), { action: "cancel" });
    expect(first.said).toBe("You canceled");
    expect(await statusOf(first.order)).not.toBe("paid");
    const second = await press(await buy(), approval);
    expect([(await statusOf(first.order)) === "paid", await statusOf(second.order)]).toEqual([false, "paid"]);
    expect(sandbox.payments().map(({ status }) => status)).toEqual(["canceled", "completed"]);
  });

  it("continues to sell when its token has expired", async () => {
    const morning = await press(await buy(), approval);
    const twoHoursMs = 2 * 60 * 60 * 1000;
    const now = Date.now.bind(Date);
    jest.spyOn(Date, "now").mockImplementation(() => now() + twoHoursMs);
    await sandbox.clock.advance(twoHoursMs);
    const noon = await press(await buy("3500"), approval);
    expect([await statusOf(morning.order), await statusOf(noon.order)]).toEqual(["paid", "paid"]);
    const [newest, oldest] = sandbox.accessTokens();
    expect(Date.parse(oldest!.expiresAt)).toBeLessThan(sandbox.clock.now().getTime());
    expect(Date.parse(newest!.expiresAt)).toBeGreaterThan(sandbox.clock.now().getTime());
  });

  it("accepts a webhook that arrives twice, and refuses one with a wrong signature", async () => {
    sandbox.change({ retryDelaysMs: [] });
    sandbox.scenario("webhook-doubled");
    const doubled = await press(await buy(), approval);
    sandbox.scenario("signature-wrong");
    const forged = await press(await buy("500"), approval);
    // Both payments are completed at the service, so a shop that reads payments back finds both paid.
    const asks = shop.webhookUrl === undefined;
    const isPaid = async (order: string) => (await statusOf(order)) === "paid";
    expect([await isPaid(doubled.order), await isPaid(forged.order)]).toEqual([true, asks]);
    const answers = sandbox.deliveries.map(({ status }) => status! < 300);
    expect(answers).toEqual(asks ? [] : [true, true, false]);
  });
});
