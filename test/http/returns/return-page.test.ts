import axe from "axe-core";
import { type Browser, type BrowserContextOptions } from "playwright-core";
import { MemoryStore, type MemoryTx, type ReturnOptions } from "tillkit";
import { makeReturnToken } from "../../../src/checkout/return-token.js";
import { accentStyle } from "../../../src/http/returns/colours.js";
import { describeInBrowser, launchChromium } from "../../shop/chromium.js";
import { Customer } from "../../shop/customer.js";
import { appOf, closeAll, serve, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed, statusBody } from "../../support/webhooks.js";

const minute = 60 * 1000;

describeInBrowser("a return page in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());
  afterEach(closeAll);

  /** Opens a return page in a browser whose clock the test drives. The kit's own clock stands still until the test sets it. */
  async function open(
    kind: "success" | "cancel" = "success",
    { returns = {}, screen = {} }: { returns?: ReturnOptions; screen?: BrowserContextOptions } = {},
  ) {
    const { token, hash } = makeReturnToken("c-1");
    const store = new MemoryStore();
    const now = new Date("2026-11-20T10:00:00.000Z");
    const clock = { now };
    const payments = testKit<never, MemoryTx>({ store, returns, now: () => clock.now });
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment({ returnKeyHash: hash })] }));
    const url = await serve(appOf(payments));
    const customer = await Customer.in(browser, screen);
    const { page } = customer;
    await page.clock.install({ time: now });
    await page.goto(`${url}/payments/${kind}/${token}`);
    /** Puts the browser's clock forward, and waits for the answer that the page asks for then. */
    const wait = async (ms: number) => {
      const answered = page.waitForEvent("requestfinished");
      await page.clock.fastForward(ms);
      await answered;
    };
    return { payments, customer, page, wait, clock };
  }

  it("says after a minute that it takes longer, and after a quarter of an hour that it has stopped", async () => {
    const { customer, page, wait, payments } = await open();
    await page.getByText("The page updates by itself").waitFor();
    await wait(minute);
    await customer.state("delayed").waitFor();
    await page.getByText("you need not pay again").waitFor();
    await page.getByText("The page updates by itself").waitFor();
    await wait(15 * minute);
    await page.getByText("no longer updates by itself").waitFor();
    expect(await page.getByText("The page updates by itself").isVisible()).toBe(false);
    await payments.receiveWebhook(signed(completedBody()));
    await page.getByRole("link", { name: "Look again" }).click();
    await customer.state("paid").waitFor();
    expect(await page.getByText("no longer updates by itself").isVisible()).toBe(false);
    expect(customer.complaints).toEqual([]);
    await customer.leaves();
  });

  it("says so without a network as well", async () => {
    const { customer, page } = await open();
    await page.context().setOffline(true);
    await page.clock.fastForward(minute);
    await customer.state("delayed").waitFor();
    expect(await page.getByText("you need not pay again").isVisible()).toBe(true);
    await customer.leaves();
  });

  it.each([
    [503, "goes on asking", "paid"],
    [404, "stops asking", "confirming"],
  ])("after an answer %d %s", async (status, _, state) => {
    const { customer, page, payments } = await open();
    // The page may have asked before, because its clock goes on.
    const answered = page.waitForResponse((response) => response.status() === status);
    await page.route("**/state", (route) => route.fulfill({ status }));
    await page.clock.fastForward(1000);
    await answered;
    await page.unroute("**/state");
    await payments.receiveWebhook(signed(completedBody()));
    if (status === 404) await page.waitForSelector("[data-ended]");
    await page.clock.fastForward(minute);
    await customer.state(state).waitFor();
    expect(await page.locator("[data-ended]").count()).toBe(status === 404 ? 1 : 0);
    await customer.leaves();
  });

  it("asks again when the customer comes back to it after it has stopped", async () => {
    const { customer, page, wait, payments } = await open();
    await wait(16 * minute);
    await page.getByText("no longer updates by itself").waitFor();
    await payments.receiveWebhook(signed(completedBody()));
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await customer.state("paid").waitFor();
    expect(customer.complaints).toEqual([]);
    await customer.leaves();
  });

  it("changes from failed to paid when the payment completes after all", async () => {
    const { customer, payments, wait } = await open();
    await payments.receiveWebhook(signed(statusBody("failed")));
    await wait(1000);
    await customer.state("failed").waitFor();
    await payments.receiveWebhook(signed(completedBody()));
    await wait(minute);
    await customer.state("paid").waitFor();
    expect(customer.complaints).toEqual([]);
    await customer.leaves();
  });

  it("changes from canceled to paid when the payment completes after all", async () => {
    const { customer, payments, wait } = await open("cancel");
    await customer.state("canceled").waitFor();
    await payments.receiveWebhook(signed(completedBody()));
    await wait(1000);
    await customer.state("paid").waitFor();
    expect(customer.complaints).toEqual([]);
    await customer.leaves();
  });

  describe("after two minutes", () => {
    const later = new Date("2026-11-20T10:02:00.000Z");

    it.each([
      ["with JavaScript", true],
      ["without JavaScript", false],
    ])(
      "takes the number of a customer who has paid, and shows the service's once it is paid: %s",
      async (_, javaScriptEnabled) => {
        const { customer, page, wait, clock, payments } = await open("success", {
          screen: { javaScriptEnabled },
        });
        expect(await page.getByRole("link", { name: "I have paid" }).isVisible()).toBe(false);
        clock.now = later;
        if (javaScriptEnabled) await wait(2 * minute);
        else await page.reload();
        await page.getByRole("link", { name: "I have paid" }).click();
        await page.getByLabel("Number from the SMS or the receipt").fill("mvk 778");
        await page.getByRole("button", { name: "Send" }).click();
        await customer.state("claimed").waitFor();
        await page.getByText("Thank you, we have your number").waitFor();
        await payments.receiveWebhook(signed(completedBody()));
        // The page without a script reloads itself, which a click need not wait for.
        if (javaScriptEnabled) await wait(minute);
        else await page.getByRole("link", { name: "Look again" }).click();
        await customer.state("paid").waitFor();
        expect(await page.getByText("MVK-778", { exact: true }).isVisible()).toBe(true);
        expect(await page.getByRole("link", { name: "Correct the number" }).isVisible()).toBe(false);
        expect(customer.complaints).toEqual([]);
        await customer.leaves();
      },
    );

    it("keeps what a customer without JavaScript is writing", async () => {
      const { customer, page, clock } = await open("success", { screen: { javaScriptEnabled: false } });
      clock.now = later;
      await page.goto(`${page.url()}?claim`);
      await page.getByLabel("Number").fill("mvk 7");
      expect(await page.locator("meta[http-equiv=refresh]").count()).toBe(0);
      expect(await page.getByLabel("Number").inputValue()).toBe("mvk 7");
      await customer.leaves();
    });

    it("refuses a form that a page of another site sends with a stolen address", async () => {
      const { customer, page, clock, payments } = await open();
      clock.now = later;
      const target = `${page.url()}?claim`;
      const evil = await serve((_request, response) => {
        response.setHeader("Content-Type", "text/html");
        response.end(`<form method="post" action="${target}"><input name="number" value="MVK-1"></form>`);
      });
      await page.goto(evil.replace("127.0.0.1", "localhost"));
      const answered = page.waitForResponse(target);
      await page.evaluate("document.forms[0].submit()");
      expect((await answered).status()).toBe(403);
      expect((await payments.history("c-1")).entries.map(({ kind }) => kind)).not.toContain("claim");
      await customer.leaves();
    });
  });

  it("shows the amount that a person accepts while it is open", async () => {
    const { customer, page, payments, wait } = await open();
    const total = { value: "1470", currency: "KMF" };
    const { receiptId } = await payments.receiveWebhook(signed(completedBody({ total })));
    await wait(1000);
    await customer.state("mismatch").waitFor();
    expect(await page.getByText("1,475\u00a0KMF").isVisible()).toBe(true);
    await payments.resolve({ action: "accept", receiptId, reason: "5 KMF short", by: "Amina" });
    await wait(minute);
    await customer.state("paid").waitFor();
    expect(await page.getByText("1,470\u00a0KMF").isVisible()).toBe(true);
    await customer.leaves();
  });

  it("offers another attempt after a failure, and not once it is paid after all", async () => {
    const returns = { payAgainUrl: "/pay/{reference}", orderUrl: "/orders/{reference}" };
    const { customer, page, payments, wait } = await open("success", { returns });
    const again = page.getByRole("link", { name: "Pay again" });
    expect(await again.isVisible()).toBe(false);
    await payments.receiveWebhook(signed(statusBody("failed")));
    await wait(1000);
    await customer.state("failed").waitFor();
    expect(await again.getAttribute("href")).toBe("/pay/order-1");
    expect(await again.isVisible()).toBe(true);
    await payments.receiveWebhook(signed(completedBody()));
    await wait(minute);
    await customer.state("paid").waitFor();
    expect(await again.isVisible()).toBe(false);
    await customer.leaves();
  });

  const looks = {
    accent: "#ffe14d",
    background: "#777777",
    contact: "+269 321 00 00",
    backUrl: "/",
    backLabel: "Back to Soko Bahari",
  } satisfies ReturnOptions;

  it.each([
    ["light", "page"],
    ["dark", "page"],
    ["light", "form"],
    ["dark", "form"],
  ] as const)(
    "has no serious barrier with colours that are hard to read, in %s: the %s",
    async (colorScheme, place) => {
      const viewport = { width: 390, height: 844 };
      const { customer, page, wait, clock } = await open("success", {
        returns: looks,
        screen: { colorScheme, viewport },
      });
      await wait(minute);
      await customer.state("delayed").waitFor();
      await page.getByRole("link", { name: "+269 321 00 00" }).waitFor();
      if (place === "form") {
        clock.now = new Date("2026-11-20T10:02:00.000Z");
        await page.goto(`${page.url()}?claim`);
        await page.getByLabel("Number").fill("!!!!");
        await page.getByRole("button").click();
        await page.getByRole("alert").waitFor();
      }
      await page.evaluate(axe.source);
      const violations = page.evaluate<{ id: string; impact: string }[]>(
        "axe.run(document).then(({ violations }) => violations.map(({ id, impact }) => ({ id, impact })))",
      );
      await page.clock.runFor(1000);
      expect(await violations).toEqual([]);
      await customer.leaves();
    },
  );
});

describe("the merchant's colour", () => {
  it("is kept where it can be read, and otherwise made darker or lighter", () => {
    expect(accentStyle("#0B6650")).toContain("{ --accent: #0b6650;");
    expect(accentStyle("#ffe14d")).toMatch(/^\.sheet :is\(a, button\) \{ --accent: #(?!ffe14d)/);
    expect(accentStyle("#ffe14d")).toContain("dark) { .sheet :is(a, button) { --accent: #ffe14d;");
    for (const accent of ["#000000", "#ffffff", "#808080", "#ff0000", "#ffe14d"])
      expect(accentStyle(accent).match(/--accent: #[\da-f]{6}; --accent-strong: #[\da-f]{6};/g)).toHaveLength(
        2,
      );
  });
});
