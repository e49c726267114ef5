import { type WebhookRecord } from "../../payment-store.js";
import { type Dialect, type Fragment } from "../dialect.js";
import { type Tables } from "./names.js";

/**
 * Which rows of a table are about a clientId. Where the index by clientId does not list them all, the others are the
 * webhooks whose eventKey begins with it, and the events that have the number of such a webhook.
 */
export function aboutClient(
  dialect: Dialect,
  t: Tables,
  table: "webhooks" | "events",
  clientId: string,
): Fragment {
  if (!dialect.listsFewByClient) return { sql: "client_id = ?", params: [clientId] };
  const listed = "client_id = ? and unlisted is null";
  if (!isToldByKey(clientId)) return { sql: listed, params: [clientId] };
  const start = keyStart(clientId);
  return {
    // The start of an eventKey may be that of another clientId's, and a number that of another event's.
    sql: `client_id = ? and seq in (select seq from ${t[table]} where ${listed}
      union all select seq from ${t.webhooks} where event_key >= ? and event_key < ?)`,
    // Behind everything that begins as the first does, and before everything else.
    params: [clientId, clientId, start, `${start.slice(0, -1)};`],
  };
}

/** Whether a webhook that is plain is found by its eventKey. */
export function isUnlisted({ clientId, eventKey, outcome }: WebhookRecord): boolean {
  if (clientId === undefined || outcome !== "applied") return false;
  return isToldByKey(clientId) && eventKey.startsWith(keyStart(clientId));
}

/** How an eventKey begins that is made of a clientId; one that begins otherwise is in the index. */
function keyStart(clientId: string): string {
  return `payment:${clientId.slice(0, kept)}:`;
}

/** How much of a clientId is in an eventKey. */
const kept = 24;

/** Whether that is enough to find few others with it. */
function isToldByKey(clientId: string): boolean {
  return clientId.length <= kept || uuid.test(clientId);
}

/** One that is made of a time, at random or by a digest. Those that begin with zeros are counted by somebody. */
const uuid = /^(?!0{8})[\da-f]{8}-[\da-f]{4}-[1-7][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;
