import {
  fieldsSignature,
  hmacSignature,
  publicKeySignature,
  type SignatureScheme,
  type VerifyInput,
} from "tillkit";
import { completedBody } from "../../support/webhooks.js";
import { codeOf, problemCodes } from "./refusal.js";
import {
  body,
  fieldsVectors,
  hmacVectors,
  ownList,
  publicKeyVectors,
  rfc4231Case4,
  rfc4231RefusedKeys,
  secret,
} from "./vectors.js";

type HeaderValue = VerifyInput["headers"][string];

/** Returns the result of the public `verify`: true, false, or the code that it threw. */
function verdict(
  scheme: SignatureScheme,
  rawBody: Buffer,
  value: HeaderValue,
  name = "service-signature",
): unknown {
  const headers = { [name]: value };
  return codeOf(() => scheme.verify({ rawBody, headers })) ?? scheme.verify({ rawBody, headers });
}

const pem = (spki: string) => `-----BEGIN PUBLIC KEY-----\n${spki}\n-----END PUBLIC KEY-----\n`;
const rawBody = Buffer.from(body);

describe("signatures of other implementations verify", () => {
  it.each(hmacVectors)("with hmacSignature, %s over %j", (algorithm, text, signature) => {
    expect(verdict(hmacSignature({ secret, algorithm }), Buffer.from(text), signature)).toBe(true);
  });

  it.each(["sha256", "sha384", "sha512"] as const)("with hmacSignature, %s, RFC 4231 case 4", (algorithm) => {
    const scheme = hmacSignature({ secret: Buffer.from(rfc4231Case4.key, "hex"), algorithm });
    expect(verdict(scheme, Buffer.from(rfc4231Case4.data, "hex"), rfc4231Case4[algorithm])).toBe(true);
    const truncated = rfc4231Case4[algorithm].slice(0, 32);
    expect(verdict(scheme, Buffer.from(rfc4231Case4.data, "hex"), truncated)).toBe("signature_malformed");
  });

  it.each(rfc4231RefusedKeys)("but not with the weak key of RFC 4231 case %i", (_, key, code) => {
    expect(problemCodes(() => hmacSignature({ secret: Buffer.from(key, "hex") }))).toEqual([code]);
  });

  it.each(fieldsVectors)("with fieldsSignature, over %j", (data, _joined, signature) => {
    const signed = Buffer.from(JSON.stringify(completedBody(data)));
    expect(verdict(fieldsSignature({ secret, merchantId: "m-1" }), signed, signature)).toBe(true);
    expect(verdict(fieldsSignature({ secret, merchantId: "m-2" }), signed, signature)).toBe(false);
  });

  it("with fieldsSignature, over another list, in its order", () => {
    const scheme = fieldsSignature({ secret, fields: ownList.fields });
    expect(verdict(scheme, rawBody, ownList.signature)).toBe(true);
    const reversed = fieldsSignature({ secret, fields: [...ownList.fields].toReversed() });
    expect(verdict(reversed, rawBody, ownList.signature)).toBe(false);
  });

  it.each(publicKeyVectors)(
    "with publicKeySignature, %s by the key %s",
    (algorithm, key, message, signature) => {
      const scheme = publicKeySignature({ publicKey: pem(key), algorithm });
      expect(verdict(scheme, message, signature)).toBe(true);
      expect(verdict(scheme, Buffer.concat([message, Buffer.from(" ")]), signature)).toBe(false);
    },
  );
});

const [, , ofBody] = hmacVectors[0];
const [, , ofFields] = fieldsVectors[0];
const [, edKey, , ofKey] = publicKeyVectors[3];
const [, ecKey, , ofCurve] = publicKeyVectors[4];

