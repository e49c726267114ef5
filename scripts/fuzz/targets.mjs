import { generateKeyPairSync } from "node:crypto";
import { messageOf, modelOf, textOf } from "./messages.mjs";

/** How many messages there are for each scheme. */
const many = 64;

const secret = "whsec_4d8f0b2a6c1e7395a0b8d4c2f6e1937b";
const foreignSecret = "whsec_00000000000000000000000000000001x";

/**
 * The schemes under test, each with signed messages and the weight with which it is drawn: public keys take a hundred
 * times as long as HMAC. `foreign` is a scheme that anybody could make, with a secret or key of their own.
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

/** Keys are drawn anew in each run, so that cases of these schemes are repeated with others: findings show them in full. */
function publicKey({ publicKeySignature }, algorithm, type, options) {
  return (use) => publicKeySignature({ algorithm, ...keyPair(type, options, use) });
}

const pairs = new Map();

/** RSA keys take a while to find; both algorithms share theirs. */
function keyPair(type, options, use) {
  const name = `${type} ${use}`;
  if (!pairs.has(name)) pairs.set(name, generateKeyPairSync(type, options));
  return pairs.get(name);
}

function target(name, weight, covers, schemeWith) {
  const scheme = schemeWith(secret);
  const foreign = schemeWith(foreignSecret);
  const messages = Array.from({ length: many }, (_, n) => {
    const model = modelOf(messageOf(n));
    const body = Buffer.from(textOf(model));
    return { n, model, body, signature: scheme.sign(body), foreign: foreign.sign(body) };
  });
  return { name, weight, covers, scheme, messages };
}
