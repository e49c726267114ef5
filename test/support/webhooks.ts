import { type Payment } from "tillkit";
import { scheme } from "./kit.js";

/** A webhook body of the interface document, 6.1. */
export interface WebhookBody {
  topic: string;
  timestamp: string;
  type: string;
  data: Record<string, unknown>;
}

/** Returns a `payment.completed` body. `data` overrides fields of the payment, and `top` the fields around it. */
export function completedBody(
  data: Record<string, unknown> = {},
  top: Record<string, unknown> = {},
): WebhookBody {
  return {
    topic: "payment.completed",
    timestamp: "2026-11-20T10:00:05.000Z",
    type: "payment",
    ...top,
    data: {
      id: "64f0c0ffee64f0c0ffee64f0",
      status: "completed",
      captured: true,
      total: { value: "1475", currency: "KMF" },
      submittedAt: "2026-11-20T10:00:00.000Z",
      clientId: "c-1",
      providerId: "MVK-778",
      source: "MVK",
      ...data,
    },
  };
}

/** Returns the body of another status, with its topic and `captured`. */
export function statusBody(status: string, data: Record<string, unknown> = {}): WebhookBody {
  return completedBody(
    { status, captured: status === "completed" || status === "captured", ...data },
    { topic: `payment.${status}` },
  );
}

/** Returns the bytes and headers of a signed webhook. */
export function signed(body: unknown, by: { sign(rawBody: Buffer): string } = scheme) {
  const rawBody = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return { rawBody, headers: { "content-type": "application/json", "service-signature": by.sign(rawBody) } };
}

/** Returns a pending payment, like after its creation. */
export function pendingPayment(overrides: Partial<Payment> = {}): Payment {
  return {
    clientId: "c-1",
    reference: "order-1",
    total: { value: "1475", currency: "KMF" },
    state: "pending",
    status: "pending",
    open: true,
    serviceId: "64f0c0ffee64f0c0ffee64f0",
    checkoutUrl: "https://pay.invalid/payment/submit/64f0c0ffee64f0c0ffee64f0",
    createdAt: "2026-11-20T09:59:00.000Z",
    updatedAt: "2026-11-20T09:59:00.000Z",
    ...overrides,
  };
}
