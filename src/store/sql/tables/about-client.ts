import { type WebhookRecord } from "../../contract.js";
import { type Fragment } from "../driver/dialect.js";
import { type Database } from "./names.js";

/**
 * Returns the condition that a row is about a clientId. The index by clientId may not contain every row. The
 * condition then also finds webhooks whose eventKey contains the beginning of the clientId, and events with
 * such a webhook's number.
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
    // Some of these rows may be about another clientId, so `client_id` is compared, too.
    sql: `client_id = ? and seq in (select seq from ${tables[table]} where ${listed}
      union all select seq from ${tables.webhooks} where event_key >= ? and event_key < ?)`,
    // The end of the range: ";" is the character after ":".
    params: [clientId, clientId, start, `${start.slice(0, -1)};`],
  };
}

/**
 * Returns whether the webhook can be found by its eventKey, so that the index by clientId does not contain
 * it.
 */
export function isUnlisted({ clientId, eventKey, outcome, kind }: WebhookRecord): boolean {
  if (clientId === undefined || outcome !== "applied" || kind !== undefined) return false;
  return isInEventKeys(clientId) && eventKey.startsWith(keyStart(clientId));
}

/** Returns the beginning of the eventKeys that the kit makes from a clientId. */
function keyStart(clientId: string): string {
  return `payment:${clientId.slice(0, keptLength)}:`;
}

/** The number of characters of a clientId that an eventKey contains. */
const keptLength = 24;

/** Returns whether eventKeys contain so much of a clientId that few others have the same beginning. */
function isInEventKeys(clientId: string): boolean {
  return clientId.length <= keptLength || uuid.test(clientId);
}

/**
 * Matches UUIDs from a clock, from random bits or from a digest. UUIDs that begin with zeros are often
 * counters, so they do not match.
 */
const uuid = /^(?!0{8})[\da-f]{8}-[\da-f]{4}-[1-7][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;
