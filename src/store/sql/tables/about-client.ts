import { type WebhookRecord } from "../../contract.js";
import { type Fragment } from "../driver/dialect.js";
import { type Database } from "./names.js";

/**
 * Returns the condition that a row is about a clientId. Where the index by clientId does not list every row, the rest are the
 * webhooks whose eventKey begins with the clientId, and the events with the number of such a webhook.
 */
export function aboutClient(
  { dialect, tables }: Database,
  table: "webhooks" | "events",
  clientId: string,
): Fragment {
  if (!dialect.listsFewByClient) return { sql: "client_id = ?", params: [clientId] };
  const listed = "client_id = ? and unlisted is null";
  if (!isInEventKeys(clientId)) return { sql: listed, params: [clientId] };
  const start = keyStart(clientId);
  return {
    // The eventKey of another clientId may begin alike, and another event may have the number of a webhook.
    sql: `client_id = ? and seq in (select seq from ${tables[table]} where ${listed}
      union all select seq from ${tables.webhooks} where event_key >= ? and event_key < ?)`,
    // The end of the range: ";" is the character after ":".
    params: [clientId, clientId, start, `${start.slice(0, -1)};`],
  };
}

/** Returns whether an eventKey leads to the webhook. Then the index by clientId need not list it. */
export function isUnlisted({ clientId, eventKey, outcome, kind }: WebhookRecord): boolean {
  if (clientId === undefined || outcome !== "applied" || kind !== undefined) return false;
  return isInEventKeys(clientId) && eventKey.startsWith(keyStart(clientId));
}

/** Returns the beginning of an eventKey that is made of a clientId. */
function keyStart(clientId: string): string {
  return `payment:${clientId.slice(0, keptLength)}:`;
}

/** The number of characters of a clientId that an eventKey contains. */
const keptLength = 24;

/** Returns whether eventKeys contain enough of a clientId, so that few others begin alike. */
function isInEventKeys(clientId: string): boolean {
  return clientId.length <= keptLength || uuid.test(clientId);
}

/** A UUID made of a time, at random or by a digest. One that begins with zeros is likely to be a counter. */
const uuid = /^(?!0{8})[\da-f]{8}-[\da-f]{4}-[1-7][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;
