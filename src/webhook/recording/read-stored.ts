import { type Message } from "../../model/payment-report.js";
import { type WebhookRecord } from "../../store/index.js";
import { readLookup } from "../message/read-lookup.js";
import { readMessage } from "../message/read-message.js";

/** Returns the message of a stored webhook or lookup answer, trusted as far as its signature covered it on arrival. */
export function readStored({ rawBody, covers, kind, clientId, receivedAt }: WebhookRecord): Message {
  if (kind !== "lookup") return readMessage({ rawBody, covers });
  return readLookup({ rawBody, covers, clientId: clientId ?? "", receivedAt });
}
