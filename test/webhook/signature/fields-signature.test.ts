import { createHmac, randomBytes } from "node:crypto";
import { fieldsSignature } from "../../../src/webhook/signature/index.js";
import { bytes, webhook } from "../message/webhooks.js";
import { codeOf, problemCodes, problemsOf } from "./refusal.js";

const secret = "k7Jq2vR9sXw4ZbN8cT5yLmP1dFgH6aQe";
const scheme = fieldsSignature({ secret, merchantId: "m-7" });
const hmac = (text: string) => createHmac("sha256", secret).update(text, "utf8").digest("hex");
const signedAs = (text: string, body: unknown) => ({
  rawBody: bytes(body),
  headers: { "service-signature": hmac(text) },
});
const whole = "65f1a2b3c4d5e6f708192a3b,m-7,order-17.a,1475,KMF,2026-03-01T10:00:00.000Z,completed";
const open = { status: "pending", captured: false };
const openText = "65f1a2b3c4d5e6f708192a3b,m-7,order-17.a,1475,KMF,,pending";

const withId = (written: string) => JSON.stringify(webhook()).replace("65f1a2b3c4d5e6f708192a3b", written);

describe("fieldsSignature", () => {
  it("signs the listed fields joined by commas, the merchantId from the configuration", () => {
    expect(scheme.sign(bytes(webhook()))).toBe(hmac(whole));
    expect(scheme.verify(signedAs(whole, webhook()))).toBe(true);
    expect(scheme.covers).toEqual([
      "id",
      "clientId",
      "total.value",
      "total.currency",
      "submittedAt",
      "status",
    ]);
  });

  it("takes the merchantId only from the configuration", () => {
    const body = webhook({ merchantId: "m-8" }, { merchantId: "m-8" });
    expect(scheme.verify(signedAs(whole, body))).toBe(true);
    expect(scheme.verify(signedAs(whole.replace("m-7", "m-8"), body))).toBe(false);
  });

  it("signs in the order of the list, and fields at the top of the body too", () => {
    const fields = ["status", "topic", "type", "id", "clientId", "total.currency", "total.value"] as const;
    const other = fieldsSignature({ secret, fields, algorithm: "sha512" });
    const text = "completed,payment.completed,payment,65f1a2b3c4d5e6f708192a3b,order-17.a,KMF,1475";
    expect(other.sign(bytes(webhook()))).toBe(createHmac("sha512", secret).update(text).digest("hex"));
    expect(other.covers).toEqual(fields);
  });

  it("signs the fields of the list as it was when the scheme was made", () => {
    const fields = ["id", "clientId", "status", "total.value", "total.currency"] as const;
    const list = [...fields];
    const other = fieldsSignature({ secret, fields: list });
    const signature = other.sign(bytes(webhook()));
    list.reverse();
    expect(other.sign(bytes(webhook()))).toBe(signature);
    expect(other.covers).toEqual(fields);
  });

  it("verifies with every secret of a rotation", () => {
    const rotating = fieldsSignature({ secret: [randomBytes(32), secret], merchantId: "m-7" });
    expect(rotating.verify(signedAs(whole, webhook()))).toBe(true);
  });

  it("uses the given payload, and decodes the body if there is none", () => {
    const { headers } = signedAs(whole, webhook());
    expect(scheme.verify({ rawBody: Buffer.alloc(0), headers, payload: webhook() })).toBe(true);
    expect(codeOf(() => scheme.verify({ rawBody: Buffer.alloc(0), headers }))).toBe(
      "signed_fields_unreadable",
    );
  });

  it("reports a missing signature before it reads the body", () => {
    expect(codeOf(() => scheme.verify({ rawBody: bytes("{"), headers: {} }))).toBe("signature_missing");
  });

  it.each([
    ["topic", webhook({}, { topic: "payment.refunded" })],
    ["timestamp", webhook({}, { timestamp: 7 })],
    ["captured", webhook({ captured: false })],
    ["providerId", webhook({ providerId: { $ne: null } })],
    ["source", webhook({ source: undefined })],
    ["an unknown field", webhook({ fee: "1" }, { extra: [] })],
  ])("does not notice a change of %s, so the field is not covered", (_, body) => {
    expect(scheme.verify(signedAs(whole, body))).toBe(true);
  });

  it("refuses a comma that would move text between id and merchantId", () => {
    const moved = webhook({ id: "p1,m1" });
    const shop = fieldsSignature({ secret, merchantId: "x" });
    expect(codeOf(() => shop.sign(bytes(moved)))).toBe("signed_fields_unreadable");
    expect(problemCodes(() => fieldsSignature({ secret, merchantId: "m1,x" }))).toEqual(["option_invalid"]);
  });

  it.each(["1000", "1e3", "1000.0", "[1000]", '["1000"]', "true", '{"toString":"1000"}'])(
    "refuses the value %s, which prints like the string 1000",
    (written) => {
      const text = whole.replace(",1475,", ",1000,");
      const body = JSON.stringify(webhook()).replace('"1475"', written);
      expect(codeOf(() => scheme.verify(signedAs(text, body)))).toBe("signed_fields_unreadable");
      const plain = JSON.stringify(webhook()).replace('"1475"', '"1000"');
      expect(scheme.verify(signedAs(text, plain))).toBe(true);
    },
  );

  it.each([
    ["missing", webhook({ ...open, submittedAt: undefined })],
    ["null", webhook({ ...open, submittedAt: null })],
    ["empty", webhook({ ...open, submittedAt: "" })],
  ])("signs a submittedAt that is %s as an empty string while the payment is open", (_, body) => {
    expect(scheme.verify(signedAs(openText, body))).toBe(true);
  });

  it.each([[undefined], [null], [""]])("refuses submittedAt %j on a completed payment", (submittedAt) => {
    expect(codeOf(() => scheme.sign(bytes(webhook({ submittedAt }))))).toBe("signed_fields_unreadable");
  });

  it.each(["id", "clientId", "status"])("refuses %s if it is missing, null, empty or inherited", (field) => {
    for (const value of [undefined, null, ""])
      expect(codeOf(() => scheme.sign(bytes(webhook({ [field]: value }))))).toBe("signed_fields_unreadable");
    const heir = JSON.stringify(webhook({ [field]: undefined })).replace(
      '"data":{',
      `"data":{"__proto__":{"${field}":"completed"},`,
    );
    expect(codeOf(() => scheme.sign(bytes(heir)))).toBe("signed_fields_unreadable");
  });

  it.each([
    ["a NUL", "p\u00001"],
    ["a line break", "p\n1"],
    ["a C1 control", "p\u00851"],
    ["a comma", "p,1"],
    ["257 characters", "p".repeat(257)],
  ])("refuses %s in a signed field", (_, id) => {
    expect(codeOf(() => scheme.sign(bytes(webhook({ id }))))).toBe("signed_fields_unreadable");
  });

  it("accepts 256 characters", () => {
    const id = "p".repeat(256);
    expect(scheme.sign(bytes(webhook({ id })))).toBe(hmac(whole.replace("65f1a2b3c4d5e6f708192a3b", id)));
  });

  it("refuses lone surrogates, which would all sign alike, in the body and in a given payload", () => {
    for (const unit of ["\\ud800", "\\udfff"])
      expect(codeOf(() => scheme.sign(bytes(withId(unit))))).toBe("signed_fields_unreadable");
    const { headers } = signedAs(whole, webhook());
    const payload = webhook({ id: "\ud800" });
    expect(codeOf(() => scheme.verify({ rawBody: bytes("{}"), headers, payload }))).toBe(
      "signed_fields_unreadable",
    );
  });

  it.each(['"status":"pending",', '"\\u0073tatus":"pending",'])(
    "refuses a body with a second key: %s",
    (twice) => {
      const body = JSON.stringify(webhook()).replace('"status":', `${twice}"status":`);
      expect(codeOf(() => scheme.verify(signedAs(whole, body)))).toBe("signed_fields_unreadable");
    },
  );

  it.each([undefined, ""])("refuses to start without a merchantId: %j", (merchantId) => {
    expect(problemsOf(() => fieldsSignature({ secret, merchantId }))).toEqual([
      ["signature.merchantId", "option_missing"],
    ]);
  });

  it.each([" m-7", "m\n7", "m".repeat(257), "\ud800"])(
    "refuses to start with the merchantId %j",
    (merchantId) => {
      expect(problemsOf(() => fieldsSignature({ secret, merchantId }))).toEqual([
        ["signature.merchantId", "option_invalid"],
      ]);
    },
  );

  it.each(["id", { id: 1 }, null])("refuses to start with the field list %j", (fields) => {
    const construct = () => fieldsSignature({ secret, merchantId: "m-7", fields: fields as never });
    expect(problemsOf(construct)).toEqual([["signature.fields", "option_invalid"]]);
  });
});
