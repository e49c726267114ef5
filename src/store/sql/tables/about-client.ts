import { type WebhookRecord } from "../../payment-store.js";
import { type Dialect, type Fragment } from "../dialect.js";
import { type Tables } from "./names.js";
import { isPlain } from "./webhooks.js";

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
  const start = keyStart(clientId);
  const listed = (name: string): Fragment => ({
    sql: `select seq from ${name} where client_id = ? and unlisted is null`,
    params: [clientId],
  });
  const parts: Fragment[] = [
    listed(t.webhooks),
    {
      sql: `select seq from ${t.webhooks} where event_key >= ? and event_key < ?`,
      // Behind everything that begins as the first does, and before everything else.
      params: [start, `${start.slice(0, -1)};`],
    },
    ...(table === "events" ? [listed(t.events)] : []),
  ];
  return {
    // The start of an eventKey may be that of another clientId's, and a number that of another event's.
    sql: `client_id = ? and seq in (${parts.map(({ sql }) => sql).join(" union all ")})`,
    params: [clientId, ...parts.flatMap(({ params }) => params)],
  };
}

/** Whether the eventKey of a webhook finds it by its clientId, and by no more than that. What waits is found by the index. */
export function isUnlisted(webhook: WebhookRecord): boolean {
  const { clientId, eventKey, outcome } = webhook;
  if (clientId === undefined || outcome !== "applied" || !isPlain(webhook)) return false;
  return (clientId.length <= kept || uuid.test(clientId)) && eventKey.startsWith(keyStart(clientId));
}

/** How an eventKey begins that is made of a clientId; one that begins otherwise is in the index. */
function keyStart(clientId: string): string {
  return `payment:${clientId.slice(0, kept)}:`;
}

/** How much of a clientId is in an eventKey. */
const kept = 24;

/** Of a UUID of any version, as much as is kept tells it from others. */
const uuid = /^[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;
