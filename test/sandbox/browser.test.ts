import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { type Browser } from "playwright-core";
import { createSandbox, type Sandbox } from "tillkit/sandbox";
import { Customer } from "../shop/customer.js";
import { describeInBrowser, launchChromium } from "../shop/chromium.js";
import { createPayment } from "./create-payment.js";
import { Merchant } from "./merchant.js";

describeInBrowser("the sandbox in a browser", () => {
  let browser: Browser;
  let merchant: Merchant;
  let sandbox: Sandbox;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    merchant = await Merchant.open();
    sandbox = createSandbox({ merchantName: "Soko Bahari", retryDelaysMs: [] });
    await sandbox.start();
  });
  afterEach(async () => {
    await sandbox.close();
    await merchant.close();
  });

  const pays = (clientId: string) => createPayment(sandbox, merchant, clientId);

  describe.each([
    ["with scripts", true],
    ["without scripts", false],
  ])("%s", (_, javaScriptEnabled) => {
    let person: Customer;
    beforeEach(async () => {
      person = await Customer.in(browser, { javaScriptEnabled });
    });
    afterEach(async () => {
      await person.leaves();
      if (person.complaints.length > 0) throw new Error(person.complaints.join("\n"));
    });

    const button = (name: string | RegExp) => person.page.getByRole("button", { name });
    const told = (text: string) => person.page.locator(".notice", { hasText: text }).waitFor();

    it("a customer is paid with, or cancels, on the checkout page", async () => {
      const { page } = person;
      await page.goto(`${sandbox.url}/payment/submit/${await pays("order-1")}`);
      await page.getByRole("radio", { name: /Holoni/ }).check();
      await button("Pay 1,475 KMF").click();
      await page.waitForURL(`${merchant.url}/thanks**`);
      expect(sandbox.find("order-1")).toMatchObject({ status: "completed", source: "HOL" });
      await page.goto(`${sandbox.url}/payment/submit/${await pays("order-2")}`);
      await button("Cancel").click();
      await page.waitForURL(`${merchant.url}/canceled**`);
      expect(sandbox.find("order-2")).toMatchObject({ status: "canceled" });
      await page.goto(`${sandbox.url}/payment/submit/${sandbox.find("order-2")!.id}`);
      await page.getByRole("heading", { name: "Payment canceled" }).waitFor();
    });

    it("a merchant adds an address, tries it, sends a delivery again, rotates the secret, removes it", async () => {
      const { page } = person;
      await page.goto(sandbox.url);
      await page.getByRole("link", { name: "Developer" }).click();
      await page.getByRole("link", { name: "Webhooks" }).click();
      await page.getByLabel("New address").fill(merchant.webhookUrl);
      await button("Add").click();
      await told("The address is registered.");
      await button(/^Try/).click();
      await told("The address answered 200");
      await page.getByRole("link", { name: "See the exchange" }).click();
      await button("Send again").click();
      await told("Sent once more.");
      expect(merchant.webhooks).toHaveLength(2);
      await page.getByRole("link", { name: "← Webhooks" }).click();
      await button("Rotate the secret").click();
      await told("A new secret signs from now on.");
      await page.getByText("Show Previous secret").click();
      await page.getByText(sandbox.signing.previousSecret!).waitFor();
      await button(/^Remove/).click();
      await told("gets no more webhooks");
      expect(sandbox.webhookAddresses).toEqual([]);
    });

    it("a merchant holds webhooks back, pays by hand, and releases them", async () => {
      const { page } = person;
      sandbox.registerWebhook(merchant.webhookUrl);
      await pays("order-1");
      await page.goto(sandbox.url);
      await page.getByRole("link", { name: "Hold back" }).click();
      await button(/^Hold back/).click();
      await told("Webhooks are held back from now on.");
      await page.goto(sandbox.url);
      await page.getByRole("link", { name: "1,475 KMF" }).click();
      await page.getByLabel("Provider").selectOption("PYP");
      await button("Pay").click();
      await told("Paid, as if the customer had approved.");
      await page.getByRole("link", { name: "Release them" }).click();
      const arrival = merchant.arrival();
      await button(/^Release/).click();
      await told("Webhooks are sent again.");
      await arrival;
      expect(sandbox.find("order-1")).toMatchObject({ status: "completed", source: "PYP" });
    });

    it("a merchant chooses a scenario, changes the behaviour, puts the clock forward, revokes a token", async () => {
      const { page } = person;
      sandbox.accessToken();
      await page.goto(`${sandbox.url}/developer/scenarios`);
      await page.getByRole("heading", { name: "Webhooks" }).click();
      await button("Use webhook-doubled").click();
      await told("New payments use this scenario.");
      expect(sandbox.currentScenario).toBe("webhook-doubled");
      await page.getByLabel("Scenario as JSON").fill('{ "name": "Mine" }');
      await button("Add").click();
      await told("lower-case letters");
      expect(await page.getByLabel("Scenario as JSON").inputValue()).toBe('{ "name": "Mine" }');
      await page.getByLabel("Scenario as JSON").fill('{ "name": "mine" }');
      await button("Add").click();
      await told("New payments use this scenario.");
      expect(sandbox.currentScenario).toBe("mine");
      await page.getByRole("link", { name: "Behaviour" }).click();
      await page.getByLabel("The answer carries clientId").check();
      await page.getByLabel("Time that the shop has to answer").fill("later");
      await button("Save").click();
      await told("must be a whole number");
      expect(await page.getByLabel("The answer carries clientId").isChecked()).toBe(true);
      await page.getByLabel("Time that the shop has to answer").fill("900");
      await button("Save").click();
      await told("The settings are saved.");
      expect(sandbox.settings).toMatchObject({ echoClientId: true, webhookTimeoutMs: 900 });
      await page.getByLabel("By").fill("1");
      await page.getByLabel("Unit").selectOption("days");
      await button("Put forward").click();
      await told("The clock was put forward.");
      await page.getByRole("link", { name: "Credentials" }).click();
      await page.getByText("expired").waitFor();
      await button("Revoke all").click();
      await told("Every token issued so far stopped working.");
      expect(sandbox.accessTokens()).toMatchObject([{ revoked: true }]);
    });

    it("the keyboard alone reaches the content first, and pays", async () => {
      const { page } = person;
      const focused = () =>
        page.evaluate<string>("document.activeElement.id || document.activeElement.textContent");
      await page.goto(`${sandbox.url}/payments/${await pays("order-1")}`);
      await page.keyboard.press("Tab");
      expect(await focused()).toBe("Skip to content");
      const outline = "getComputedStyle(document.activeElement).outlineStyle";
      expect(await page.evaluate<string>(outline)).toBe("solid");
      await page.keyboard.press("Enter");
      expect(await focused()).toBe("content");
      for (const next of ["← Payments", "provider"]) {
        await page.keyboard.press("Tab");
        expect(await focused()).toBe(next);
      }
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Tab");
      expect(await page.evaluate<string>(outline)).toBe("solid");
      await page.keyboard.press("Enter");
      await told("Paid, as if the customer had approved.");
      expect(sandbox.find("order-1")).toMatchObject({ source: "HOL" });
    });
  });

  it("shows changes live, and announces them to a screen reader", async () => {
    sandbox.registerWebhook(merchant.webhookUrl);
    const id = await pays("order-1");
    const watcher = await Customer.in(browser);
    const { page } = watcher;
    await page.goto(`${sandbox.url}/payments/${id}`);
    await sandbox.pay(id);
    await page.locator("#status", { hasText: "completed" }).waitFor();
    await page.getByRole("link", { name: "payment.completed" }).waitFor();
    await page
      .locator("#live-status", { hasText: "Webhook deliveries of this payment: 1" })
      .waitFor({ state: "attached" });
    await page.getByText("The status is final").waitFor();
    await page.goto(sandbox.url);
    await page.getByRole("link", { name: "1,475 KMF" }).focus();
    await pays("order-2");
    await page.locator("#live-status", { hasText: "Payments: 2" }).waitFor({ state: "attached" });
    // The focus stays on the same payment.
    const where = await page.evaluate<string>("document.activeElement.getAttribute('href')");
    expect(where).toBe(`/payments/${id}`);
    expect(watcher.complaints).toEqual([]);
    await watcher.leaves();
  });

  it("copies values where the browser can, and secrets without showing them", async () => {
    const developer = await Customer.in(browser, { permissions: ["clipboard-read", "clipboard-write"] });
    const { page } = developer;
    const clipboard = () => page.evaluate<string>("navigator.clipboard.readText()");
    await page.goto(`${sandbox.url}/developer`);
    await page.getByRole("button", { name: "Copy Client secret" }).click();
    await page.getByRole("button", { name: "Copied Client secret" }).waitFor();
    expect(await clipboard()).toBe(sandbox.client.clientSecret);
    expect(await page.getByText(sandbox.client.clientSecret, { exact: true }).isVisible()).toBe(false);
    await page.getByRole("button", { name: "Copy For a shop made with tillkit" }).click();
    await page.getByRole("button", { name: "Copied For a shop" }).waitFor();
    expect(await clipboard()).toContain(`TILLKIT_SERVICE_URL=${sandbox.url}\n`);
    await developer.leaves();
    const unscripted = await Customer.in(browser, { javaScriptEnabled: false });
    await unscripted.page.goto(`${sandbox.url}/developer`);
    expect(await unscripted.page.getByRole("button", { name: /^Copy/ }).count()).toBe(0);
    await unscripted.leaves();
  });

  it("refuses forms of a page of another origin", async () => {
    const evil = createServer((_req, res) => {
      res.setHeader("content-type", "text/html");
      res.end(
        `<form method="post" action="${sandbox.url}/developer/webhooks/hold"><button>Win</button></form>`,
      );
    }).listen(0, "127.0.0.1");
    await once(evil, "listening");
    const victim = await Customer.in(browser);
    await victim.page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}`);
    const answered = victim.page.waitForResponse(`${sandbox.url}/developer/webhooks/hold`);
    await victim.page.getByRole("button", { name: "Win" }).click();
    expect((await answered).status()).toBe(403);
    expect(sandbox.webhooksHeld).toBe(false);
    await victim.leaves();
    evil.closeAllConnections();
    evil.close();
  });
});
