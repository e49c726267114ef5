import { type NamesOf } from "../../shared/unknown-names.js";
import { type HistoryPosition, type PaymentStore, type StoredHistory } from "../../store/index.js";
import { cursorAt, cursorPosition, expectLimit, refuseUnknown } from "./query.js";

/** Selects a page of a history. */
export interface HistoryQuery {
  /** The number of webhooks, of events and of resolutions on one page: 1 to 1,000. @default 1000 */
  limit?: number | undefined;
  /** The `cursor` of the previous page. */
  cursor?: string | undefined;
}

const maxPerPage = 1000;

interface RecordsOfPage {
  stored: StoredHistory;
  isFirst: boolean;
  /** The cursor of the next page. Absent if no older records are left. */
  next?: string;
}

/** Reads the newest records of each kind that are older than the cursor. */
export async function readHistoryPage<Tx>(
  store: PaymentStore<Tx>,
  clientId: string,
  query: HistoryQuery,
): Promise<RecordsOfPage> {
  refuseUnknown(query, { limit: 1, cursor: 1 } satisfies NamesOf<HistoryQuery>);
  const { limit = maxPerPage, cursor } = query;
  expectLimit(limit, maxPerPage);
  const before = cursor === undefined ? {} : cursorPosition(cursor, isPosition);
  // One record more than requested shows whether there is a next page.
  const found = await store.history(clientId, { limit: limit + 1, before });
  const [webhooks, events, resolutions] = [
    found.webhooks.slice(-limit),
    found.events.slice(-limit),
    found.resolutions.slice(-limit),
  ];
  const ids = new Set(events.map(({ id }) => id));
  const dispatches = found.dispatches.filter(({ eventId }) => ids.has(eventId));
  const [webhook = before.webhook, event = before.event, resolution = before.resolution] = [
    webhooks[0],
    events[0],
    resolutions[0],
  ];
  const isLast = [found.webhooks, found.events, found.resolutions].every(({ length }) => length <= limit);
  const next: HistoryPosition = {
    ...(webhook && { webhook: { receivedAt: webhook.receivedAt, receiptId: webhook.receiptId } }),
    ...(event && { event: { id: event.id } }),
    ...(resolution && { resolution: { at: resolution.at, id: resolution.id } }),
  };
  const stored = { webhooks, events, dispatches, resolutions };
  return { stored, isFirst: cursor === undefined, ...(!isLast && { next: cursorAt(next) }) };
}

/** Reads all pages, because the newest page may not have an old decision. */
export async function readEveryPage<Tx>(store: PaymentStore<Tx>, clientId: string): Promise<StoredHistory> {
  let { stored, next } = await readHistoryPage(store, clientId, {});
  while (next !== undefined) {
    const page = await readHistoryPage(store, clientId, { cursor: next });
    stored = {
      webhooks: [...page.stored.webhooks, ...stored.webhooks],
      events: [...page.stored.events, ...stored.events],
      dispatches: [...page.stored.dispatches, ...stored.dispatches],
      resolutions: [...page.stored.resolutions, ...stored.resolutions],
    };
    ({ next } = page);
  }
  return stored;
}

function isPosition(value: unknown): value is HistoryPosition {
  const fields = { webhook: ["receivedAt", "receiptId"], event: ["id"], resolution: ["at", "id"] };
  const isText = (record: unknown, name: string): boolean => typeof Object(record)[name] === "string";
  const given = Object.entries(fields).filter(([kind]) => Object(value)[kind] !== undefined);
  return (
    given.length > 0 &&
    given.every(([kind, names]) => names.every((name) => isText(Object(value)[kind], name)))
  );
}
