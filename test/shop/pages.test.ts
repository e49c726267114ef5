import { mkdirSync } from "node:fs";
import path from "node:path";
import { type Browser, type BrowserContextOptions } from "playwright-core";
import { describeInBrowser, launchChromium } from "./chromium.js";
import { Customer } from "./customer.js";
import { openShop, type OpenShop } from "./open-shop.js";
import { settlesTo } from "./settles-to.js";

const screenshots = process.env["TILLKIT_TEST_SCREENSHOTS"];
if (screenshots !== undefined) mkdirSync(screenshots, { recursive: true });

const screens: Record<string, BrowserContextOptions> = {
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true },
  "phone-dark-fr": { viewport: { width: 390, height: 844 }, colorScheme: "dark", locale: "fr-FR" },
  desktop: { viewport: { width: 1280, height: 800 } },
};

describeInBrowser("every page in a browser", () => {
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

  for (const [screen, options] of Object.entries(screens)) {
    it(`fits a ${screen} and causes no error in the browser`, async () => {
      const credentials = { username: "keeper", password: shop.keeperPassword };
      const customer = await Customer.in(browser, { ...options, httpCredentials: credentials });
      const { page } = customer;
      const tooWide: string[] = [];

      /** Checks the page. With TILLKIT_TEST_SCREENSHOTS it also keeps a screenshot. */
      async function look(name: string): Promise<void> {
        const fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
        if (!(await page.evaluate<boolean>(fits))) tooWide.push(name);
        if (screenshots === undefined) return;
        await page.screenshot({
          path: path.join(screenshots, `${screen}-${name}.png`),
          fullPage: true,
          animations: "disabled",
        });
      }

      await page.goto(shop.url);
      await look("front");
      await page.goto(`${shop.url}/nothing/here`);
      await look("not-found");
      await page.goto(`${shop.url}/payments/success/never-was`);
      await look("kit-not-found");

      await customer.buys(shop, "ylang");
      await look("order-unpaid");
      await customer.goesToTheCheckout(shop);
      await look("checkout");
      await customer.cancels();
      await customer.state("canceled").waitFor();
      await look("canceled");
      await customer.goesBackToTheOrder();
      await look("order-canceled");

      await customer.goesToTheCheckout(shop);
      shop.sandbox.holdWebhooks();
      await customer.approves("HOL");
      await customer.state("confirming").waitFor();
      await look("confirming");
      await customer.goesBackToTheOrder();
      await look("order-confirming");
      await page.goBack();
      await customer.state("confirming").waitFor();
      shop.sandbox.releaseWebhooks();
      await customer.state("paid").waitFor();
      await look("paid");
      await customer.goesBackToTheOrder();
      await customer.seesTheOrderPaid();
      await look("order-paid");

      await customer.buys(shop, "basket");
      await customer.goesToTheCheckout(shop);
      shop.sandbox.holdWebhooks();
      await customer.approves("MVK");
      const payment = shop.sandbox.payments().at(-1)!.id;
      const failed = { topic: "payment.failed", data: { status: "failed", captured: false } };
      await shop.sandbox.sendWebhook({ payment, overrides: failed });
      await customer.state("failed").waitFor();
      await look("failed");
      await shop.sandbox.sendWebhook({
        payment,
        overrides: { data: { total: { value: "1", currency: "KMF" } } },
      });
      await settlesTo(async () => (await shop.orders.attention()).length, 1);
      await page.goto(`${shop.url}/desk`);
      await look("desk");

      await customer.buys(shop, "coconut");
      await shop.sandbox.close();
      await page.locator("form[action^='/checkout/'] button").click();
      await page.locator(".notice").waitFor();
      await look("unavailable");

      expect(tooWide).toEqual([]);
      expect(customer.complaints).toEqual([]);
      await customer.leaves();
    });
  }
});
