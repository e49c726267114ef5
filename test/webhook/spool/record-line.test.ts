import { fc } from "../../support/property.js";
import { encodeLine, readLines } from "../../../src/webhook/spool/record-line.js";
import { webhook } from "./fixtures.js";

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
        const lines = readLines(Buffer.concat(given.map(encodeLine)));
        expect(lines.map(({ webhook }) => webhook)).toEqual(given);
      }),
    );
  });

  it("cannot be read if a single byte changed, while the lines around it can", () => {
    const [before, after] = [webhook(1), webhook(3)];
    fc.assert(
      fc.property(webhooks, fc.nat(), fc.integer({ min: 1, max: 255 }), (given, at, change) => {
        const line = encodeLine(given);
        // Not the line break: the next test covers two joined lines.
        line[at % (line.length - 1)]! ^= change;
        const read = readLines(Buffer.concat([encodeLine(before), line, encodeLine(after)]));
        expect(read.at(0)?.webhook).toEqual(before);
        expect(read.at(-1)?.webhook).toEqual(after);
        expect(read.slice(1, -1).every(({ problem }) => problem !== undefined)).toBe(true);
      }),
    );
  });

  it("cannot be read if the line break to the next line is missing", () => {
    const first = encodeLine(webhook(1));
    const lines = readLines(Buffer.concat([first.subarray(0, -1), encodeLine(webhook(2))]));
    expect(lines).toEqual([{ line: expect.any(Buffer), problem: expect.stringContaining("length") }]);
  });

  it("is ignored if its end is missing", () => {
    const whole = encodeLine(webhook(1));
    const torn = encodeLine(webhook(2));
    for (let length = 0; length < torn.length; length += 1) {
      const lines = readLines(Buffer.concat([whole, torn.subarray(0, length)]));
      expect(lines.map(({ webhook }) => webhook?.receiptId)).toEqual(["r1"]);
    }
  });

  it("gives the reason for an unknown format and for content that is no webhook", () => {
    const other = encodeLine(webhook(1)).toString().replace(/^1 /, "2 ");
    // A correct line with the content {}: the checksum is the beginning of its SHA-256.
    const empty = "1 2 44136fa355b3678a {}\n";
    expect(readLines(Buffer.from(other + empty)).map(({ problem }) => problem)).toEqual([
      expect.stringContaining("form"),
      expect.stringContaining("not a webhook"),
    ]);
  });
});
