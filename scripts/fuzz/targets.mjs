import { generateKeyPairSync } from "node:crypto";
import { messageOf, modelOf, jsonOf } from "./messages.mjs";

/** The number of messages for each scheme. */
const messagesPerScheme = 64;

const secret = "whsec_4d8f0b2a6c1e7395a0b8d4c2f6e1937b";
const foreignSecret = "whsec_00000000000000000000000000000001x";

/**
 * Makes the schemes under test, each with signed messages and a weight. Public keys have a small weight because they are slow.
 * `foreign` is a scheme with the secret or key of an attacker.
 */
export function makeTargets(kit) {
  const { hmacSignature, fieldsSignature } = kit;
  const hmac = (algorithm) => (key) => hmacSignature({ secret: key, algorithm });
  const fields = (key) => fieldsSignature({ secret: key, merchantId: "m-1" });
  return [
    target("hmac sha256", 400, "body", hmac("sha256")),
    target("hmac sha512", 60, "body", hmac("sha512")),
    target("hmac, two secrets", 60, "body", (key) => hmacSignature({ secret: [key, `${key}-of-before`] })),
    target("fields", 450, "fields", fields),
    target("ed25519", 4, "body", publicKey(kit, "ed25519", "ed25519")),
    target("ecdsa-sha256", 4, "body", publicKey(kit, "ecdsa-sha256", "ec", { namedCurve: "P-256" })),
    target("rsa-sha256", 4, "body", publicKey(kit, "rsa-sha256", "rsa", { modulusLength: 2048 })),
    target("rsa-pss-sha256", 4, "body", publicKey(kit, "rsa-pss-sha256", "rsa", { modulusLength: 2048 })),
  ];
}

/** The keys are new in each run, so cases of these schemes cannot be repeated exactly. Findings show them in full. */
function publicKey({ publicKeySignature }, algorithm, type, options) {
  return (use) => publicKeySignature({ algorithm, ...keyPair(type, options, use) });
}

const pairs = new Map();

/** Returns a key pair. Both RSA algorithms share one, because making RSA keys is slow. */
function keyPair(type, options, use) {
  const name = `${type} ${use}`;
  if (!pairs.has(name)) pairs.set(name, generateKeyPairSync(type, options));
  return pairs.get(name);
}

function target(name, weight, covers, schemeWith) {
  const scheme = schemeWith(secret);
  const foreign = schemeWith(foreignSecret);
  const messages = Array.from({ length: messagesPerScheme }, (_, n) => {
    const model = modelOf(messageOf(n));
    const body = Buffer.from(jsonOf(model));
    return { n, model, body, signature: scheme.sign(body), foreign: foreign.sign(body) };
  });
  return { name, weight, covers, scheme, messages };
}
