import {
  amountOf,
  milliseconds,
  moment,
  timeOfDay,
  timeSpan,
} from "../../../../src/sandbox/dashboard/frame/format.js";

describe("the dashboard", () => {
  it("shows an amount with its currency on one line", () => {
    expect(amountOf({ value: "1475.00", currency: "KMF" })).toBe("1,475\u00a0KMF");
    expect(amountOf({ value: "10.5", currency: "EUR" })).toBe("10.50\u00a0EUR");
  });

  it("shows a time in UTC, with its exact value", () => {
    const shown = moment("2026-11-22T10:02:05.123Z").toString();
    expect(shown).toBe('<time datetime="2026-11-22T10:02:05.123Z">22 Nov 2026, 10:02:05 UTC</time>');
    expect(timeOfDay(new Date("2026-11-22T10:02:05.123Z")).toString()).toBe(
      '<time datetime="2026-11-22T10:02:05.123Z">10:02:05 UTC</time>',
    );
    expect(milliseconds(1234)).toBe("1,234\u00a0ms");
  });

  it.each([
    [0, "0 seconds"],
    [1499, "1 second"],
    [3_600_000, "1 hour"],
    [90_061_000, "1 day, 1 hour"],
    [86_400_000 * 2 + 5000, "2 days, 5 seconds"],
  ])("shows a span of %i ms in its two largest units", (ms, shown) => {
    expect(timeSpan(ms)).toBe(shown);
  });
});
