import { type Payment } from "../../../model/payment.js";
import {
  type EventRecord,
  type HandlerKey,
  type ResolutionRecord,
  type WebhookRecord,
} from "../../contract.js";

/** Returns a pending, open payment. Its reference is its own unless given. */
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

/** Returns an applied webhook. Its receiptId is derived from the eventKey unless given. */
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

/** Returns an event as it is saved, `payment.completed` unless given. */
export function event(id: string, over: Partial<EventRecord> = {}): EventRecord {
  return {
    id,
    type: "payment.completed",
    recordedAt: "2024-05-01T10:00:01.000Z",
    payload: { about: id },
    ...over,
  };
}

/** Returns a refund of the payment `p1` unless given. */
export function resolution(id: string, over: Partial<ResolutionRecord> = {}): ResolutionRecord {
  return { id, clientId: "p1", action: "refunded", reason: "twice", by: "Amina", at: at(9), ...over };
}

/** Returns a time at this minute from 10:00 on the first of May 2024. */
export function at(minute: number): string {
  return `2024-05-01T10:${String(minute).padStart(2, "0")}:00.000Z`;
}

/** Handlers of the exam. */
export const ledger: HandlerKey = { event: "payment.completed", name: "ledger" };
export const mailer: HandlerKey = { event: "payment.completed", name: "mailer" };
export const auditor: HandlerKey = { event: "*", name: "auditor" };
