import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeStrict } from "../../../src/webhook/message/decode-strict.js";
import { withCorpus } from "./corpora.js";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const nothing = Symbol("not JSON");

function parse(body: Buffer): { text: string; value: unknown } {
  try {
    const text = utf8.decode(body);
    return { text, value: JSON.parse(text) };
  } catch {
    return { text: "", value: nothing };
  }
}

/** Counts what a value contains, independently of the decoder. */
function measure(value: unknown, depth = 1): { keys: number; depth: number; surrogate: boolean } {
  if (typeof value === "string") return { keys: 0, depth: 0, surrogate: /[\ud800-\udfff]/u.test(value) };
  if (typeof value !== "object" || value === null) return { keys: 0, depth: 0, surrogate: false };
  const own = Array.isArray(value) ? [] : Object.keys(value);
  const parts = [...Object.values(value), ...own].map((part) => measure(part, depth + 1));
  return {
    keys: own.length + parts.reduce((sum, part) => sum + part.keys, 0),
    depth: Math.max(depth, ...parts.map((part) => part.depth)),
    surrogate: parts.some((part) => part.surrogate),
  };
}

/** Returns the reasons for which a strict reader refuses a text that JSON.parse accepts. */
function extraRefusals(text: string, value: unknown): string[] {
  const { keys, depth, surrogate } = measure(value);
  const written = [...text.matchAll(/"(?:[^"\\]|\\.)*"\s*(:?)/gs)].filter(
    ([, colon]) => colon === ":",
  ).length;
  return [
    ...(written > keys ? ["duplicate key"] : []),
    ...(depth > 32 ? ["nested deeper"] : []),
    ...(surrogate ? ["lone surrogate"] : []),
  ];
}

/** Returns what decodeStrict may return: the payload, or a reason that begins with one of these strings. */
function expected(body: Buffer): { payload?: unknown; reasons: string[] } {
  const { text, value } = parse(body);
  if (value === nothing) return { reasons: ["not valid", "byte order mark"] };
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { reasons: ["not a JSON object"] };
  const reasons = extraRefusals(text, value);
  return reasons.length === 0 ? { payload: value, reasons } : { reasons };
}

function expectSameAsJsonParse(name: string, body: Buffer): boolean {
  const decoded = decodeStrict(body);
  const { payload, reasons } = expected(body);
  const reason = decoded.ok ? "" : decoded.reason;
  expect([name, decoded.ok ? decoded.payload : undefined]).toEqual([name, payload]);
  expect([name, reasons.filter((start) => reason.startsWith(start)).length > 0]).toEqual([name, !decoded.ok]);
  return decoded.ok;
}

describe("decodeStrict on documents that parsers disagree about", () => {
  withCorpus("json-test-suite", (folder) => {
    const documents = ["test_parsing", "test_transform"].flatMap((part) =>
      readdirSync(join(folder, part)).map((file): [string, Buffer] => [
        file,
        readFileSync(join(folder, part, file)),
      ]),
    );

    it("agrees with JSON.parse on each document, except for its own refusals", () => {
      for (const [name, document] of documents) expectSameAsJsonParse(name, document);
      expect(documents.length).toBeGreaterThan(300);
    });

    it("agrees on each document inside an object", () => {
      const accepted = documents.filter(([name, document]) =>
        expectSameAsJsonParse(name, Buffer.concat([Buffer.from('{"a":'), document, Buffer.from("}")])),
      );
      expect(accepted.length).toBeGreaterThan(80);
    });
  });
});
