import { createHmac } from "node:crypto";
import { fieldsSignature } from "tillkit";
import { secret } from "../../support/kit.js";
import { type WebhookBody } from "../../support/webhooks.js";

/** The scheme under attack. */
export const fields = fieldsSignature({ secret, merchantId: "m-1" });

/** What a careless verifier joins: whatever prints alike is the same to it. */
export function carelessJoin({ data }: WebhookBody, merchantId = "m-1"): string {
  const total = (data["total"] ?? {}) as Record<string, unknown>;
  const { id, clientId, submittedAt, status } = data;
  return [id, merchantId, clientId, total["value"], total["currency"], submittedAt, status].join(",");
}

/** The signature header of this text, as the service would make it. */
export function signatureOf(text: string): { "service-signature": string } {
  return { "service-signature": createHmac("sha256", secret).update(text, "utf8").digest("hex") };
}

/** The header that a careless verifier would accept for this body. */
export function carelesslySigned(body: WebhookBody): { "service-signature": string } {
  return signatureOf(carelessJoin(body));
}
