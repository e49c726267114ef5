import { fc } from "../../support/property.js";
import { decodeStrict } from "../../../src/webhook/message/decode-strict.js";
import { bytes, webhook } from "./webhooks.js";

const reason = (body: Buffer | string) => {
  const decoded = decodeStrict(typeof body === "string" ? bytes(body) : body);
  return decoded.ok ? undefined : decoded.reason;
};
const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;

/** Returns the key with every UTF-16 unit escaped. */
function escapeAll(key: string): string {
  const units = Array.from({ length: key.length }, (_, at) =>
    key.charCodeAt(at).toString(16).padStart(4, "0"),
  );
  return `"${units.map((unit) => `\\u${unit}`).join("")}"`;
}

describe("decodeStrict", () => {
  it("decodes to the value of JSON.parse", () => {
    const written = JSON.stringify(
      webhook({ note: 'a "quoted\\" {brace} [\u2028 é 😀', list: [1, -0, 1e30] }),
    );
    expect(decodeStrict(bytes(written))).toEqual({ ok: true, payload: JSON.parse(written) });
    expect(reason(' \t\r\n{ "a" : [ "b" , { "a" : "a" } ] } ')).toBeUndefined();
  });

  it.each([
    ["a byte that never occurs", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ["an overlong form", Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d])],
    ["a raw surrogate", Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
    ["a cut sequence", Buffer.from([0x7b, 0x22, 0xe2, 0x82, 0x22, 0x3a, 0x31, 0x7d])],
  ])("refuses invalid UTF-8: %s", (_, body) => {
    expect(reason(body)).toBe("not valid UTF-8");
  });

  it("refuses a byte order mark", () => {
    expect(reason("\ufeff{}")).toBe("byte order mark");
  });

  it.each([
    "",
    " ",
    "{",
    "{} {}",
    "{'a':1}",
    '{"a":1,}',
    '{"a":NaN}',
    '{"a":"\n"}',
    "[1",
    "undefined",
    "\u0000{}",
  ])("refuses invalid JSON: %j", (body) => {
    expect(reason(body)).toBe("not valid JSON");
  });

  it.each(["[]", "null", "true", "1", '"{}"', "[{}]"])("refuses %s, which is no object", (body) => {
    expect(reason(body)).toBe("not a JSON object");
  });

  it.each([
    ['{"status":"a","status":"b"}', 'duplicate key "status"'],
    ['{"status":"a","\\u0073tatus":"b"}', 'duplicate key "status"'],
    ['{"status":"a","status":"a"}', 'duplicate key "status"'],
    ['{"data":{"total":{"value":"1","value":"2"}}}', 'duplicate key "value"'],
    ['{"a":[{"b":1},{"b":1,"c":2,"b":3}]}', 'duplicate key "b"'],
    ['{"__proto__":1,"__proto__":2}', 'duplicate key "__proto__"'],
    ['{"":1,"":2}', 'duplicate key ""'],
    ['{"a\\nb":1,"a\\u000ab":2}', 'duplicate key "a\\u000ab"'],
    ['{"😀":1,"\\ud83d\\ude00":2}', 'duplicate key "\\ud83d\\ude00"'],
    ['{"x" \t: {"x":1} , "x"\n:2}', 'duplicate key "x"'],
    ['{"a":1,"a":[2]}', 'duplicate key "a"'],
    ['{"a":[1],"b":":","a":2}', 'duplicate key "a"'],
  ])("refuses a body with duplicate keys, also when one is escaped: %s", (body, expected) => {
    expect(reason(body)).toBe(expected);
  });

  it("accepts the same key in different objects, and values that look like keys", () => {
    expect(
      reason('{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}],"c":"a","d":"\\"a\\":1","e":["a","a"]}'),
    ).toBeUndefined();
  });

  it("does not normalise keys: composed and decomposed letters differ", () => {
    expect(reason('{"\u00e9":1,"e\u0301":2}')).toBeUndefined();
  });

  it("shortens the key in the reason, and escapes its unprintable characters", () => {
    const key = `${"\u202e\u0000".repeat(40)}${"k".repeat(900)}`;
    const body = `{${JSON.stringify(key)}:1,${JSON.stringify(key)}:2}`;
    expect(reason(body)).toMatch(/^duplicate key "[ -~]{1,62}"$/);
  });

  it("accepts 32 levels of objects and lists, and refuses 33", () => {
    expect(reason(nested(32))).toBeUndefined();
    expect(reason(nested(33))).toBe("nested deeper than 32");
    expect(reason(`{"a":${"[".repeat(31)}${"]".repeat(31)}}`)).toBeUndefined();
    expect(reason(`{"a":${"[".repeat(32)}${"]".repeat(32)}}`)).toBe("nested deeper than 32");
    const escaped = (levels: number) => nested(levels).replaceAll("a", "\\u0061");
    expect([reason(escaped(32)), reason(escaped(33))]).toEqual([undefined, "nested deeper than 32"]);
    for (const written of ['{ "a" : 1 , "b" : ', '{"a}]}]":'])
      expect(reason(`${written.repeat(32)}{}${"}".repeat(32)}`)).toBe("nested deeper than 32");
  });

  it("survives a hundred thousand levels", () => {
    expect(reason(nested(100_000))).toBe("nested deeper than 32");
    expect(reason('{"a":'.repeat(100_000))).toBe("not valid JSON");
  });

  it.each([
    '{"a":"\\ud800"}',
    '{"a":"\\udc00\\ud800"}',
    '{"\\uDfFf":1}',
    '{"a":["x\\ud83dx"]}',
    '{"a":"\\ud83d\\u0041"}',
  ])("refuses the lone surrogate in %s", (body) => {
    expect(reason(body)).toBe("lone surrogate");
  });

  it("accepts surrogates that form a pair, and backslashes that only look like an escape", () => {
    expect(reason('{"a":"\\ud83d\\ude00"}')).toBeUndefined();
    expect(reason('{"a":"\\\\ud800"}')).toBeUndefined();
  });

  it("keeps __proto__ and constructor as plain own properties", () => {
    const decoded = decodeStrict(
      bytes('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
    );
    if (!decoded.ok) throw new Error(decoded.reason);
    expect(Object.keys(decoded.payload)).toEqual(["__proto__", "constructor"]);
    expect(decoded.payload["polluted"]).toBeUndefined();
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  it("decodes every object that JSON can express, with any white space", () => {
    const object = fc.dictionary(
      fc.string({ unit: "binary" }),
      fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }),
    );
    fc.assert(
      fc.property(object, fc.constantFrom(0, 1, "\t"), (value, indent) => {
        const written = JSON.stringify(value, undefined, indent);
        const decoded = decodeStrict(bytes(written));
        expect(decoded).toEqual({ ok: true, payload: JSON.parse(written) });
      }),
    );
  });

  it("finds a key that is repeated anywhere, escaped or not", () => {
    const keys = fc.uniqueArray(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(keys, fc.nat(), fc.boolean(), (keys, at, inside) => {
        const repeated = keys[at % keys.length]!;
        const members = [...keys.map((key) => `${JSON.stringify(key)}:[{}]`), `${escapeAll(repeated)}:0`];
        const written = `{${members.join(",")}}`;
        expect(reason(inside ? `{"data":[1,${written}]}` : written)).toMatch(/^duplicate key "/);
      }),
    );
  });

  it("never throws, for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (raw) => {
        expect(decodeStrict(Buffer.from(raw))).toHaveProperty("ok");
      }),
    );
  });
});
