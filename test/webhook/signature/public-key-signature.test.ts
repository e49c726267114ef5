import { constants, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { publicKeySignature, type PublicKeyAlgorithm } from "../../../src/webhook/signature/index.js";
import { bytes, webhook } from "../message/webhooks.js";
import { codeOf, messageOf, problemsOf } from "./refusal.js";

const rawBody = bytes(webhook());
const ed = generateKeyPairSync("ed25519");
const ec = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pss = generateKeyPairSync("rsa-pss", { modulusLength: 2048 });
const ec384 = generateKeyPairSync("ec", { namedCurve: "secp384r1" });
const ec521 = generateKeyPairSync("ec", { namedCurve: "secp521r1" });
/** Keys with parameters, as the type RSASSA-PSS has them. */
const pssFor = (mgf1HashAlgorithm: string, saltLength: number) =>
  generateKeyPairSync("rsa-pss", {
    modulusLength: 3072,
    hashAlgorithm: "sha256",
    mgf1HashAlgorithm,
    // The types say text; Node takes only a number.
    saltLength: saltLength as never,
  });
const bound = pssFor("sha256", 20);
const boundToSha1Mask = pssFor("sha1", 20);
const boundToLongSalt = pssFor("sha256", 64);

/** Returns the key as one of the type rsaEncryption, which has no parameters. */
function withoutParameters(key: KeyObject): KeyObject {
  const der = key.export({ format: "der", type: "spki" });
  const numbers = der.subarray(4 + 2 + der[5]!);
  const type = Buffer.from("300d06092a864886f70d0101010500", "hex");
  const header = Buffer.from([0x30, 0x82, 0, 0]);
  header.writeUInt16BE(type.length + numbers.length, 2);
  return createPublicKey({ key: Buffer.concat([header, type, numbers]), format: "der", type: "spki" });
}

const pem = (key: KeyObject) => key.export({ format: "pem", type: "spki" }).toString();
const privatePem = (key: KeyObject) => key.export({ format: "pem", type: "pkcs8" }).toString();
const input = (signature: Buffer | string) => ({
  rawBody,
  headers: { "service-signature": typeof signature === "string" ? signature : signature.toString("hex") },
});
const salted = (key: KeyObject, saltLength: number) =>
  sign("sha256", rawBody, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength });

