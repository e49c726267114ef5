import axe from "axe-core";
import { type Browser } from "playwright-core";
import { htmlReport } from "tillkit/statement";
import { describeInBrowser, launchChromium } from "../../shop/chromium.js";
import { everything, written } from "../support/everything.js";

const looks = [
  { language: "en", viewport: { width: 375, height: 812 }, colorScheme: "light" },
  { language: "fr", viewport: { width: 375, height: 812 }, colorScheme: "dark" },
  { language: "fr", viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  { language: "en", viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
] as const;

const violations = `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))`;

describeInBrowser("the HTML report in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  it.each(looks)("is accessible, in $language at $viewport.width, $colorScheme", async (look) => {
    const { language, ...device } = look;
    const context = await browser.newContext({ ...device, bypassCSP: true });
    const page = await context.newPage();
    await page.setContent(written(htmlReport({ language, name: "may.csv" }), await everything()));
    await page.evaluate(axe.source);
    expect(await page.evaluate(violations)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    await context.close();
  });

  it("is shown under its own policy without errors, and a link to a list unfolds it", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("request", (request) => {
      if (!/^(about|data):/.test(request.url())) complaints.push(request.url());
    });
    await page.setContent(written(htmlReport(), await everything()));
    const isOpen = `document.getElementById("missing_here").closest("details").open`;
    expect(await page.evaluate(isOpen)).toBe(false);
    await page.click('a[href="#missing_here"]');
    await page.locator("#missing_here").waitFor({ state: "visible" });
    expect(await page.evaluate(isOpen)).toBe(true);
    const radius = `getComputedStyle(document.querySelector(".verdict")).borderRadius`;
    expect(await page.evaluate(radius)).toBe("16px");
    expect(complaints).toEqual([]);
    await context.close();
  });
});
