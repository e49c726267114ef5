import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fc } from "../../support/property.js";
import { decodeStrict } from "../../../src/webhook/message/decode-strict.js";
import { readMessage } from "../../../src/webhook/message/read-message.js";
import {
  fieldsSignature,
  indispensableFields,
  type SignedField,
} from "../../../src/webhook/signature/index.js";
import { withCorpus } from "./corpora.js";
import { bytes, webhook } from "./webhooks.js";

const scheme = fieldsSignature({ secret: "k7Jq2vR9sXw4ZbN8cT5yLmP1dFgH6aQe", merchantId: "m-7" });
const covered: readonly SignedField[] = scheme.covers === "body" ? [] : scheme.covers;
const read = (body: unknown, covers: readonly SignedField[] = covered) => {
  const rawBody = bytes(body);
  const decoded = decodeStrict(rawBody);
  return readMessage({ rawBody, payload: decoded.ok ? decoded.payload : undefined, covers });
};
const clientIdReason = expect.stringMatching(/^data\.clientId: [ -~]{1,160}$/);
const sha256 = (text: string) => createHash("sha256").update(text).digest("base64url");

/** Returns the providerId alone, if it is there. */
const pick = (fields: object) => ("providerId" in fields ? { providerId: fields.providerId } : {});

/** Returns a message without its untrusted fields. */
function signedPart(body: unknown): unknown {
  const message = read(body);
  return message.kind === "payment" ? { ...message, untrusted: undefined } : message;
}

