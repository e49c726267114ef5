import { type Browser } from "playwright-core";
import { describeInBrowser, launchChromium } from "./chromium.js";
import { Customer } from "./customer.js";
import { openShop, type OpenShop } from "./open-shop.js";

describeInBrowser("a purchase in a browser", () => {
  let browser: Browser;
  let shop: OpenShop;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    shop = await openShop();
  });
  afterEach(() => shop.close());

  const ledger = async () =>
    (await shop.orders.ledger()).map(({ value, currency }) => `${value} ${currency}`);

  it("changes from confirming to paid without a reload, and the order is paid", async () => {
    const customer = await Customer.in(browser);
    const { page } = customer;
    await customer.buys(shop, "cloves");
    expect(await page.locator(".state").textContent()).toBe("Not paid yet");
    await customer.goesToTheCheckout(shop);

    shop.sandbox.holdWebhooks();
    const asked = page.waitForResponse("**/state");
    await customer.approves("HOL");
    await customer.state("confirming").waitFor();
    const before = customer.navigations.length;
    // The page has asked, and does not change, because it waits for the webhook.
    expect(await (await asked).json()).toMatchObject({ state: "confirming", final: false });
    expect(await page.title()).toBe("Confirming your payment");
    expect(await ledger()).toEqual([]);

    shop.sandbox.releaseWebhooks();
    await customer.state("paid").waitFor();
    expect(await page.locator("h1").textContent()).toBe("Payment received");
    expect(await page.title()).toBe("Payment received");
    expect(customer.navigations.slice(before)).toEqual([]);

    await customer.goesBackToTheOrder();
    await customer.seesTheOrderPaid();
    expect(await page.locator("form").count()).toBe(0);
    expect(await ledger()).toEqual(["1475 KMF"]);
    expect(shop.sandbox.payments()).toMatchObject([{ status: "completed", source: "HOL" }]);
    expect(customer.complaints).toEqual([]);
    await customer.leaves();
  });

  it("changes without JavaScript too", async () => {
    const customer = await Customer.in(browser, { javaScriptEnabled: false });
    await customer.buys(shop, "vanilla");
    await customer.goesToTheCheckout(shop);
    shop.sandbox.holdWebhooks();
    await customer.approves("MVK");
    await customer.state("confirming").waitFor();
    // The page reloads itself again while there is no news.
    const { page } = customer;
    await page.waitForEvent("framenavigated");
    await customer.state("confirming").waitFor();

    shop.sandbox.releaseWebhooks();
    await customer.state("paid").waitFor();
    await customer.goesBackToTheOrder();
    await customer.seesTheOrderPaid();
    expect(await ledger()).toEqual(["3500 KMF"]);
    await customer.leaves();
  });

  it("can be canceled, and paid in a second attempt", async () => {
    const customer = await Customer.in(browser);
    const { page } = customer;
    await customer.buys(shop, "mango");
    await customer.goesToTheCheckout(shop);
    await customer.cancels();
    await customer.state("canceled").waitFor();
    expect(await page.locator("h1").textContent()).toBe("Payment canceled");

    await customer.goesBackToTheOrder();
    expect(await page.locator(".state").textContent()).toBe("Not paid yet");
    expect(await page.locator("form button").textContent()).toBe("Try again");
    await customer.goesToTheCheckout(shop);
    await customer.approves("PYP");
    await customer.state("paid").waitFor();
    await customer.goesBackToTheOrder();
    await customer.seesTheOrderPaid();

    const attempts = shop.sandbox.payments();
    expect(attempts).toMatchObject([{ status: "canceled" }, { status: "completed" }]);
    expect(attempts[0]!.clientId).not.toBe(attempts[1]!.clientId);
    expect(await ledger()).toEqual(["1800 KMF"]);
    expect(customer.complaints).toEqual([]);
    await customer.leaves();
  });

  it("is in French for a browser that prefers French", async () => {
    const customer = await Customer.in(browser, { locale: "fr-FR" });
    const { page } = customer;
    await customer.buys(shop, "ylang");
    expect(await page.locator("html").getAttribute("lang")).toBe("fr");
    await customer.goesToTheCheckout(shop);
    shop.sandbox.holdWebhooks();
    await customer.approves("HOL");
    await customer.state("confirming").waitFor();
    expect(await page.locator("h1").textContent()).toBe("Confirmation du paiement en cours");
    shop.sandbox.releaseWebhooks();
    await customer.state("paid").waitFor();
    expect(await page.locator("h1").textContent()).toBe("Paiement reçu");
    expect(await page.locator("html").getAttribute("lang")).toBe("fr");
    await customer.goesBackToTheOrder();
    await customer.seesTheOrderPaid();
    expect(await page.locator(".state").textContent()).toBe("Payée");
    await customer.leaves();
  });

  it("shows a page of the kit at an unknown address", async () => {
    const customer = await Customer.in(browser, { locale: "fr-FR" });
    const { page } = customer;
    const answer = await page.goto(`${shop.url}/payments/success/never-was`);
    expect(answer!.status()).toBe(404);
    expect(await page.locator("h1").textContent()).toBe("Page introuvable");
    expect(customer.complaints).toEqual([]);
    await customer.leaves();
  });
});
