import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { TillkitError } from "../../../src/errors/index.js";
import { standardWebhooksSignature } from "../../../src/webhook/signature/index.js";
import { codeOf, messageOf, problemsOf } from "./refusal.js";

/** The public vectors of the specification's reference libraries. */
const vector = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  publicKey: "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  time: "1614265330",
  rawBody: Buffer.from('{"test": 2432232314}'),
  v1: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  v1a: "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==",
};
const { id, time, rawBody } = vector;
const otherSecret = `whsec_${Buffer.from("another secret of 32 bytes: 1234").toString("base64")}`;

const input = (signature: string, headers: Record<string, string | string[] | undefined> = {}) => ({
  rawBody,
  headers: { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature, ...headers },
});
const bySecret = standardWebhooksSignature({ secret: vector.secret });
const byKey = standardWebhooksSignature({ publicKey: vector.publicKey });

beforeEach(() => {
  jest.useFakeTimers({ now: Number(time) * 1000 });
});
afterEach(() => {
  jest.useRealTimers();
});

it("verifies the public vector with a secret, and the one with an Ed25519 key", () => {
  expect(bySecret.verify(input(vector.v1))).toBe(true);
  expect(byKey.verify(input(vector.v1a))).toBe(true);
  expect(bySecret.covers).toBe("body");
});

it("accepts a secret and a key without their prefix, and a secret as bytes", () => {
  const secret = vector.secret.slice("whsec_".length);
  expect(standardWebhooksSignature({ secret }).verify(input(vector.v1))).toBe(true);
  const bytes = Buffer.from(secret, "base64");
  expect(standardWebhooksSignature({ secret: bytes }).verify(input(vector.v1))).toBe(true);
  const publicKey = vector.publicKey.slice("whpk_".length);
  expect(standardWebhooksSignature({ publicKey }).verify(input(vector.v1a))).toBe(true);
});

it("accepts each secret and each key of a rotation", () => {
  const { publicKey: other } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(other.export({ format: "jwk" }).x!, "base64url").toString("base64");
  const both = standardWebhooksSignature({
    secret: [otherSecret, vector.secret],
    publicKey: [`whpk_${raw}`, vector.publicKey],
  });
  expect(both.verify(input(vector.v1))).toBe(true);
  expect(both.verify(input(vector.v1a))).toBe(true);
});

it("accepts one right signature among others, also of versions that it does not know", () => {
  const wrong = `v1,${Buffer.alloc(32).toString("base64")}`;
  expect(bySecret.verify(input(`${wrong} v9,abcd ${vector.v1a} ${vector.v1}`))).toBe(true);
  expect(bySecret.verify(input(`${wrong} v9,abcd ${vector.v1a}`))).toBe(false);
});

it.each([
  ["another id", { "webhook-id": "msg_2" }],
  ["another time", { "webhook-timestamp": String(Number(time) + 1) }],
])("refuses %s", (_, headers) => {
  expect(bySecret.verify(input(vector.v1, headers))).toBe(false);
});

it("refuses another body, and another secret or key", () => {
  expect(bySecret.verify({ ...input(vector.v1), rawBody: Buffer.from('{"test": 2432232315}') })).toBe(false);
  expect(standardWebhooksSignature({ secret: otherSecret }).verify(input(vector.v1))).toBe(false);
  const { privateKey } = generateKeyPairSync("ed25519");
  const forged = sign(null, Buffer.from(`${id}.${time}.${String(rawBody)}`), privateKey).toString("base64");
  expect(byKey.verify(input(`v1a,${forged}`))).toBe(false);
});

