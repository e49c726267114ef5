import { type Payment } from "../../../model/payment.js";
import {
  type EventRecord,
  type HandlerKey,
  type ResolutionRecord,
  type WebhookRecord,
} from "../../contract.js";

/** Returns a pending, open payment with a reference of its own. `over` replaces fields. */
export function payment(clientId: string, over: Partial<Payment> = {}): Payment {
  return {
    clientId,
    reference: `order-of-${clientId}`,
    total: { value: "1475", currency: "KMF" },
    state: "pending",
    open: true,
    createdAt: "2024-05-01T10:00:00.000Z",
    updatedAt: "2024-05-01T10:00:00.000Z",
    ...over,
  };
}

/** Returns an applied webhook, whose receiptId is derived from the eventKey. `over` replaces fields. */
export function webhook(eventKey: string, over: Partial<WebhookRecord> = {}): WebhookRecord {
  return {
    receiptId: `receipt-of-${eventKey}`,
    eventKey,
    outcome: "applied",
    rawBody: Buffer.from(`{"about":"${eventKey}"}`),
    covers: "body",
    receivedAt: "2024-05-01T10:00:01.000Z",
    ...over,
  };
}

/** Returns an event of the type `payment.completed`. `over` replaces fields. */
export function event(id: string, over: Partial<EventRecord> = {}): EventRecord {
  return {
    id,
    type: "payment.completed",
    recordedAt: "2024-05-01T10:00:01.000Z",
    payload: { about: id },
    ...over,
  };
}

/** Returns a refund of the payment `p1`. `over` replaces fields. */
export function resolution(id: string, over: Partial<ResolutionRecord> = {}): ResolutionRecord {
  return { id, clientId: "p1", action: "refunded", reason: "twice", by: "Amina", at: at(9), ...over };
}

/** Returns a time on 1 May 2024: 10:00 UTC plus this number of minutes, at most 59. */
export function at(minute: number): string {
  return `2024-05-01T10:${String(minute).padStart(2, "0")}:00.000Z`;
}

/** The handlers of the exam. */
export const ledger: HandlerKey = { event: "payment.completed", name: "ledger" };
export const mailer: HandlerKey = { event: "payment.completed", name: "mailer" };
export const auditor: HandlerKey = { event: "*", name: "auditor" };