describe("readMessage with a signature over fields", () => {
  it("reports covered fields as verified and the others as untrusted", () => {
    const message = read(webhook());
    if (message.kind !== "payment") throw new Error(message.kind);
    expect(message.verified).toEqual({
      id: "65f1a2b3c4d5e6f708192a3b",
      clientId: "order-17.a",
      status: "completed",
      "total.value": "1475",
      "total.currency": "KMF",
      submittedAt: "2026-03-01T10:00:00.000Z",
    });
    expect(message.untrusted).toEqual({
      topic: "payment.completed",
      timestamp: "2026-03-01T10:00:05.250Z",
      type: "payment",
      captured: true,
      providerId: "TX99812",
      source: "MVK",
    });
    expect(message.verified).not.toHaveProperty("topic");
    expect(message.verified).not.toHaveProperty("captured");
  });

  it("leaves topic, type and captured out of the key if they are not signed", () => {
    const parts = ["65f1a2b3c4d5e6f708192a3b", "order-17.a", "completed", "1475", "KMF"];
    const key = JSON.stringify([...parts, "2026-03-01T10:00:00.000Z", null, null, null]);
    expect(read(webhook())).toMatchObject({ eventKey: `payment:order-17.a:${sha256(key)}` });
  });

  it("lets uncovered fields change only untrusted", () => {
    const uncovered = fc.record(
      { topic: fc.jsonValue(), timestamp: fc.jsonValue(), type: fc.jsonValue(), extra: fc.jsonValue() },
      { requiredKeys: [] },
    );
    const inData = fc.record(
      { captured: fc.jsonValue(), providerId: fc.jsonValue(), source: fc.jsonValue(), more: fc.jsonValue() },
      { requiredKeys: [] },
    );
    const wrong = fc.constantFrom(
      {},
      { status: "pending" },
      { clientId: "not/admissible" },
      { submittedAt: "x" },
    );
    fc.assert(
      fc.property(wrong, uncovered, inData, (change, envelope, data) => {
        expect(signedPart(webhook({ ...change, ...data }, envelope))).toEqual(signedPart(webhook(change)));
      }),
    );
  });

  it("lets no number, however long, and no text, however large, in an uncovered field decide anything", () => {
    const digits = fc.stringMatching(/^[0-9]{1,60}$/);
    const number = fc
      .tuple(fc.constantFrom("", "-"), digits, digits, fc.integer({ min: -999, max: 999 }))
      .map(([sign, whole, fraction, exponent]) => `${sign}1${whole}.${fraction}e${exponent}`);
    const large = fc.nat(20_000).map((length) => JSON.stringify("9".repeat(length)));
    const nested = fc.nat(20).map((depth) => `${"[".repeat(depth)}1e400${"]".repeat(depth)}`);
    const expected = signedPart(webhook());
    fc.assert(
      fc.property(
        fc.oneof(number, large, nested),
        fc.constantFrom("timestamp", "extra", "captured"),
        (value, name) => {
          const { [name]: _, ...others } = webhook();
          const inside = JSON.stringify(others).replace('"data":{', `"data":{"more":${value},`);
          expect(signedPart(`${inside.slice(0, -1)},"${name}":${value}}`)).toEqual(expected);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("passes on uncovered fields unchanged, and leaves absent ones out", () => {
    const odd = { deep: [null, { a: "\u0000" }] };
    const message = read(webhook({ providerId: odd, source: null, captured: undefined }, { type: 7 }));
    if (message.kind !== "payment") throw new Error(message.kind);
    expect(message.untrusted).toStrictEqual({
      topic: "payment.completed",
      timestamp: "2026-03-01T10:00:05.250Z",
      type: 7,
      providerId: odd,
      source: null,
    });
  });

  it("never calls a message unrecognised because of an unsigned type", () => {
    expect(read(webhook({}, { type: "payout" })).kind).toBe("payment");
  });

  it("calls it unrecognised if the type is signed, and keeps the topic only if it is signed too", () => {
    const body = webhook({}, { type: "payout" });
    expect(read(body, [...covered, "type"])).toMatchObject({
      kind: "unrecognised",
      topic: "",
      type: "payout",
    });
    expect(read(body, [...covered, "type", "topic"])).toMatchObject({ topic: "payment.completed" });
  });

  it("puts a signed topic and captured into the report", () => {
    expect(read(webhook(), [...covered, "topic", "captured"])).toMatchObject({
      verified: { topic: "payment.completed", captured: true },
    });
    expect(read(webhook({ captured: 1 }), [...covered, "captured"])).toMatchObject({
      reason: "data.captured: expected true or false, got a number",
    });
  });

  it("does not require a submittedAt that is not covered", () => {
    expect(read(webhook({ submittedAt: 7 }), indispensableFields)).toMatchObject({
      untrusted: { submittedAt: 7 },
    });
  });

  it("makes the key of an inadmissible message of the covered values, in a fixed order", () => {
    const wrong = { clientId: "not/admissible" };
    const values = ["65f1a2b3c4d5e6f708192a3b", "completed", "1475", "KMF", "2026-03-01T10:00:00.000Z"];
    const eventKey = `inadmissible:${sha256(JSON.stringify([...values, "not/admissible"]))}`;
    expect(read(webhook(wrong))).toMatchObject({ kind: "inadmissible", eventKey });
    expect(read(webhook({ ...wrong, extra: 1 }, { topic: "x" }))).toMatchObject({ eventKey });
    expect(read(webhook(wrong), covered.toReversed())).toMatchObject({ eventKey });
  });

  it("gives one key to a missing, a null and an empty submittedAt", () => {
    const keys = [undefined, null, ""].flatMap((submittedAt) =>
      ["order-17.a", "not/admissible"].map((clientId) => {
        return read(webhook({ submittedAt, clientId, status: "pending" })).eventKey;
      }),
    );
    expect(new Set(keys).size).toBe(2);
  });

  it("decodes the body if there is no payload", () => {
    expect(readMessage({ rawBody: bytes(webhook()), covers: covered })).toEqual(read(webhook()));
    expect(read("{")).toMatchObject({ kind: "inadmissible", reason: "not valid JSON" });
  });

  it("throws for a scheme that does not sign an indispensable field", () => {
    const covers: SignedField[] = ["id", "clientId", "status", "total.currency"];
    expect(() => read(webhook(), covers)).toThrow(
      expect.objectContaining({
        code: "signature_coverage_too_small",
        message: expect.stringContaining("total.value"),
      }),
    );
  });

  describe("with strings that break software", () => {
    withCorpus("naughty-strings", (folder) => {
      const strings: string[] = JSON.parse(readFileSync(join(folder, "blns.json"), "utf8"));

      it("reports each of them unchanged, or refuses it", () => {
        for (const naughty of strings) {
          const message = read(webhook({ clientId: naughty, providerId: naughty }));
          const admissible = /^[A-Za-z0-9._:-]{1,64}$/.test(naughty);
          expect(message).toMatchObject(
            admissible
              ? { kind: "payment", verified: { clientId: naughty }, untrusted: { providerId: naughty } }
              : { kind: "inadmissible", reason: clientIdReason },
          );
        }
        expect(strings.length).toBeGreaterThan(400);
      });

      it("reports each as verified if the whole body is signed, and as untrusted if it contains a control character", () => {
        for (const naughty of strings) {
          const message = readMessage({ rawBody: bytes(webhook({ providerId: naughty })), covers: "body" });
          const isText = naughty.length <= 256 && !/\p{Cc}/u.test(naughty);
          const { verified, untrusted } =
            message.kind === "payment" ? message : { verified: {}, untrusted: {} };
          const given = { providerId: naughty };
          expect([pick(verified), untrusted]).toEqual(isText ? [given, {}] : [{}, given]);
        }
      });
    });
  });
});
