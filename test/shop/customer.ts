import { type Browser, type BrowserContextOptions, type Locator, type Page } from "playwright-core";
import { type OpenShop } from "./open-shop.js";

/** A customer with a browser. Every step is a click on the page. */
export class Customer {
  readonly page: Page;
  /** Addresses that the browser opened, by itself or by a click. */
  readonly navigations: string[] = [];
  /** The errors that the browser reported: scripts, blocked content, failed requests. */
  readonly complaints: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.on("framenavigated", (frame) => this.navigations.push(frame.url()));
    page.on("pageerror", ({ message }) => this.complaints.push(message));
    page.on("console", (message) => {
      // Chromium also reports each page with the status 404, which the test requested.
      const isOwn = message.type() === "error" && !message.text().startsWith("Failed to load resource");
      if (isOwn) this.complaints.push(message.text());
    });
  }

  static async in(browser: Browser, options: BrowserContextOptions = {}): Promise<Customer> {
    const context = await browser.newContext({ locale: "en-GB", ...options });
    context.setDefaultTimeout(15_000);
    return new Customer(await context.newPage());
  }

  /** Reads the state of the payment on the kit's return page. */
  state(state: string): Locator {
    return this.page.locator(`main[data-state=${state}]`);
  }

  async buys({ url }: OpenShop, product: string): Promise<void> {
    await this.page.goto(url);
    await this.page.locator(`button[name=product][value=${product}]`).click();
    await this.page.waitForURL(/\/orders\/[^/]+$/);
  }

  async goesToTheCheckout({ sandbox }: OpenShop): Promise<void> {
    await this.page.locator("form[action^='/checkout/'] button").click();
    await this.page.waitForURL(`${sandbox.url}/payment/submit/*`);
  }

  async approves(provider: string): Promise<void> {
    await this.page.locator(`input[name=provider][value=${provider}]`).check();
    await this.page.locator("button[name=action][value=approve]").click();
    await this.page.waitForURL("**/payments/success/*");
  }

  async cancels(): Promise<void> {
    await this.page.locator("button[name=action][value=cancel]").click();
    await this.page.waitForURL("**/payments/cancel/*");
  }

  async goesBackToTheOrder(): Promise<void> {
    await this.page.locator(".actions a[href^='/orders/']:not(.again)").click();
    await this.page.waitForURL(/\/orders\/[^/]+$/);
  }

  /** Reloads the order until it is paid. The shop writes that a moment after the kit. */
  async seesTheOrderPaid(): Promise<void> {
    const paid = this.page.locator(".state.paid");
    const again = this.page.locator("a.again");
    for (let looks = 0; looks < 50; looks += 1) {
      await paid.or(again).waitFor();
      if (await paid.isVisible()) return;
      await Promise.all([this.page.waitForEvent("load"), again.click()]);
    }
    throw new Error("The order was not paid in time.");
  }

  leaves(): Promise<void> {
    return this.page.context().close();
  }
}