describe.each<[string, SignatureScheme, string]>([
  ["hmacSignature", hmacSignature({ secret }), ofBody],
  ["fieldsSignature", fieldsSignature({ secret, merchantId: "m-1" }), ofFields],
  ["publicKeySignature, ed25519", publicKeySignature({ publicKey: pem(edKey), algorithm: "ed25519" }), ofKey],
  [
    "publicKeySignature, ecdsa",
    publicKeySignature({ publicKey: pem(ecKey), algorithm: "ecdsa-sha256" }),
    ofCurve,
  ],
])("a right signature under %s", (name, scheme, right) => {
  const malformed = "signature_malformed";
  const missing = "signature_missing";
  // Only ECDSA signatures vary in length, so only there a signature of another length is well formed and wrong.
  const otherLength = name.endsWith("ecdsa") ? false : malformed;
  const bytes = Buffer.from(right, "hex");

  it.each<[string, HeaderValue, unknown]>([
    ["as it is", right, true],
    ["in upper case", right.toUpperCase(), true],
    ["in mixed case", right.replace(/[a-f]/, (digit) => digit.toUpperCase()), true],
    ["in a list of one", [right], true],
    ["twice", [right, right], malformed],
    ["twice, joined", `${right}, ${right}`, malformed],
    ["twice, joined without a space", `${right},${right}`, malformed],
    ["behind a wrong one", ["00".repeat(bytes.length), right], malformed],
    ["before an empty one", [right, ""], malformed],
    ["with a comma behind it", `${right},`, malformed],
    ["that is missing", undefined, missing],
    ["that is empty", "", missing],
    ["that is an empty list", [], missing],
    ["that is an empty text in a list", [""], missing],
    ["with 0x before it", `0x${right}`, malformed],
    ["with the algorithm before it", `sha256=${right}`, malformed],
    ["with a space before it", ` ${right}`, malformed],
    ["with a space behind it", `${right} `, malformed],
    ["with a line break behind it", `${right}\n`, malformed],
    ["with a NUL behind it", `${right}\0`, malformed],
    ["with a space in place of a digit", `${right.slice(0, 10)} ${right.slice(11)}`, malformed],
    ["in quotes", `"${right}"`, malformed],
    ["in base64", bytes.toString("base64"), malformed],
    ["in base64url", bytes.toString("base64url"), malformed],
    ["in groups of two", right.replace(/..(?=.)/g, "$&:"), malformed],
    [
      "in full-width digits",
      right.replace(/./g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)),
      malformed,
    ],
    ["without its last digit", right.slice(0, -1), malformed],
    ["without its last byte", right.slice(0, -2), otherLength],
    ["without its first byte", right.slice(2), otherLength],
    ["cut in the middle", right.slice(0, 32), otherLength],
    ["with a byte behind it", `${right}00`, otherLength],
    ["with a byte before it", `00${right}`, otherLength],
    ["written twice", right + right, otherLength],
    ["with its bytes reversed", Buffer.from(bytes.toReversed()).toString("hex"), false],
    ["with its last bit flipped", flipLast(bytes), false],
    ["of zeros", "00".repeat(bytes.length), false],
    ["of ones", "ff".repeat(bytes.length), false],
  ])("%s", (_, value, expected) => {
    expect(verdict(scheme, rawBody, value)).toBe(expected);
  });

  it("is found under its own name only", () => {
    for (const header of [
      "signature",
      "x-service-signature",
      "service_signature",
      "Service-Signature",
      "__proto__",
    ])
      expect([header, verdict(scheme, rawBody, right, header)]).toEqual([header, missing]);
  });

  it("does not verify another body or an empty one", () => {
    const other = Buffer.from(body.replace("1475", "1476"));
    expect(verdict(scheme, other, right)).toBe(false);
    const none = verdict(scheme, Buffer.alloc(0), right);
    expect(none).toBe(name === "fieldsSignature" ? "signed_fields_unreadable" : false);
  });
});

function flipLast(bytes: Buffer): string {
  const copy = Buffer.from(bytes);
  copy[copy.length - 1]! ^= 1;
  return copy.toString("hex");
}
