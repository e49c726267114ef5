import { fc } from "../../support/property.js";
import { fieldsSignature } from "tillkit";
import { completedBody } from "../../support/webhooks.js";

const scheme = fieldsSignature({
  secret: "whsec_7c1f5e9a3b8d2046f1a7c3e5b9d80246",
  merchantId: "m-1",
});

/** The fields that are signed by default, in their order, without `merchantId`, which is never read from the body. */
type Fields = [
  id: string,
  clientId: string,
  value: string,
  currency: string,
  submittedAt: string,
  status: string,
];

const bodyOf = ([id, clientId, value, currency, submittedAt, status]: Fields, pad: string) =>
  Buffer.from(
    JSON.stringify(
      completedBody({ id, clientId, total: { value, currency }, submittedAt, status }),
      undefined,
      pad,
    ),
  );

/** Returns the signature of a body; `undefined` where it cannot be signed. Such a body is never accepted. */
function signatureOf(body: Buffer): string | undefined {
  try {
    return scheme.sign(body);
  } catch {
    return undefined;
  }
}

/** Few letters, so that collisions would be frequent; sometimes with a letter that is not allowed. */
const letter = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom("a", "1", "é", "e\u0301", "\ufffd") },
  { weight: 1, arbitrary: fc.constantFrom(",", "\u0000", "\ud800", "\udc00", "") },
);
const text = fc.array(letter, { minLength: 1, maxLength: 2 }).map((list) => list.join(""));
const fields: fc.Arbitrary<Fields> = fc.tuple(text, text, text, text, text, text);

/** Returns fields that join to an equal string, but are split at other places: a comma moves from one field to another. */
function recut(one: Fields, moved: number, to: number): Fields {
  const parts = [one[0], "m-1", ...one.slice(1)].join(",").split(",");
  const at = moved % (parts.length - 1);
  const merged = [...parts.slice(0, at), `${parts[at]},${parts[at + 1]}`, ...parts.slice(at + 2)];
  const split = to % merged.length;
  const [start = "", ...rest] = Array.from(merged[split]!);
  const again = [...merged.slice(0, split), start, rest.join(""), ...merged.slice(split + 1)];
  return again.filter((_, index) => index !== 1).slice(0, 6) as Fields;
}

describe("two payloads that fieldsSignature accepts", () => {
  it("have equal signatures only where every signed field is equal", () => {
    let admitted = 0;
    fc.assert(
      fc.property(fields, fields, fc.nat(), fc.nat(), (one, other, moved, to) => {
        const signature = signatureOf(bodyOf(one, ""));
        for (const two of [other, recut(one, moved, to)]) {
          const second = signatureOf(bodyOf(two, " "));
          if (signature === undefined || second === undefined) continue;
          admitted += 1;
          expect(signature === second).toBe(two.every((value, index) => value === one[index]));
        }
      }),
      { numRuns: 3000 },
    );
    expect(admitted).toBeGreaterThan(100);
  });

  it("have equal signatures although all unsigned fields differ", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (extra, pad) => {
        const plain = completedBody();
        const other = completedBody(
          { providerId: extra, source: extra, captured: extra },
          {
            topic: pad,
            extra,
          },
        );
        expect(scheme.sign(Buffer.from(JSON.stringify(other)))).toBe(
          scheme.sign(Buffer.from(JSON.stringify(plain))),
        );
      }),
      { numRuns: 200 },
    );
  });
});
