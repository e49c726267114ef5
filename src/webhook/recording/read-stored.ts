import { type Message } from "../../model/payment-report.js";
import { readLookup } from "../message/read-lookup.js";
import { readMessage } from "../message/read-message.js";
import { type WebhookRecord } from "../../store/index.js";

/** What a stored webhook, or a stored answer to a lookup, says; trusted no further than it was when it came. */
export function readStored({ rawBody, covers, kind, clientId, receivedAt }: WebhookRecord): Message {
  if (kind !== "lookup") return readMessage({ rawBody, covers });
  return readLookup({ rawBody, covers, clientId: clientId ?? "", receivedAt });
}
