import { maxCounted } from "../../../model/attention.js";
import {
  type CountsOptions,
  type HistoryPage,
  type ResolutionRecord,
  type StoreCounts,
  type StoredHistory,
} from "../../contract.js";
import { needs, needsIn } from "../../rules/needs.js";
import { dispatchKeysOf, eventOf } from "./events.js";
import { type KeyedRecords } from "../records/keyed-records.js";
import { keyOf, rangeOf } from "../records/keys.js";
import {
  dispatchOf,
  eventKey,
  type StoredDispatch,
  type StoredEvent,
  type StoredWebhook,
} from "../records/stored-records.js";
import { shownOf } from "./webhooks.js";

export async function readHistory(
  records: KeyedRecords,
  clientId: string,
  { limit = 1000, before: { webhook, event, resolution } = {} }: HistoryPage = {},
): Promise<StoredHistory> {
  const newestOf = async <T>(index: string, before: readonly string[] | undefined): Promise<T[]> => {
    const to = before && { to: keyOf(index, clientId, ...before) };
    return (await records.rows<T>(rangeOf([index, clientId], limit, { reverse: true, ...to }))).toReversed();
  };
  const [last] = event ? await records.values<StoredEvent>([eventKey(event.id)]) : [];
  const [webhooks, events, resolutions] = await Promise.all([
    newestOf<StoredWebhook>("client-webhooks", webhook && [webhook.receivedAt, webhook.receiptId]),
    // If this event was pruned since the page before, its place is unknown, and the page has no events.
    event && !last ? [] : newestOf<StoredEvent>("client-events", last && [last.order, last.id]),
    newestOf<ResolutionRecord>("client-resolutions", resolution && [resolution.at, resolution.id]),
  ]);
  const dispatches = await records.values<StoredDispatch>(events.flatMap(dispatchKeysOf));
  return {
    webhooks: webhooks.map(shownOf),
    events: events.map(eventOf),
    dispatches: dispatches.map(dispatchOf),
    resolutions,
  };
}

/** Counts the payments and webhooks that a person has to see, by need. */
export async function countNeeds(
  records: KeyedRecords,
  { before = {} }: CountsOptions = {},
): Promise<Pick<StoreCounts, "needs">> {
  const counting = needs.map(async (need) => {
    const to = before[need] === undefined ? {} : { to: keyOf("needs", need, before[need]) };
    return [need, (await records.scan(rangeOf(["needs", need], maxCounted, to))).length] as const;
  });
  return needsIn(await Promise.all(counting));
}
