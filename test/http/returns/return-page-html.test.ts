import { type ReturnState } from "../../../src/checkout/handle-return.js";
import { returnTranslations } from "../../../src/checkout/return-translations.js";
import { accentStyle, backgroundStyle } from "../../../src/http/returns/colours.js";
import {
  notFoundPage,
  type PageFrame,
  returnPage,
  returnStatus as statusOf,
  unavailablePage,
} from "../../../src/http/returns/return-page.js";
import { type Payment } from "tillkit";
import { pendingPayment } from "../../support/webhooks.js";

const quarter = 15 * 60 * 1000;
const payment = pendingPayment({ reference: "order-7" });
const states: ReturnState[] = ["confirming", "delayed", "claimed", "mismatch", "paid", "canceled", "failed"];
const languages = ["en", "fr"] as const;
const frame: PageFrame = { language: "en", nonce: "abc", shop: {} };

const returnStatus = (view: { state: ReturnState; payment: Payment }, language: PageFrame["language"]) =>
  statusOf({ canClaim: false, ...view }, { ...frame, language });

/** Returns the page of a payment in a state, for a browser that came back so long ago. */
const pageOf = (state: ReturnState, waitedMs = 0, over: Partial<PageFrame> = {}) =>
  returnPage({ kind: "success", state, payment, waitedMs, canClaim: false }, { ...frame, ...over });
const pageWith = (shop: PageFrame["shop"]) => pageOf("paid", 0, { shop });

/** Returns a page without its style, which names what a page can have. */
const withoutStyle = (html: string) => html.replace(/<style[^]*<\/style>/, "");

/** Returns the opening tags of a page that have this name. */
const tags = (html: string, name: string) => html.match(new RegExp(`<${name}[\\s>][^>]*>?`, "g")) ?? [];

describe("what a return page says of a payment", () => {
  it("has the provider's number only where the service proved it", () => {
    const receiptOf = (verified: NonNullable<Payment["reported"]>["verified"]) => {
      const reported = { status: "completed", at: payment.createdAt, providerId: "MVK-778", verified };
      return returnStatus({ state: "paid", payment: { ...payment, state: "completed", reported } }, "en")
        .receipt;
    };
    expect(receiptOf(["status", "providerId"])).toBe("MVK-778");
    expect(receiptOf(["status"])).toBeUndefined();
  });

  it.each(states)("has a title and a message for %s in every language", (state) => {
    const [english, french] = languages.map((language) => returnStatus({ state, payment }, language));
    expect(english!.title.length).toBeGreaterThan(8);
    expect(english!.message.length).toBeGreaterThan(20);
    expect(french!.title).not.toBe(english!.title);
    expect(french!.message).not.toBe(english!.message);
    expect(french!.title.length).toBeGreaterThan(8);
    expect(french!.message.length).toBeGreaterThan(20);
  });

  it.each(["delayed", "claimed", "mismatch"] as const)("names the order where it is %s", (state) => {
    for (const language of languages)
      expect(returnStatus({ state, payment }, language).message).toContain("order-7");
  });

  it("shows the amount that was paid, where a person accepted another one", () => {
    const paid = { ...payment, state: "completed", received: { value: "1470", currency: "KMF" } } as const;
    const page = returnPage(
      { kind: "success", state: "paid", payment: paid, waitedMs: 0, canClaim: false },
      frame,
    );
    expect(page).toContain("1,470\u00a0KMF");
    expect(page).not.toContain("1,475");
  });

  it("is final when it is paid, and can change in every other state", () => {
    const final = states.filter((state) => returnStatus({ state, payment }, "en").final);
    expect(final).toEqual(["paid"]);
  });

  it("speaks of money received only where it is paid", () => {
    const titles = states.map((state) => returnStatus({ state, payment }, "en").title);
    expect(titles.filter((title) => title.includes("received"))).toEqual(["Payment received"]);
  });
});

describe("a return page that is not final", () => {
  it.each([
    ["confirming", 3],
    ["delayed", 10],
    ["canceled", 10],
    ["failed", 10],
  ] as const)("where it is %s, reloads without a script after %d s", (state, seconds) => {
    const html = pageOf(state);
    expect(html).toContain(`<noscript><meta http-equiv="refresh" content="${seconds}" /></noscript>`);
    expect(html).toContain('<noscript><a class="button" href="">Look again</a></noscript>');
    expect(tags(html, "script")).toEqual(['<script nonce="abc">']);
    expect(html).toContain('<p class="live">');
    expect(html).toContain('data-delayed-title="This takes longer than usual"');
    expect(html).toContain("data-delayed-message=");
    expect(withoutStyle(html)).not.toContain("data-ended");
  });

  it.each([
    ["before a quarter of an hour has passed", quarter - 1, true],
    ["after a quarter of an hour", quarter, false],
  ])("asks for the state %s: %p ms", (_, waitedMs, asks) => {
    const html = pageOf("delayed", waitedMs);
    expect(html.includes('data-ended=""')).toBe(!asks);
    expect(html.includes("<noscript>")).toBe(asks);
    // The script begins again when the customer comes back to the page.
    expect(tags(html, "script")).toHaveLength(1);
  });
});

