import { readFileSync } from "node:fs";
import { createPayments, type ConfigurationError, type ReturnTranslations } from "tillkit";
import { returnTranslations } from "../../../src/checkout/return-translations.js";
import { testOptions } from "../../support/kit.js";

const { en } = returnTranslations;

/** Returns the problems of the option, one for each language. */
function problemsOf(translations: unknown): string[] {
  try {
    createPayments(
      testOptions({ returns: { translations: translations as Record<string, ReturnTranslations> } }),
    );
    return [];
  } catch (error) {
    return (error as ConfigurationError).problems.map(({ option, message }) => `${option} ${message}`);
  }
}

describe("returns.translations", () => {
  it("takes a complete table, of another language or of one that the kit has", () => {
    expect(problemsOf({ sw: en, fr: en })).toEqual([]);
  });

  it("lists everything that is missing, unknown or unusable of a language in one problem", () => {
    const { paid: _, payAgain: __, ...rest } = en;
    const wrong = {
      ...rest,
      delayed: { title: "", message: "no number" },
      claim: { ...en.claim, send: 7, sent: "x" },
      more: { deep: { deeper: "x" } },
      back: "a\u0000b",
      order: "o".repeat(501),
    };
    expect(problemsOf({ sw: wrong, ar: en })).toEqual([
      "returns.translations.sw is not usable: it lacks paid.title, paid.message, payAgain; nothing shows claim.sent, more.deep; " +
        "these need 1 to 500 characters delayed.title, claim.send, order, back; these need {order} delayed.message.",
    ]);
  });

  it("has every English text in the documentation, to begin with", () => {
    const page = readFileSync("docs/returns.md", "utf8");
    const said = JSON.stringify(en).match(/"(?:\\.|[^"])*"(?=[,}])/g)!;
    expect(said.length).toBeGreaterThan(35);
    expect(said.filter((text) => !page.includes(text))).toEqual([]);
  });

  it.each([
    ["sw-KE", en],
    ["Swahili", en],
    ["constructor", en],
  ])("refuses the name %s, which is no code of a language", (name, table) => {
    expect(problemsOf({ [name]: table })).toEqual([expect.stringContaining("two or three small letters")]);
  });

  it.each([["sw"], [null], [7]])("refuses %p in place of tables", (value) => {
    expect(problemsOf(value)).toEqual([expect.stringContaining("must be an object")]);
    expect(problemsOf({ sw: value })).toEqual([expect.stringContaining("it lacks confirming.title")]);
  });
});
