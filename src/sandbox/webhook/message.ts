import { type SandboxPayment } from "../state/payments.js";

/** The body of a webhook (interface document, 6.1 and 2.3), its fields in the document's order. */
export interface WebhookBody {
  topic: string;
  timestamp: string;
  type: string;
  data: {
    id: string;
    status: string;
    captured: boolean;
    total: { value: string; currency: string };
    submittedAt?: string;
    clientId: string;
    providerId?: string;
    source?: string;
  };
}

/** Changes to a webhook's body. `undefined` takes a field away; `data` is merged field by field. */
export type WebhookOverrides = Partial<Record<keyof Omit<WebhookBody, "data">, unknown>> & {
  data?: Record<string, unknown>;
};

/** What the service says about a payment at this moment. */
export function webhookBody(payment: SandboxPayment, timestamp: string): WebhookBody {
  return {
    topic: `payment.${payment.status}`,
    timestamp,
    type: "payment",
    data: {
      id: payment.id,
      status: payment.status,
      captured: payment.captured,
      total: { value: payment.total.value, currency: payment.total.currency },
      // A canceled payment was never submitted: it has neither time, nor reference, nor source.
      ...(payment.submittedAt !== undefined && { submittedAt: payment.submittedAt }),
      clientId: payment.clientId,
      ...(payment.providerId !== undefined && { providerId: payment.providerId }),
      ...(payment.source !== undefined && { source: payment.source }),
    },
  };
}

/** The body with changes applied; fields keep their places. */
export function withOverrides(body: WebhookBody, overrides: WebhookOverrides): Record<string, unknown> {
  return { ...body, ...overrides, data: { ...body.data, ...overrides.data } };
}

/** A webhook, ready to be sent: the same bytes and the same signature at every attempt. */
export interface WebhookMessage {
  /** Absent where it is about none, as when an address is tried. */
  paymentId?: string;
  rawBody: Buffer;
  headers: Record<string, string>;
  /** The scenario that made it, where it is not the normal one. */
  scenario?: string;
}
