import { createHash, createSecretKey, randomBytes } from "node:crypto";
import { fc } from "../../support/property.js";
import { type SpooledWebhook } from "../../../src/webhook/spool/record-line.js";
import { encodeContent, encodeLine, readLines } from "../../../src/webhook/spool/record-line.js";
import { webhook } from "./fixtures.js";

const key = createSecretKey(randomBytes(32));
const lineOf = (given: SpooledWebhook, by = key) => encodeLine(encodeContent(given), by);
const fields = { receiptId: "r1", receivedAt: "2026-11-20T10:00:06.000Z", covers: "body", rawBody: "e30=" };
const read = (segment: Buffer) => readLines(segment, key);

const webhooks = fc.record({
  receiptId: fc.string({ unit: "grapheme" }),
  receivedAt: fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  covers: fc.oneof(fc.constant("body" as const), fc.array(fc.string())),
  rawBody: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
});

describe("a webhook as one line", () => {
  it("is read back unchanged, for any bytes", () => {
    fc.assert(
      fc.property(fc.array(webhooks), (given) => {
        const lines = read(Buffer.concat(given.map((each) => lineOf(each))));
        expect(lines.map(({ webhook }) => webhook)).toEqual(given);
      }),
    );
  });

  it("cannot be read if a single byte changed, while the lines around it can", () => {
    const [before, after] = [webhook(1), webhook(3)];
    fc.assert(
      fc.property(webhooks, fc.nat(), fc.integer({ min: 1, max: 255 }), (given, at, change) => {
        const line = lineOf(given);
        // Not the line break: the next test covers two joined lines.
        line[at % (line.length - 1)]! ^= change;
        const lines = read(Buffer.concat([lineOf(before), line, lineOf(after)]));
        expect(lines.at(0)?.webhook).toEqual(before);
        expect(lines.at(-1)?.webhook).toEqual(after);
        expect(lines.slice(1, -1).every(({ problem }) => problem !== undefined)).toBe(true);
      }),
    );
  });

  it("cannot be read if the line break to the next line is missing", () => {
    const first = lineOf(webhook(1));
    const lines = read(Buffer.concat([first.subarray(0, -1), lineOf(webhook(2))]));
    expect(lines).toEqual([{ line: expect.any(Buffer), problem: expect.stringContaining("length") }]);
  });

  it("is ignored if its end is missing", () => {
    const whole = lineOf(webhook(1));
    const torn = lineOf(webhook(2));
    for (let length = 0; length < torn.length; length += 1) {
      const lines = read(Buffer.concat([whole, torn.subarray(0, length)]));
      expect(lines.map(({ webhook }) => webhook?.receiptId)).toEqual(["r1"]);
    }
  });

  it("gives the reason for an unknown format and for content that is no webhook", () => {
    const other = lineOf(webhook(1)).toString().replace(/^2 /, "3 ");
    const empty = encodeLine(Buffer.from("{}"), key).toString();
    expect(read(Buffer.from(other + empty)).map(({ problem }) => problem)).toEqual([
      expect.stringContaining("form"),
      expect.stringContaining("not a webhook"),
    ]);
  });

  it.each([
    ["no JSON", "{"],
    ["null", "null"],
    ["a number", "1"],
    ["a list", "[]"],
    ["a webhook without its receiptId", JSON.stringify({ ...fields, receiptId: undefined })],
    ["a webhook with a number as its arrival", JSON.stringify({ ...fields, receivedAt: 1 })],
    ["a webhook without its body", JSON.stringify({ ...fields, rawBody: null })],
    ["a signature of unknown extent", JSON.stringify({ ...fields, covers: "all" })],
    ["a signature over a field without a name", JSON.stringify({ ...fields, covers: ["amount", 1] })],
    ["a signature over no list of fields", JSON.stringify({ ...fields, covers: {} })],
  ])("is no webhook where its content is %s, although its digest fits", (_, json) => {
    expect(read(encodeLine(Buffer.from(json), key))).toMatchObject([
      { problem: "its content is not a webhook" },
    ]);
    expect(read(encodeLine(Buffer.from(JSON.stringify(fields)), key))[0]?.webhook).toBeDefined();
  });

  it.each(["2 ", "1 10 0123456789abcdef "])("has no form if something stands before %j", (start) => {
    const line = `x${start}${lineOf(webhook(1)).toString().slice(2)}`;
    expect(read(Buffer.from(line))[0]?.problem).toBe("it does not have the form of a record");
  });

  it("is refused if it was written with another key, without a key, or by a version that had none", () => {
    const others = lineOf(webhook(1), createSecretKey(randomBytes(32)));
    const json = encodeContent(webhook(2));
    const checksum = createHash("sha256").update(json).digest("hex").slice(0, 16);
    const earlier = Buffer.concat([Buffer.from(`1 ${json.length} ${checksum} `), json, Buffer.from("\n")]);
    expect(read(Buffer.concat([others, earlier]))).toEqual([
      { line: others.subarray(0, -1), problem: expect.stringContaining("this directory's key") },
      { line: earlier.subarray(0, -1), problem: expect.stringContaining("earlier version") },
    ]);
    expect(readLines(lineOf(webhook(1)), undefined)[0]?.problem).toContain("no key");
  });
});
