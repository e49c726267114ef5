import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { publicKeySignature, type PublicKeyAlgorithm } from "../../../src/webhook/signature/index.js";
import { messageOf, problemsOf } from "./refusal.js";

const ed = generateKeyPairSync("ed25519");
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pss = generateKeyPairSync("rsa-pss", { modulusLength: 2048 });
const curve = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve }).publicKey;
const ec = curve("prime256v1");

const pem = (key: KeyObject) => key.export({ format: "pem", type: "spki" }).toString();
const privatePem = (key: KeyObject) => key.export({ format: "pem", type: "pkcs8" }).toString();

/** Constructs the scheme with values that the types may not allow. */
const withKeys = (algorithm: PublicKeyAlgorithm, publicKey: unknown, privateKey?: unknown) => () =>
  publicKeySignature({
    algorithm,
    publicKey: publicKey as KeyObject,
    ...(privateKey !== undefined && { privateKey: privateKey as KeyObject }),
  });

const refused = [["signature.publicKey", "key_invalid"]];

describe("a public key", () => {
  it.each(["prime256v1", "secp384r1", "secp521r1", "secp256k1"])("may be on the curve %s", (name) => {
    expect(problemsOf(withKeys("ecdsa-sha256", curve(name)))).toEqual([]);
  });

  it("may be in the older PEM form of RSA, and may have empty lines before it", () => {
    const older = rsa.publicKey.export({ format: "pem", type: "pkcs1" }).toString();
    for (const text of [older, `\n${older}`, `\r\n\r\n${pem(rsa.publicKey)}`])
      expect(problemsOf(withKeys("rsa-sha256", text))).toEqual([]);
  });

  it("is not a private key, which is not shown", () => {
    for (const given of [privatePem(ed.privateKey), ed.privateKey]) {
      const construct = withKeys("ed25519", given);
      expect(problemsOf(construct)).toEqual(refused);
      expect(messageOf(construct)).toContain("private key");
      expect(messageOf(construct)).not.toContain(privatePem(ed.privateKey).split("\n")[1]!);
    }
  });

  it.each<[string, PublicKeyAlgorithm, KeyObject]>([
    ["ECDSA", "ed25519", ec],
    ["Ed25519", "ecdsa-sha256", ed.publicKey],
    ["Ed25519", "rsa-sha256", ed.publicKey],
    ["RSA-PSS", "rsa-sha256", pss.publicKey],
    ["EC", "rsa-pss-sha256", ec],
  ])("of the type %s is refused for %s", (_, algorithm, publicKey) => {
    expect(problemsOf(withKeys(algorithm, publicKey))).toEqual(refused);
  });

  const sha512 = { modulusLength: 2048, hashAlgorithm: "sha512", mgf1HashAlgorithm: "sha512" };
  it.each<[string, PublicKeyAlgorithm, KeyObject]>([
    ["RSA of 1024 bits", "rsa-sha256", generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey],
    [
      "RSA-PSS of 1024 bits",
      "rsa-pss-sha256",
      generateKeyPairSync("rsa-pss", { modulusLength: 1024 }).publicKey,
    ],
    ["a small curve", "ecdsa-sha256", curve("secp224r1")],
    ["another digest", "rsa-pss-sha256", generateKeyPairSync("rsa-pss", sha512).publicKey],
  ])("of %s is refused", (_, algorithm, publicKey) => {
    expect(problemsOf(withKeys(algorithm, publicKey))).toEqual(refused);
  });

  it.each([
    ["a key of another form", "ssh-ed25519 AAAA"],
    ["an empty list", []],
    ["PEM text without its line breaks", pem(ed.publicKey).replaceAll("\n", "\\n")],
    ["PEM text as bytes", Buffer.from(pem(ed.publicKey))],
    ["PEM text after another text", `a text\n${pem(ed.publicKey)}`],
    ["PEM text after the start of a certificate", `-----BEGIN CERTIFICATE-----\n${pem(ed.publicKey)}`],
    ["a number", 7],
    ["null", null],
  ])("cannot be %s", (_, publicKey) => {
    expect(problemsOf(withKeys("ed25519", publicKey))).toEqual(refused);
  });

  it("is missing where it is undefined or empty, and the message says so", () => {
    for (const publicKey of [undefined, ""]) {
      const construct = withKeys("ed25519", publicKey);
      expect(problemsOf(construct)).toEqual(refused);
      expect(messageOf(construct)).toContain("is missing");
    }
  });

  it("of a list is named by its index, in problems and in warnings", () => {
    expect(problemsOf(withKeys("ed25519", [ed.publicKey, ec]))).toEqual([
      ["signature.publicKey[1]", "key_invalid"],
    ]);
    const { warnings } = withKeys("rsa-sha256", [rsa.publicKey, pem(rsa.publicKey)])();
    expect(warnings).toEqual([
      expect.stringMatching(/^signature\.publicKey\[0\] /),
      expect.stringMatching(/^signature\.publicKey\[1\] /),
    ]);
  });
});

describe("a private key", () => {
  it.each([
    ["no key", "no key"],
    ["a public key", ed.publicKey],
    ["a public key as text", pem(ed.publicKey)],
    ["empty", ""],
    ["of another type", generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey],
  ])("is refused if it is %s", (_, privateKey) => {
    expect(problemsOf(withKeys("ed25519", ed.publicKey, privateKey))).toEqual([
      ["signature.privateKey", "key_invalid"],
    ]);
  });
});