it.each([0, quarter])("the page of a paid payment asks for nothing, also after %d ms", (waitedMs) => {
  const html = withoutStyle(pageOf("paid", waitedMs));
  for (const part of ["<script", "<noscript", "refresh", "data-ended", "takes longer", 'class="live"'])
    expect(html).not.toContain(part);
});

it("a return page shows the amount and the order, and escapes what the application gave", () => {
  const html = returnPage(
    {
      kind: "success",
      state: "paid",
      payment: { ...payment, reference: "<b>7</b>" },
      waitedMs: 0,
      canClaim: false,
    },
    frame,
  );
  expect(html).toContain("<dt>Amount</dt>");
  expect(html).toContain("<dt>Order</dt>");
  expect(html).toContain("<dd>&lt;b&gt;7&lt;/b&gt;</dd>");
  expect(html).toContain('data-state="paid"');
});

it.each([
  ["none", {}, []],
  ["the kit's own label", { backUrl: "/orders/7" }, ['<a class="button main" href="/orders/7">']],
  [
    "after the link to the order",
    { backUrl: "/", orderUrl: "/orders/7" },
    ['<a class="button main" href="/orders/7">', '<a class="button plain" href="/">'],
  ],
])("a return page has the link back that the shop gives: %s", (_, over, links) => {
  const html = pageOf("paid", 0, over);
  expect(tags(html, "a")).toEqual(links);
  expect(html.includes("Back to the shop")).toBe(links.length > 0);
});

describe("the link to another attempt", () => {
  const over = { payAgainUrl: "/pay/7", orderUrl: "/orders/7" };

  it("is the first one, before the order, and the style shows it only where another attempt is safe", () => {
    const html = pageOf("failed", 0, over);
    expect(tags(html, "a").filter((tag) => tag.includes("main"))).toEqual([
      '<a class="button main again" href="/pay/7">',
      '<a class="button main" href="/orders/7">',
    ]);
    expect(html).toContain(
      ":is([data-state=canceled], [data-state=failed]) .again { display: inline-flex; }",
    );
    expect(html).toContain(".button.claim, .button.again { display: none; }");
  });

  it("is absent where the shop names no address", () => {
    expect(withoutStyle(pageOf("failed"))).not.toContain("Pay again");
  });
});

describe("a page in a language of the merchant", () => {
  const { en } = returnTranslations;
  const delayed = { title: "Subiri", message: "Agizo {order}, {order}" };
  const shop = { translations: { sw: { ...en, delayed }, ar: en } };

  it("has the merchant's translations and the number of the order, also one with signs of patterns", () => {
    const view = {
      state: "delayed",
      payment: { ...payment, reference: "$&{order}" },
      canClaim: false,
    } as const;
    const { title, message } = statusOf(view, { language: "sw", shop });
    expect([title, message]).toEqual(["Subiri", "Agizo $&{order}, $&{order}"]);
  });

  it.each([
    ["sw", "ltr"],
    ["ar", "rtl"],
    ["en", "ltr"],
  ])("says its direction: %s", (language, direction) => {
    expect(pageOf("paid", 0, { language, shop })).toContain(`<html lang="${language}" dir="${direction}">`);
  });
});

it("a return page shows the shop's own label on the link back", () => {
  const html = pageOf("paid", 0, { backUrl: "/", shop: { backLabel: "To Soko" } });
  expect(html).toContain('href="/">To Soko</a>');
});

it("a return page shows the shop's name, or its logo with the name as its description", () => {
  expect(pageWith({})).not.toContain('class="over"');
  expect(pageWith({ shopName: "Soko" })).toContain('<p class="over">Soko</p>');
  expect(tags(pageWith({ shopName: "Soko", logoUrl: "/logo.svg" }), "img")).toEqual([
    '<img class="logo" src="/logo.svg" alt="Soko" />',
  ]);
});

