import axe from "axe-core";
import { type Browser } from "playwright-core";
import { Customer } from "../shop/customer.js";
import { describeInBrowser, launchChromium } from "../shop/chromium.js";
import { openShop, type OpenShop } from "../shop/open-shop.js";
import { everyPage } from "./every-page.js";

jest.setTimeout(120_000);

const phone = { width: 375, height: 812 };
const desktop = { width: 1280, height: 900 };

/** Every pair of language, screen and colours occurs. */
const looks = {
  en: [
    { viewport: phone, colorScheme: "light" },
    { viewport: desktop, colorScheme: "dark" },
  ],
  fr: [
    { viewport: phone, colorScheme: "dark" },
    { viewport: desktop, colorScheme: "light" },
  ],
} as const;

/** Every control, except links in running text, and boxes, whose label is the target. */
const tooSmall = `
[...document.querySelectorAll("button, select, textarea, summary, nav a, a.back, a.button, .head > a, .row a, input:not([type=hidden], [type=checkbox], [type=radio]), .check, .provider")]
  .filter((element) => {
    const { width, height } = element.getBoundingClientRect();
    const target = element.matches(".row a") ? element.closest(".row").getBoundingClientRect() : { width, height };
    return width > 0 && (target.height < 44 || target.width < 44);
  })
  .map((element) => element.outerHTML.slice(0, 120))`;

const tooWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";

/** What axe finds that is serious or critical. */
const barriers = `
axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
  violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => [id, html.slice(0, 160), failureSummary].join("\\n"))))`;

describeInBrowser("every page of the sandbox, the kit and the example shop", () => {
  let browser: Browser;
  let shop: OpenShop;
  let pages: Record<string, string>;
  beforeAll(async () => {
    browser = await launchChromium();
    shop = await openShop();
    pages = await everyPage(shop);
  });
  afterAll(async () => {
    await shop.close();
    await browser.close();
  });

  it.each(["en", "fr"] as const)("has no serious barrier in %s by axe-core", async (language) => {
    const httpCredentials = { username: "keeper", password: shop.keeperPassword };
    const person = await Customer.in(browser, { locale: language, httpCredentials });
    const found: [page: string, look: string, problems: string[]][] = [];
    for (const [name, address] of Object.entries(pages)) {
      await person.page.goto(address);
      await person.page.evaluate(axe.source);
      for (const { viewport, colorScheme } of looks[language]) {
        await person.page.setViewportSize(viewport);
        await person.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        const problems = await person.page.evaluate<string[]>(barriers);
        if (problems.length > 0) found.push([name, `${colorScheme} ${viewport.width}`, problems]);
      }
    }
    expect(found).toEqual([]);
    expect(person.complaints).toEqual([]);
    await person.leaves();
  });

  it("fits a screen of 320 pixels in both languages", async () => {
    const found: string[] = [];
    for (const locale of ["en", "fr"]) {
      const httpCredentials = { username: "keeper", password: shop.keeperPassword };
      const person = await Customer.in(browser, {
        locale,
        httpCredentials,
        viewport: { width: 320, height: 640 },
      });
      for (const [name, address] of Object.entries(pages)) {
        await person.page.goto(address);
        if (await person.page.evaluate<boolean>(tooWide)) found.push(`${locale} ${name}`);
      }
      await person.leaves();
    }
    expect(found).toEqual([]);
  });

  it("of the sandbox has targets of 44 pixels, on a phone and on a desktop screen", async () => {
    const found: [string, number, string[]][] = [];
    const person = await Customer.in(browser);
    for (const viewport of [phone, desktop]) {
      await person.page.setViewportSize(viewport);
      for (const [name, address] of Object.entries(pages).filter(([, url]) =>
        url.startsWith(shop.sandbox.url),
      )) {
        await person.page.goto(address);
        const small = await person.page.evaluate<string[]>(tooSmall);
        if (small.length > 0) found.push([name, viewport.width, small]);
      }
    }
    expect(found).toEqual([]);
    await person.leaves();
  });
});
