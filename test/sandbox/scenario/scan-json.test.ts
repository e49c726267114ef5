import { fc } from "../../support/property.js";
import { pathKey, scanJson } from "../../../src/sandbox/scenario/scan-json.js";

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("the scan of a JSON text", () => {
  it("reports a syntax error exactly where JSON.parse fails", () => {
    const valid = fc.json();
    const cut = fc.tuple(valid, fc.nat(), fc.nat()).map(([text, from, length]) => {
      const start = from % (text.length + 1);
      return text.slice(0, start) + text.slice(start + (length % 4));
    });
    const mixed = fc
      .array(
        fc.constantFrom(
          "{",
          "}",
          "[",
          "]",
          ",",
          ":",
          '"',
          '"a"',
          "1",
          "-",
          ".5",
          "e9",
          "01",
          "true",
          "nul",
          " ",
          "\n",
          "\\",
          "\u0007",
        ),
        { maxLength: 9 },
      )
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.oneof(valid, cut, mixed), (text) => {
        expect([text, scanJson(text).broken === undefined]).toEqual([text, isJson(text)]);
      }),
      { numRuns: 2000 },
    );
  });

  it("finds the line of every value", () => {
    const text = `{\n"a": [\n1,\n{ "b":\n2 }\n],\n"c.d": "x"\n}`;
    const { lines } = scanJson(text);
    const at = (...path: (string | number)[]) => lines.get(pathKey(path));
    expect([at(), at("a"), at("a", 0), at("a", 1), at("a", 1, "b"), at("c.d")]).toEqual([1, 2, 3, 4, 4, 7]);
  });

  it("finds keys that occur twice in one object, also when one is written with an escape", () => {
    expect(scanJson(`{"a":1,"b":{"a":1},"\\u0061":2}`).duplicates).toEqual([["a"]]);
  });
});