describe("publicKeySignature", () => {
  it.each<[PublicKeyAlgorithm, { publicKey: KeyObject; privateKey: KeyObject }, Buffer]>([
    ["ed25519", ed, sign(null, rawBody, ed.privateKey)],
    ["ecdsa-sha256", ec, sign("sha256", rawBody, ec.privateKey)],
    ["ecdsa-sha384", ec384, sign("sha384", rawBody, ec384.privateKey)],
    ["ecdsa-sha512", ec521, sign("sha512", rawBody, ec521.privateKey)],
    ["rsa-sha256", rsa, sign("sha256", rawBody, rsa.privateKey)],
    ["rsa-pss-sha256", rsa, salted(rsa.privateKey, 32)],
    ["rsa-pss-sha256", rsa, salted(rsa.privateKey, 20)],
    ["rsa-pss-sha256", pss, salted(pss.privateKey, 32)],
    ["rsa-pss-sha256", bound, salted(bound.privateKey, 20)],
    ["rsa-pss-sha256", bound, salted(bound.privateKey, 32)],
    ["rsa-pss-sha256", bound, salted(bound.privateKey, constants.RSA_PSS_SALTLEN_MAX_SIGN)],
    ["rsa-pss-sha256", boundToSha1Mask, salted(boundToSha1Mask.privateKey, 32)],
  ])(
    "verifies %s over the raw body, with a key object and with PEM",
    (algorithm, { publicKey }, signature) => {
      for (const key of [publicKey, pem(publicKey)]) {
        const scheme = publicKeySignature({ publicKey: key, algorithm });
        expect(scheme.covers).toBe("body");
        expect(scheme.verify(input(signature))).toBe(true);
        const other = { ...input(signature), rawBody: bytes(webhook({ status: "pending" })) };
        expect(scheme.verify(other)).toBe(false);
        const broken = Buffer.from(signature);
        broken[broken.length - 1]! ^= 1;
        expect(scheme.verify(input(broken))).toBe(false);
      }
    },
  );

  it.each<[PublicKeyAlgorithm, { publicKey: KeyObject; privateKey: KeyObject }]>([
    ["ed25519", ed],
    ["ecdsa-sha256", ec],
    ["ecdsa-sha384", ec384],
    ["ecdsa-sha512", ec521],
    ["rsa-sha256", rsa],
    ["rsa-pss-sha256", rsa],
    ["rsa-pss-sha256", pss],
    ["rsa-pss-sha256", bound],
    ["rsa-pss-sha256", boundToLongSalt],
  ])("signs %s with a private key, in lower-case hexadecimal", (algorithm, pair) => {
    const scheme = publicKeySignature({ ...pair, algorithm });
    const signature = scheme.sign(rawBody);
    expect(signature).toMatch(/^[0-9a-f]+$/);
    expect(publicKeySignature({ publicKey: pair.publicKey, algorithm }).verify(input(signature))).toBe(true);
  });

  it("does not verify a mask of MGF1 with SHA-1, unless the key asks for it", () => {
    const signature = salted(boundToSha1Mask.privateKey, 32);
    const publicKey = withoutParameters(boundToSha1Mask.publicKey);
    const plain = publicKeySignature({ publicKey, algorithm: "rsa-pss-sha256" });
    expect(plain.verify(input(signature))).toBe(false);
  });

  it.each<[PublicKeyAlgorithm, KeyObject, RegExp[]]>([
    ["rsa-sha256", rsa.publicKey, [/signature\.publicKey has 2048 bits/]],
    ["rsa-pss-sha256", pss.publicKey, [/3072/]],
    ["rsa-pss-sha256", bound.publicKey, []],
    ["ecdsa-sha256", ec.publicKey, []],
  ])("warns about RSA keys under 3072 bits: %s", (algorithm, publicKey, warnings) => {
    expect(publicKeySignature({ publicKey, algorithm }).warnings).toEqual(
      warnings.map((warning) => expect.stringMatching(warning) as string),
    );
  });

  it("does not verify a wrong signature with any salt, also where the key allows long salts only", () => {
    const signature = salted(boundToLongSalt.privateKey, 64);
    const scheme = publicKeySignature({ publicKey: boundToLongSalt.publicKey, algorithm: "rsa-pss-sha256" });
    expect(scheme.verify(input(signature))).toBe(true);
    expect(scheme.verify({ ...input(signature), rawBody: Buffer.from("{}") })).toBe(false);
  });

  it("cannot sign without a private key", () => {
    expect("sign" in publicKeySignature({ publicKey: ed.publicKey, algorithm: "ed25519" })).toBe(false);
  });

  it("verifies with every key of a rotation", () => {
    const next = generateKeyPairSync("ed25519");
    const scheme = publicKeySignature({
      publicKey: [pem(next.publicKey), ed.publicKey],
      algorithm: "ed25519",
    });
    expect(scheme.verify(input(sign(null, rawBody, ed.privateKey)))).toBe(true);
    expect(scheme.verify(input(sign(null, rawBody, next.privateKey)))).toBe(true);
    const stranger = generateKeyPairSync("ed25519");
    expect(scheme.verify(input(sign(null, rawBody, stranger.privateKey)))).toBe(false);
  });

  it("accepts ECDSA in DER only", () => {
    const scheme = publicKeySignature({ publicKey: ec.publicKey, algorithm: "ecdsa-sha256" });
    const plain = sign("sha256", rawBody, { key: ec.privateKey, dsaEncoding: "ieee-p1363" });
    expect(scheme.verify(input(plain))).toBe(false);
  });

  it("refuses signatures that are of a wrong length, not hexadecimal, missing or repeated", () => {
    const scheme = publicKeySignature({ publicKey: ed.publicKey, algorithm: "ed25519" });
    const right = sign(null, rawBody, ed.privateKey).toString("hex");
    expect(codeOf(() => scheme.verify(input(right.slice(2))))).toBe("signature_malformed");
    expect(codeOf(() => scheme.verify(input(`${right}00`)))).toBe("signature_malformed");
    const base64 = sign(null, rawBody, ed.privateKey).toString("base64");
    expect(codeOf(() => scheme.verify(input(base64)))).toBe("signature_malformed");
    expect(codeOf(() => scheme.verify(input(`${right},${right}`)))).toBe("signature_malformed");
    expect(codeOf(() => scheme.verify({ rawBody, headers: {} }))).toBe("signature_missing");
    const long = publicKeySignature({ publicKey: rsa.publicKey, algorithm: "rsa-sha256" });
    expect(codeOf(() => long.verify(input("ab".repeat(1025))))).toBe("signature_malformed");
    expect(codeOf(() => long.verify(input("abc")))).toBe("signature_malformed");
    expect(long.verify(input("ab".repeat(1024)))).toBe(false);
  });

  it("refuses a missing or unknown algorithm, and lists those that it knows", () => {
    for (const [algorithm, code] of [
      [undefined, "option_missing"],
      ["hs256", "option_invalid"],
      [["ed25519"], "option_invalid"],
    ] as const) {
      const construct = () =>
        publicKeySignature({ publicKey: ed.publicKey, algorithm: algorithm as PublicKeyAlgorithm });
      expect(problemsOf(construct)).toEqual([["signature.algorithm", code]]);
      expect(messageOf(construct)).toContain("ed25519, ecdsa-sha256, ecdsa-sha384");
    }
  });

  it("refuses an option that it does not know", () => {
    const options = { publicKey: ed.publicKey, algorithm: "ed25519", publicKeys: [] } as const;
    // The option is called publicKey.
    expect(problemsOf(() => publicKeySignature(options))).toEqual([
      ["signature.publicKeys", "option_invalid"],
    ]);
  });

  it("takes a private key that belongs to the last of several public keys, as text and as a key", () => {
    const other = generateKeyPairSync("ed25519");
    for (const privateKey of [ed.privateKey, privatePem(ed.privateKey)]) {
      const publicKey = [other.publicKey, ed.publicKey];
      const scheme = publicKeySignature({ publicKey, algorithm: "ed25519", privateKey });
      const rawBody = Buffer.from("{}");
      expect(scheme.sign(rawBody)).toBe(sign(null, rawBody, ed.privateKey).toString("hex"));
    }
  });

  it("refuses a private key that belongs to none of the public keys, unless these are refused themselves", () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const problems = (publicKey: KeyObject | undefined) =>
      problemsOf(() => publicKeySignature({ publicKey, algorithm: "ed25519", privateKey }));
    expect(problems(ed.publicKey)).toEqual([["signature.privateKey", "key_invalid"]]);
    expect(problems(undefined)).toEqual([["signature.publicKey", "key_invalid"]]);
  });
});
