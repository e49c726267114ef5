import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fc } from "../../support/property.js";
import { canonicalFields, defaultSignedFields } from "../../../src/webhook/signature/index.js";
import { decodeStrict } from "../../../src/webhook/message/decode-strict.js";
import { withCorpus } from "../message/corpora.js";
import { bytes, webhook } from "../message/webhooks.js";
import { codeOf } from "./refusal.js";

const listed = { fields: defaultSignedFields, merchantId: "m1" };
const canonical = (payload: Record<string, unknown>) => canonicalFields(payload, listed);

interface Signed {
  id: unknown;
  clientId: unknown;
  value: unknown;
  currency: unknown;
  submittedAt: unknown;
  status: unknown;
}

const payloadOf = ({ id, clientId, value, currency, submittedAt, status }: Signed) =>
  webhook({ id, clientId, status, submittedAt, total: { value, currency } });

// Few characters, so that collisions would be frequent if they were possible.
const unit = fc.constantFrom(
  "a",
  "1",
  "0",
  ".",
  ",",
  " ",
  "\u0000",
  "\u007f",
  "\ud800",
  "\udc00",
  "é",
  "e\u0301",
  "\ufffd",
);
const text = fc.array(unit, { maxLength: 3 }).map((units) => units.join(""));
const anything = fc.oneof(
  { weight: 8, arbitrary: text },
  fc.constantFrom<unknown>(null, undefined, 0, 1, 10, true, false, [], ["a"], [["1"]], {}, { a: "1" }),
);
const signed: fc.Arbitrary<Signed> = fc.record({
  id: anything,
  clientId: anything,
  value: anything,
  currency: anything,
  submittedAt: anything,
  status: fc.oneof(anything, fc.constantFrom("completed", "pending")),
});

function outcome(fields: Signed): { canonical?: string; code?: unknown } {
  const code = codeOf(() => canonical(payloadOf(fields)));
  return code === undefined ? { canonical: canonical(payloadOf(fields)) } : { code };
}

/** The values of the fields. A missing, null or empty submittedAt is one value. */
const meaning = (fields: Signed) => JSON.stringify({ ...fields, submittedAt: fields.submittedAt || null });

/** Returns the parts of the signed string of a body, or an empty list if it is refused. */
function partsOf(body: Buffer): string[] {
  const decoded = decodeStrict(body);
  if (!decoded.ok) throw new Error(decoded.reason);
  const code = codeOf(() => canonical(decoded.payload));
  if (code === undefined) return canonical(decoded.payload).split(",");
  expect(code).toBe("signed_fields_unreadable");
  return [];
}

describe("the signed string", () => {
  it("is refused, or can be split into exactly the fields that it was made of", () => {
    let admitted = 0;
    fc.assert(
      fc.property(signed, (fields) => {
        const { canonical, code } = outcome(fields);
        if (canonical === undefined) return code === "signed_fields_unreadable";
        admitted += 1;
        const { id, clientId, value, currency, submittedAt, status } = fields;
        const parts = [id, "m1", clientId, value, currency, submittedAt || "", status];
        expect(canonical.split(",")).toEqual(parts);
        return true;
      }),
      { numRuns: 3000 },
    );
    expect(admitted).toBeGreaterThan(0);
  });

  it("never has the same bytes for two different admissible payloads", () => {
    const plain = fc.array(fc.constantFrom("a", "1", ".", " ", "é", "e\u0301", "\ufffd"), {
      minLength: 1,
      maxLength: 2,
    });
    const value = plain.map((units) => units.join(""));
    const status = fc.constantFrom("completed", "pending", "a");
    const submittedAt = fc.option(fc.oneof(value, fc.constantFrom("", null)), { nil: undefined });
    const admissible = fc
      .record({ id: value, clientId: value, value, currency: value, submittedAt, status })
      .filter((fields) => outcome(fields).canonical !== undefined);
    fc.assert(
      fc.property(fc.array(admissible, { minLength: 2, maxLength: 12 }), (many) => {
        const byString = new Map<string, string>();
        for (const fields of many) {
          const key = Buffer.from(outcome(fields).canonical ?? "", "utf8").toString("hex");
          expect(byString.get(key) ?? meaning(fields)).toBe(meaning(fields));
          byString.set(key, meaning(fields));
        }
      }),
      { numRuns: 300 },
    );
  });

  it("is refused without a merchantId if the list contains it", () => {
    expect(codeOf(() => canonicalFields(webhook(), { fields: defaultSignedFields }))).toBe(
      "signed_fields_unreadable",
    );
  });

  it("is not made of inherited values, at any level", () => {
    const payload = webhook();
    const heirs = [
      Object.create(payload),
      { ...payload, data: Object.create(Object(payload["data"])) },
      webhook({ total: Object.create({ value: "1475", currency: "KMF" }) }),
    ];
    expect(codeOf(() => canonical(payload))).toBeUndefined();
    for (const heir of heirs) expect(codeOf(() => canonical(heir))).toBe("signed_fields_unreadable");
  });

  it("is not made of values in the wrong place", () => {
    const flat = { ...webhook(), id: "x", status: "completed", data: "none" };
    expect(codeOf(() => canonical(flat))).toBe("signed_fields_unreadable");
    expect(codeOf(() => canonical(webhook({ total: ["1475", "KMF"] })))).toBe("signed_fields_unreadable");
  });

  describe("with strings that break software", () => {
    withCorpus("naughty-strings", (folder) => {
      const strings: string[] = JSON.parse(readFileSync(join(folder, "blns.json"), "utf8"));

      it("is refused or contains each of them unchanged, in any field", () => {
        for (const naughty of strings) {
          const admissible = naughty !== "" && naughty.length <= 256 && !/[,\p{Cc}]/u.test(naughty);
          for (const field of ["id", "clientId", "status", "submittedAt"]) {
            const parts = partsOf(bytes(webhook({ [field]: naughty })));
            expect([field, naughty, parts.includes(naughty)]).toEqual([field, naughty, admissible]);
          }
        }
        expect(strings.length).toBeGreaterThan(400);
      });
    });
  });
});
