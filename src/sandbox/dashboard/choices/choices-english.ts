import { type SandboxSettings } from "../../state/settings.js";
import { type Chosen } from "./chosen.js";

const forms: Record<SandboxSettings["errorBodies"], string> = {
  problem: "with JSON: status, title, detail, in English",
  bare: "without a body",
  html: "with a page",
};

/** Where the interface document says "not shown", and what the sandbox does there. */
export const english = {
  operations: {
    notShown: "Operations other than payment creation",
    choice: ({ settings }: Chosen): string =>
      settings.readBack
        ? "GET /v1/payments/{id} and GET /v1/payments answer, because the option readBack is on."
        : "None. The option readBack turns on GET /v1/payments/{id} and GET /v1/payments.",
  },
  id: { notShown: "Format of the payment’s id", choice: () => "24 hexadecimal digits." },
  statuses: {
    notShown: "Status values beyond pending and completed",
    choice: ({ settings }: Chosen) => {
      const onTheWay = settings.statuses.map((status) => `; ${status}, on the way`).join("");
      return `canceled, after the customer pressed Cancel; failed, where the provider refuses${onTheWay}. The option statuses adds init, submitted, approved and captured.`;
    },
  },
  clientId: {
    notShown: "Length, charset and uniqueness scope of clientId",
    choice: ({ settings }: Chosen) =>
      `1 to 255 characters without control characters; ${settings.strict ? "used once in the life of the sandbox" : "one that comes again makes a second payment, because the option strict is off"}.`,
  },
  amounts: {
    notShown: "Permitted currency codes; precision and bounds of the amount",
    choice: ({ settings }: Chosen) =>
      `${settings.strict ? "Codes of ISO 4217" : "Any three letters"}. Up to 16 digits and 4 decimals, above zero; kept as it was written.`,
  },
  source: {
    notShown: "Values of source, format of providerId",
    choice: ({ sources }: Chosen) =>
      `source is one of ${sources}; providerId is the source, a hyphen and 12 hexadecimal digits.`,
  },
  cancellation: {
    notShown: "A state resulting from cancellation, and any other move",
    choice: () =>
      "canceled is final on the checkout page. The dashboard, or a test with sandbox.pay(), may still complete such a payment, since a real service might.",
  },
  successStatus: {
    notShown: "Success status code of the creation",
    choice: ({ settings }: Chosen) =>
      `${settings.successStatus}; the option successStatus chooses among 200, 201 and 202.`,
  },
  callbacks: {
    notShown: "Query parameters and headers of the callbacks",
    choice: () => "None. The browser is sent, by 303, to exactly the address that the merchant gave.",
  },
  registration: {
    notShown: "A registration endpoint for webhook addresses",
    choice: ({ allowRemote }: Chosen) =>
      `The dashboard, the option webhookUrls, and sandbox.registerWebhook(); ${allowRemote ? "any address" : "addresses on this machine only"}.`,
  },
  tokens: {
    notShown: "How the access token is obtained",
    choice: ({ settings }: Chosen) =>
      `POST /oauth/token, OAuth 2 client credentials, in the form or by HTTP Basic; valid for ${settings.accessTokenTtlSeconds} s.`,
  },
  signature: {
    notShown: "Signature algorithm, signed content and key",
    choice: ({ signing: { scheme, header, merchantId } }: Chosen) => {
      if (scheme === "custom") return `The scheme given as the option signature; its header is ${header}.`;
      if (scheme === "hmac") return `HMAC over the raw body, in hexadecimal, in ${header}.`;
      return `HMAC over fields of the body joined by commas, with the merchantId ${merchantId}, in hexadecimal, in ${header}.`;
    },
  },
  topics: {
    notShown: "Topics other than payment.completed",
    choice: ({ settings }: Chosen) => {
      const told = [
        ...(settings.cancelWebhook
          ? ["payment.canceled after a cancel (without submittedAt, providerId and source)"]
          : []),
        ...(settings.failureWebhook ? ["payment.failed after a failure"] : []),
        ...(settings.statusWebhooks ? ["one for each status on the way"] : []),
      ];
      return `${told.join("; ") || "None"}. The options cancelWebhook, failureWebhook and statusWebhooks decide.`;
    },
  },
  delivery: {
    notShown: "Delivery rules",
    choice: ({ settings, retries }: Chosen) =>
      `Any 2xx within ${settings.webhookTimeoutMs / 1000} s is success. Otherwise the same bytes are sent again; pauses: ${retries || "none"}. Redirects are not followed. No order between addresses.`,
  },
  errors: {
    notShown: "Error format, codes and status codes",
    choice: ({ settings }: Chosen) =>
      `400, 401, 404, 405 or 413, ${forms[settings.errorBodies]}. The option errorBodies chooses among ${Object.keys(forms).join(", ")}. The token address answers with OAuth’s error and error_description.`,
  },
  limits: { notShown: "Limits", choice: () => "64 KiB per creation request. No rate limit." },
  versions: { notShown: "Version policy", choice: () => "Only /v1 exists." },
};
