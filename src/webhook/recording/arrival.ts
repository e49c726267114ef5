import { type Message } from "../../model/payment-report.js";
import { type Outcome, type WebhookRecord } from "../../store/index.js";

/** A verified webhook, or the answer to a lookup, before it is recorded. */
export interface Arrival extends Pick<
  WebhookRecord,
  "receiptId" | "rawBody" | "covers" | "receivedAt" | "kind"
> {
  message: Message;
}

/** The result of recording one webhook. */
export interface Receipt {
  /** Identifies this arrival of the webhook. */
  receiptId: string;
  /** `spooled`: on disk in the spool, and not decided yet. */
  outcome: Outcome | "spooled";
  /** The payment that the webhook is about, where it names one. */
  clientId?: string;
}
