import { checkPaymentRequest } from "../../src/checkout/payment-request.js";
import { codeOf } from "../webhook/signature/refusal.js";

const order = { reference: "order-7", total: { value: "1475", currency: "KMF" } };
const cycle: Record<string, unknown> = {};
cycle["self"] = cycle;

/** Returns metadata whose JSON has this number of bytes. */
function metadataOf(bytes: number) {
  const empty = Buffer.byteLength(JSON.stringify({ note: "é" }));
  return { note: `é${"x".repeat(bytes - empty)}` };
}

describe("a request for a payment", () => {
  it.each([
    ["a reference of one character", { reference: "7" }],
    ["a reference of 200 characters", { reference: "é".repeat(200) }],
    ["a reference that begins with a dot", { reference: ".7" }],
    ["a clientId of 64 characters", { clientId: "shop_A-1.x:".padEnd(64, "0") }],
    ["a clientId that begins with a dot", { clientId: ".7" }],
    ["a language of two letters", { locale: "fr" }],
    ["a language of three letters", { locale: "swb" }],
    ["a language and a country", { locale: "en-GB" }],
    ["a language, a script and a country", { locale: "zh-Hant-TW" }],
    ["a tag of 35 characters", { locale: `fr${"-abcdefgh".repeat(3)}-abcde` }],
    ["empty metadata", { metadata: {} }],
    ["metadata of 4096 bytes", { metadata: metadataOf(4096) }],
    ["a date in the metadata", { metadata: { at: new Date() } }],
    ["what is left out given as undefined", { clientId: undefined, locale: undefined, metadata: undefined }],
  ])("may have %s", (_, more) => {
    expect(() => checkPaymentRequest({ ...order, ...more })).not.toThrow();
  });

  it.each([
    ["an amount as a number", { total: { value: 1475, currency: "KMF" } }, "amount_invalid"],
    ["a comma", { total: { value: "14,75", currency: "EUR" } }, "amount_invalid"],
    ["decimals that its currency has not", { total: { value: "14.75", currency: "KMF" } }, "amount_invalid"],
    ["an amount of zero", { total: { value: "0.00", currency: "EUR" } }, "amount_invalid"],
    ["a currency in small letters", { total: { value: "1475", currency: "kmf" } }, "currency_invalid"],
    ["no total", { total: undefined }, "amount_invalid"],
    ["no reference", { reference: undefined }, "reference_invalid"],
    ["an empty reference", { reference: "" }, "reference_invalid"],
    ["a reference of 201 characters", { reference: "a".repeat(201) }, "reference_invalid"],
    ["a reference as a number", { reference: 7 }, "reference_invalid"],
    ["a reference with a NUL", { reference: "a\0b" }, "reference_invalid"],
    ["a reference of dots only", { reference: ".." }, "reference_invalid"],
    ["an empty clientId", { clientId: "" }, "client_id_invalid"],
    ["a clientId of dots only", { clientId: "..." }, "client_id_invalid"],
    ["a clientId with a comma", { clientId: "a,b" }, "client_id_invalid"],
    ["a clientId of 65 characters", { clientId: "a".repeat(65) }, "client_id_invalid"],
    ["a clientId as a number", { clientId: 7 }, "client_id_invalid"],
    ["a locale with a header after it", { locale: "fr\r\nX-Evil: 1" }, "locale_invalid"],
    ["a locale with an underscore", { locale: "fr_FR" }, "locale_invalid"],
    ["a locale that begins with a dash", { locale: "-fr" }, "locale_invalid"],
    ["the name of a language as locale", { locale: "french" }, "locale_invalid"],
    ["an empty locale", { locale: "" }, "locale_invalid"],
    ["a locale of 36 characters", { locale: `fr${"-abcdefgh".repeat(3)}-abcdef` }, "locale_invalid"],
    ["a locale longer than a column", { locale: `fr${"-abcdefg".repeat(45)}` }, "locale_invalid"],
    ["a list of locales", { locale: ["fr"] }, "locale_invalid"],
    ["metadata that is no JSON", { metadata: { big: 1n } }, "metadata_invalid"],
    ["metadata that contains itself", { metadata: cycle }, "metadata_invalid"],
    ["metadata of 4097 bytes", { metadata: metadataOf(4097) }, "metadata_invalid"],
    ["a list as metadata", { metadata: ["cart"] }, "metadata_invalid"],
    ["a string as metadata", { metadata: "cart" }, "metadata_invalid"],
    ["a date as metadata", { metadata: new Date() }, "metadata_invalid"],
    ["null as metadata", { metadata: null }, "metadata_invalid"],
    ["a misspelt clientId", { clientID: "c-1" }, "option_invalid"],
  ])("is refused with %s", (_, wrong, code) => {
    expect(codeOf(() => checkPaymentRequest({ ...order, ...wrong } as never))).toBe(code);
  });

  it("is refused where there is none", () => {
    expect(codeOf(() => checkPaymentRequest(undefined as never))).toBe("reference_invalid");
  });

  it("has a clientId that begins with the shop's prefix, where it has one", () => {
    const check = (clientId: string) => checkPaymentRequest({ ...order, clientId }, "soko-");
    expect(() => check("soko-7")).not.toThrow();
    expect(() => checkPaymentRequest(order, "soko-")).not.toThrow();
    for (const foreign of ["7", "7-soko-", "Soko-7"])
      expect(codeOf(() => check(foreign))).toBe("client_id_invalid");
  });
});
