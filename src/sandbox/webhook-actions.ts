import { type SandboxWebhookActions } from "./contract.js";
import { type SandboxCore } from "./core.js";
import { findPayment } from "./payment-actions.js";
import { type Restoration } from "./state/saved-state.js";
import { throwMisuse } from "./throw-misuse.js";
import { type WebhookMessages } from "./webhook/message.js";
import { type WebhookSender } from "./webhook/sender.js";

interface WebhookParts {
  restoration: Restoration;
  messages: WebhookMessages;
  sender: WebhookSender;
}

/** Makes the part of the sandbox that registers webhook addresses, and holds, repeats and forges webhooks. */
export function createWebhookActions(
  { options, addresses, payments, activity }: SandboxCore,
  { restoration, messages, sender }: WebhookParts,
): SandboxWebhookActions {
  return {
    get webhookAddresses() {
      return addresses.list();
    },
    registerWebhook: (url) => {
      restoration.requireDone();
      return addresses.add(url);
    },
    unregisterWebhook: (urlOrId) => {
      restoration.requireDone();
      addresses.remove(urlOrId);
    },
    tryWebhook: async (urlOrId) => {
      const address = addresses.find(urlOrId) ?? throwMisuse(`No webhook address ${urlOrId} is registered.`);
      return sender.sendOnce(messages.forTrial(), address.url);
    },
    holdWebhooks: () => sender.hold(),
    releaseWebhooks: () => sender.release(),
    get webhooksHeld() {
      return sender.held;
    },
    deliveries: sender.deliveries,
    deliverAgain: async (deliveryId) =>
      (await sender.sendAgain(deliveryId)) ??
      throwMisuse(`There is no delivery with the id "${deliveryId}".`),
    sendWebhook: async (webhook) => {
      const payment = findPayment(payments, webhook.payment);
      const url = addresses.check(
        webhook.url ?? addresses.list()[0]?.url ?? throwMisuse("No webhook address is registered."),
      );
      const submission = payments.submission(payment, options.providers[0]!.code);
      const sent = await sender.sendOnce(messages.fromTest({ ...submission, ...payment }, webhook), url);
      if (sent.status === undefined) throwMisuse(`${url} did not answer: ${sent.error}.`);
      return { status: sent.status, body: sent.responseBody ?? "" };
    },
    settled: () => activity.idle(),
  };
}
