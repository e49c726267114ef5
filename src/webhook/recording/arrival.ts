import { type Message } from "../../model/payment-report.js";
import { type Outcome, type ResolutionRecord, type WebhookRecord } from "../../store/index.js";

/** A verified webhook, or the answer to a lookup, before it is recorded. */
export interface Arrival extends Pick<
  WebhookRecord,
  "receiptId" | "rawBody" | "covers" | "receivedAt" | "kind"
> {
  message: Message;
  /** Returns the resolutions to store with the new webhook, if a person records it. */
  resolutionsOf?: (webhook: WebhookRecord) => ResolutionRecord[];
}

/** The result of recording one webhook. */
export interface Receipt {
  /** The id of this arrival of the webhook. */
  receiptId: string;
  /** `spooled`: the webhook is on disk in the spool, and its outcome is not decided yet. */
  outcome: Outcome | "spooled";
  /** The clientId of the payment that the webhook is about, if the webhook names one. */
  clientId?: string;
}
