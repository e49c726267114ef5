import { inLanguage, readLanguage, translate } from "../../src/pages/language.js";

/** A request whose browser asks for one language, as Express tells it. */
function asking(accepted: string) {
  return { acceptsLanguages: (...offered: string[]) => offered.find((each) => each === accepted) ?? false };
}

describe("translations", () => {
  const table = translate({
    pay: ["Pay", "Payer"],
    page: (number: number, of: number) => [`Page ${number} of ${of}`, `Page ${number} sur ${of}`],
    names: { status: ["Status", "État"] },
  });

  it("have every text, function and group in both languages", () => {
    expect([table.en.pay, table.fr.pay]).toEqual(["Pay", "Payer"]);
    expect([table.en.page(1, 2), table.fr.page(1, 2)]).toEqual(["Page 1 of 2", "Page 1 sur 2"]);
    expect([table.en.names.status, table.fr.names.status]).toEqual(["Status", "État"]);
    expect(inLanguage(["Pay", "Payer"], "fr")).toBe("Payer");
  });

  it("do not compile without the French, and have no other text", () => {
    // @ts-expect-error: the French is missing.
    expect(translate({ pay: ["Pay"] }).fr.pay).toBeUndefined();
    // @ts-expect-error: the table has no such text.
    expect(table.en.missing).toBeUndefined();
  });
});

describe("the language of a page", () => {
  it.each([
    ["fr", undefined, "fr"],
    ["en", undefined, "en"],
    ["de", undefined, "en"],
    ["en", "fr-KM", "fr"],
    ["fr", "EN", "en"],
    ["fr", "de", "fr"],
    ["fr", "", "fr"],
  ] as const)("is, where the browser asks for %j and the payment has %j, %s", (accepted, tag, language) => {
    expect(readLanguage(asking(accepted), tag)).toBe(language);
  });

  it("can be another one that the page has", () => {
    expect(readLanguage(asking("ar"), undefined, ["ar"])).toBe("ar");
    expect(readLanguage(asking("en"), "ar-KM", ["sw", "ar"])).toBe("ar");
    expect(readLanguage(asking("sw"), undefined, ["ar"])).toBe("en");
  });
});
