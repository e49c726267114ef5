import { type WebhookByHand } from "../contract.js";
import { type PlanParts } from "../scenario/plan-webhook.js";
import { type SandboxPayment } from "../state/payments.js";
import { type Randomness } from "../state/randomness.js";
import { type Signing } from "../state/signing.js";
import { webhookBody, type WebhookMessage, withOverrides } from "./message.js";

/** The webhook that a test made by hand, about this payment as if it were completed. */
export function webhookByHand(
  payment: SandboxPayment,
  webhook: WebhookByHand,
  plan: PlanParts,
): WebhookMessage {
  const { overrides = {}, headers = {} } = webhook;
  const sign = webhook.sign ?? ((rawBody: Buffer) => plan.sign(rawBody, "right"));
  const said = { ...payment, status: "completed", captured: true };
  const body = withOverrides(webhookBody(said, plan.now().toISOString()), overrides);
  const rawBody = Buffer.from(webhook.rawBody ?? JSON.stringify(body));
  return { paymentId: payment.id, rawBody, headers: { ...plan.headersFor(sign(rawBody)), ...headers } };
}

/** What tries an address: a webhook about nothing; where fields are signed, about a payment that nobody created. */
export function tryMessage(signing: Signing, plan: PlanParts, randomness: Randomness): WebhookMessage {
  const timestamp = plan.now().toISOString();
  const invented = {
    id: randomness.hex(12),
    status: "pending",
    captured: false,
    total: { value: "1", currency: "KMF" },
    clientId: `sandbox-try-${randomness.hex(4)}`,
  };
  const body =
    signing.state.scheme === "fields"
      ? { topic: "payment.pending", timestamp, type: "payment", data: invented }
      : { topic: "webhook.try", timestamp, type: "webhook", data: {} };
  const rawBody = Buffer.from(JSON.stringify(body));
  return { rawBody, headers: plan.headersFor(plan.sign(rawBody, "right")) };
}
