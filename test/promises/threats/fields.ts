import { createHmac } from "node:crypto";
import { fieldsSignature } from "tillkit";
import { secret } from "../../support/kit.js";
import { type WebhookBody } from "../../support/webhooks.js";

/** The scheme under attack. */
export const fields = fieldsSignature({ secret, merchantId: "m-1" });

/** Joins fields like a careless verifier, for which all values that print alike are equal. */
export function carelessJoin({ data }: WebhookBody, merchantId = "m-1"): string {
  const total = (data["total"] ?? {}) as Record<string, unknown>;
  const { id, clientId, submittedAt, status } = data;
  return [id, merchantId, clientId, total["value"], total["currency"], submittedAt, status].join(",");
}

/** Returns the service's signature header for this text. */
export function signatureOf(text: string): { "service-signature": string } {
  return { "service-signature": createHmac("sha256", secret).update(text, "utf8").digest("hex") };
}

/** Returns the header that a careless verifier would accept for this body. */
export function carelesslySigned(body: WebhookBody): { "service-signature": string } {
  return signatureOf(carelessJoin(body));
}
