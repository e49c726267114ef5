import { type ResolutionRecord, type StoredHistory } from "../../contract.js";
import { dispatchKeysOf, eventOf } from "./events.js";
import { type KeyedRecords } from "../records/keyed-records.js";
import { rangeOf } from "../records/keys.js";
import {
  dispatchOf,
  type StoredDispatch,
  type StoredEvent,
  type StoredWebhook,
} from "../records/stored-records.js";
import { shownOf } from "./webhooks.js";

const historyLimit = 1000;

export async function readHistory(records: KeyedRecords, clientId: string): Promise<StoredHistory> {
  const newestOf = async <T>(index: string): Promise<T[]> => {
    const range = rangeOf([index, clientId], historyLimit, { reverse: true });
    return (await records.rows<T>(range)).toReversed();
  };
  const [webhooks, events, resolutions] = await Promise.all([
    newestOf<StoredWebhook>("client-webhooks"),
    newestOf<StoredEvent>("client-events"),
    newestOf<ResolutionRecord>("client-resolutions"),
  ]);
  const dispatchKeys = events.flatMap(dispatchKeysOf).slice(-historyLimit);
  const dispatches = await records.values<StoredDispatch>(dispatchKeys);
  return {
    webhooks: webhooks.map(shownOf),
    events: events.map(eventOf),
    dispatches: dispatches.map(dispatchOf),
    resolutions,
  };
}
