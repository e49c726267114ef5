import { type Message } from "../../model/payment-report.js";
import { type Outcome, type ResolutionRecord, type WebhookRecord } from "../../store/index.js";
import { readMessage } from "../message/read-message.js";
import { type SpooledWebhook } from "../spool/record-line.js";

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

/** Returns the arrival of a spooled webhook. */
export function fromSpool({ receiptId, receivedAt, rawBody, ...webhook }: SpooledWebhook): Arrival {
  // This kit wrote the value, after it had checked the coverage of the scheme.
  const covers = webhook.covers as Arrival["covers"];
  return { receiptId, receivedAt, rawBody, covers, message: readMessage({ rawBody, covers }) };
}
