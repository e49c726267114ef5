import { fc } from "../../support/property.js";
import { encodeLine, readLines } from "../../../src/webhook/spool/record-line.js";
import { webhook } from "./fixtures.js";

const webhooks = fc.record({
  receiptId: fc.string({ unit: "grapheme" }),
  receivedAt: fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  covers: fc.oneof(fc.constant("body" as const), fc.array(fc.string())),
  rawBody: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
});

describe("a record as one line", () => {
  it("comes back as it was, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.array(webhooks), (given) => {
        const lines = readLines(Buffer.concat(given.map(encodeLine)));
        expect(lines.map(({ webhook }) => webhook)).toEqual(given);
      }),
    );
  });

  it("is no record any more when a single byte of it changes, and its neighbours still are", () => {
    const [before, after] = [webhook(1), webhook(3)];
    fc.assert(
      fc.property(webhooks, fc.nat(), fc.integer({ min: 1, max: 255 }), (given, at, change) => {
        const line = encodeLine(given);
        // Not the line break: without it two lines are one, which the next test is about.
        line[at % (line.length - 1)]! ^= change;
        const read = readLines(Buffer.concat([encodeLine(before), line, encodeLine(after)]));
        expect(read.at(0)?.webhook).toEqual(before);
        expect(read.at(-1)?.webhook).toEqual(after);
        expect(read.slice(1, -1).every(({ problem }) => problem !== undefined)).toBe(true);
      }),
    );
  });

  it("is not read from two lines that lost the break between them", () => {
    const first = encodeLine(webhook(1));
    const lines = readLines(Buffer.concat([first.subarray(0, -1), encodeLine(webhook(2))]));
    expect(lines).toEqual([{ line: expect.any(Buffer), problem: expect.stringContaining("length") }]);
  });

  it("is no record when it was torn anywhere", () => {
    const whole = encodeLine(webhook(1));
    const torn = encodeLine(webhook(2));
    for (let length = 0; length < torn.length; length += 1) {
      const lines = readLines(Buffer.concat([whole, torn.subarray(0, length)]));
      expect(lines.map(({ webhook }) => webhook?.receiptId)).toEqual(["r1"]);
    }
  });

  it("names a line of a format that it does not know, and a content that is no webhook", () => {
    const other = encodeLine(webhook(1)).toString().replace(/^1 /, "2 ");
    // A correct frame around {}: its check is the beginning of the SHA-256 of those two bytes.
    const empty = "1 2 44136fa355b3678a {}\n";
    expect(readLines(Buffer.from(other + empty)).map(({ problem }) => problem)).toEqual([
      expect.stringContaining("form"),
      expect.stringContaining("not a webhook"),
    ]);
  });
});
