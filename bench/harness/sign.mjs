import { createHmac, timingSafeEqual } from "node:crypto";
import { secret } from "./webhooks.mjs";

const hmac = (body) => createHmac("sha256", secret).update(body);

/** Returns the header of the kit's interface: a hexadecimal HMAC over the body. */
export function signHex(body) {
  return { "Service-Signature": hmac(body).digest("hex") };
}

/** Checks that header in the way a developer writes it by hand. */
export function isSignedHex(request, body) {
  const given = Buffer.from(request.headers["service-signature"] ?? "", "hex");
  const expected = hmac(body).digest();
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Returns a signer for Standard Webhooks. The prefix of the headers differs between services. */
export function standardSigner(prefix, key) {
  return (body, n) => {
    const id = `msg_${n}`;
    const timestamp = Math.floor(Date.now() / 1000);
    const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
    return {
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: timestamp,
      [`${prefix}-signature`]: `v1,${signature}`,
    };
  };
}
