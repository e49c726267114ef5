import { createHmac, timingSafeEqual } from "node:crypto";
import { secret } from "./webhooks.mjs";

const hmac = (body) => createHmac("sha256", secret).update(body);

/** The headers of the interface that the kit speaks: a hexadecimal HMAC over the body. */
export function signHex(body) {
  return { "Service-Signature": hmac(body).digest("hex") };
}

/** What somebody writes by hand to check it. */
export function isSignedHex(request, body) {
  const given = Buffer.from(request.headers["service-signature"] ?? "", "hex");
  const expected = hmac(body).digest();
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The headers of Standard Webhooks, whose names differ from one service to the next. */
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