it("never takes the public key for a secret, nor an HMAC for a signature of the key", () => {
  const key = Buffer.from(vector.publicKey.slice("whpk_".length), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${time}.`).update(rawBody).digest("base64");
  expect(byKey.verify(input(`v1,${mac}`))).toBe(false);
  expect(byKey.verify(input(`v1a,${mac}`))).toBe(false);
});

it.each(["v1", "v1,", "v1,g0hM9SsE", "v1,!!!!", "", "__proto__,AAAA", vector.v1.replace("v1,", "V1,")])(
  "does not accept the signature %j",
  (signature) => {
    const verified = (() => {
      try {
        return bySecret.verify(input(signature));
      } catch {
        return false;
      }
    })();
    expect(verified).toBe(false);
  },
);

it.each([
  ["five minutes ago", 300_000],
  ["five minutes ahead", -300_000],
])("accepts what was signed %s", (_, offMs) => {
  jest.setSystemTime(Number(time) * 1000 + offMs);
  expect(bySecret.verify(input(vector.v1))).toBe(true);
});

it.each([
  ["a second more than five minutes ago", 301_000],
  ["a second more than five minutes ahead", -301_000],
])("refuses what was signed %s", (_, offMs) => {
  jest.setSystemTime(Number(time) * 1000 + offMs);
  expect(codeOf(() => bySecret.verify(input(vector.v1)))).toBe("signature_mismatch");
  expect(messageOf(() => bySecret.verify(input(vector.v1)))).toContain("was signed 301 seconds");
});

it("takes another tolerance", () => {
  const strict = standardWebhooksSignature({ secret: vector.secret, toleranceMs: 1000 });
  jest.setSystemTime(Number(time) * 1000 + 2000);
  expect(codeOf(() => strict.verify(input(vector.v1)))).toBe("signature_mismatch");
});

it.each([
  ["webhook-id", undefined, "signature_missing"],
  ["webhook-timestamp", undefined, "signature_missing"],
  ["webhook-signature", undefined, "signature_missing"],
  ["webhook-id", [id, id], "signature_malformed"],
  ["webhook-timestamp", "2021-02-25", "signature_malformed"],
  ["webhook-timestamp", "1e9", "signature_malformed"],
  ["webhook-signature", Array(21).fill(vector.v1).join(" "), "signature_malformed"],
])("refuses %s as %j with %s", (name, value, code) => {
  expect(codeOf(() => bySecret.verify(input(vector.v1, { [name]: value })))).toBe(code);
});

it.each<[string, Parameters<typeof standardWebhooksSignature>[0], [string, string][]]>([
  ["nothing", {}, [["signature.secret", "option_missing"]]],
  ["no base64", { secret: "whsec_not base64" }, [["signature.secret", "option_invalid"]]],
  ["a short secret", { secret: "whsec_AAECAwQ=" }, [["signature.secret", "secret_too_short"]]],
  ["a missing secret of a list", { secret: [undefined] }, [["signature.secret[0]", "secret_missing"]]],
  ["no key", { publicKey: "whpk_AAAA" }, [["signature.publicKey", "key_invalid"]]],
  ["no key in a list", { publicKey: [] }, [["signature.publicKey", "key_invalid"]]],
  ["a missing key of a list", { publicKey: [undefined] }, [["signature.publicKey[0]", "key_invalid"]]],
  ["a key as bytes", { publicKey: Buffer.alloc(32) } as never, [["signature.publicKey", "key_invalid"]]],
  ["null as a key", { publicKey: null } as never, [["signature.publicKey", "key_invalid"]]],
  ["no tolerance", { secret: vector.secret, toleranceMs: 0 }, [["signature.toleranceMs", "option_invalid"]]],
  [
    "a misspelt option",
    { secrets: "x" } as never,
    [
      ["signature.secrets", "option_invalid"],
      ["signature.secret", "option_missing"],
    ],
  ],
])("refuses %s at construction", (_, options, problems) => {
  expect(problemsOf(() => standardWebhooksSignature(options))).toEqual(problems);
});

it("warns about a short secret, and hides a refused one from the errors of the kit", () => {
  const short = Buffer.from("a secret of 24 bytes: 12").toString("base64");
  const message = "signature.secret is shorter than 32 bytes; ask the service for a longer one.";
  expect(standardWebhooksSignature({ secret: short }).warnings).toEqual([message]);
  expect(standardWebhooksSignature({ secret: otherSecret }).warnings).toEqual([]);
  const refused = "no-base64-Zb5-wQ8-tLm2Xc7RkP4vNd9S";
  expect(codeOf(() => standardWebhooksSignature({ secret: `whsec_${refused}` }))).toBe("option_invalid");
  expect(new TillkitError("store_unavailable", refused).message).not.toContain(refused);
});
