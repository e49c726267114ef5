import { type Message, type PaymentReport } from "../../../src/model/payment-report.js";
import { readMessage } from "../../../src/webhook/message/read-message.js";
import { bytes } from "./webhooks.js";

/** Reads a webhook whose whole body is signed. */
export function read(body: unknown): Message {
  return readMessage({ rawBody: bytes(body), covers: "body" });
}

/** Returns what the webhook says of its payment. Throws where it is about none. */
export function reportOf(body: unknown): PaymentReport {
  const message = read(body);
  if (message.kind !== "payment") throw new Error(JSON.stringify(message));
  return message;
}

/** Returns why the webhook is inadmissible, or `undefined`. */
export function reasonOf(body: unknown): string | undefined {
  const message = read(body);
  return message.kind === "inadmissible" ? message.reason : undefined;
}