it.each([
  ["https://soko.example/help", "https://soko.example/help"],
  ["help@soko.example", "mailto:help@soko.example"],
  ["h%lp@soko.example", "mailto:h%25lp@soko.example"],
  ["+269 321 00 00", "tel:+2693210000"],
  ["(0)32-100.00", "tel:03210000"],
  ["12345", "tel:12345"],
])("a contact becomes a link where it is an address as a whole: %s", (contact, href) => {
  const html = pageWith({ contact });
  expect(html).toContain(`<a href="${href}">${contact}</a>`);
  expect(html).toContain("Questions?");
});

it.each([
  ["see https://soko.example/help"],
  ["https://soko.example/help or the shop"],
  ["help@soko.example or the shop"],
  ["write help@soko.example"],
  ["http://soko.example"],
  ["help@soko@example"],
  ["+1234"],
  ["call 321 00 00"],
  ["321 00 00 in the morning"],
  ["1".repeat(26)],
  ["at the counter"],
])("a contact that is more than an address is shown as it is: %s", (contact) => {
  const html = pageWith({ contact });
  expect(html).toContain(contact);
  expect(tags(html, "a")).toEqual([]);
});

it("a return page without a contact asks no question", () => {
  expect(pageWith({})).not.toContain('class="contact"');
});

it.each(languages)("the pages without a payment say in %s what is the matter", (language) => {
  const unknown = notFoundPage({ ...frame, language });
  expect(unknown).toContain('data-state="not_found"');
  expect(unknown).toContain(language === "en" ? "Page not found" : "Page introuvable");
  expect(unknown).not.toContain("refresh");
  const unavailable = unavailablePage({ ...frame, language });
  expect(unavailable).toContain('data-state="unavailable"');
  expect(unavailable).toContain(language === "en" ? "One moment, please" : "Un instant");
  expect(unavailable).toContain('<meta http-equiv="refresh" content="3" />');
  for (const page of [unknown, unavailable]) expect(tags(page, "script")).toEqual([]);
});

describe("the merchant's colour on a return page", () => {
  /** Returns the contrast of two colours by the formula of WCAG 2.2. */
  function contrast(one: string, other: string): number {
    const [a, b] = [one, other].map((colour) => {
      const [red, green, blue] = colour.match(/[\da-f]{2}/gi)!.map((part) => {
        const share = Number.parseInt(part, 16) / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
    });
    return (Math.max(a!, b!) + 0.05) / (Math.min(a!, b!) + 0.05);
  }
  it("is behind the card in its own colour, where dark text can be read on it, and dark on dark pages", () => {
    expect(backgroundStyle(undefined)).toBe("");
    expect(pageWith({ background: "#FBF6EE" })).toContain(":root { --page: #fbf6ee; }");
    for (const background of ["#000000", "#123456", "#ff0000", "#808080", "#fbf6ee", "#ffffff"]) {
      const [light, dark] = [...backgroundStyle(background).matchAll(/--page: (#\w{6});/g)].map(
        ([, one]) => one!,
      );
      expect(contrast(light!, "#15201c")).toBeGreaterThanOrEqual(4.5);
      expect(contrast(dark!, "#eef3f0")).toBeGreaterThanOrEqual(contrast(cards[1], "#eef3f0"));
    }
  });

  const cards = ["#ffffff", "#171e1b"] as const;
  const rule = /--accent: (#\w{6}); --accent-strong: (#\w{6}); --on-accent: (#\w{6});/g;
  const coloursOf = (accent: string) => [...accentStyle(accent).matchAll(rule)].map(([, ...rest]) => rest);

  it("is in the style of the page, and without one nothing is", () => {
    expect(pageWith({ accent: "#0b6650" })).toContain("--accent: #0b6650;");
    expect(accentStyle(undefined)).toBe("");
    expect(tags(pageWith({}), "style")).toEqual(['<style nonce="abc">']);
    expect(pageWith({})).toContain("[data-state=paid] .tick");
    expect(pageWith({})).not.toContain(".sheet :is(a, button) { --accent");
  });

  it.each([
    "#000000",
    "#0a0a0a",
    "#0b6650",
    "#767676",
    "#777777",
    "#ff0000",
    "#00ff00",
    "#ffe14d",
    "#ffffff",
  ])("can be read on both cards, and is changed no more than that needs: %s", (accent) => {
    const colours = coloursOf(accent);
    expect(colours.map(([, , card]) => card)).toEqual(cards);
    for (const [main, strong, card] of colours) {
      expect(contrast(main!, card!)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(strong!, card!)).toBeGreaterThanOrEqual(contrast(main!, card!));
      const isReadable = contrast(accent, card!) >= 4.5;
      expect([accent, main === accent]).toEqual([accent, isReadable]);
      expect(contrast(main!, card!)).toBeLessThan(isReadable ? 22 : 5.2);
    }
  });
});
