import { type EventType, eventTypes } from "../../model/event-map.js";
import { isWholeNumber } from "../../shared/whole-number.js";
import { withoutUndefined } from "../../shared/without-undefined.js";
import { type NamesOf } from "../../shared/unknown-names.js";
import { queryError, refuseUnknown } from "../reading/query.js";
import { type DispatchRecord } from "../../store/index.js";
import { type RecordingParts } from "../../webhook/recording/recording-parts.js";

/** Selects dead dispatches: those that match every given condition. */
export interface DispatchQuery {
  /** Selects the dispatches of one event, or with `handler` a single one. */
  eventId?: string | undefined;
  /** The handler's name. */
  handler?: string | undefined;
  /** The event's type. */
  type?: EventType | undefined;
  /** The number of dispatches of one call: 1 to 1,000. @default 500 */
  limit?: number | undefined;
  /** Whether to return them without running them again. @default true */
  dryRun?: boolean | undefined;
}

/** The dispatches that run again, or would. */
export interface RevivedDispatches {
  /** Whether nothing was changed. */
  dryRun: boolean;
  /** As they were stored, with their last error; oldest event first. */
  dispatches: DispatchRecord[];
  /** Whether more than `limit` match: call again. */
  more: boolean;
}

/**
 * Makes dead dispatches pending again, with all their tries. They run where a process has registered their handler, with
 * the event as it was recorded and the same `idempotencyKey`.
 *
 * @throws TillkitError `query_invalid`
 */
export async function replayDispatches<Tx>(
  { store, announceEvents }: Pick<RecordingParts<Tx>, "store" | "announceEvents">,
  query: DispatchQuery = {},
): Promise<RevivedDispatches> {
  const { eventId, handler, type, limit = 500, dryRun = true } = query;
  refuseUnknown(query, { eventId, handler, type, limit, dryRun } satisfies NamesOf<DispatchQuery>);
  if (!isWholeNumber(limit, 1, 1000)) throw queryError("limit must be a whole number from 1 to 1000.");
  if (type !== undefined && !eventTypes.includes(type))
    throw queryError(`type must be one of ${eventTypes.join(", ")}.`);
  const selected = withoutUndefined({ eventId, handler, type });
  if (dryRun) {
    const found = await store.dead({ ...selected, revive: false, limit: limit + 1 });
    return { dryRun, dispatches: found.slice(0, limit), more: found.length > limit };
  }
  const dispatches = await store.dead({ ...selected, revive: true, limit });
  if (dispatches.length > 0) announceEvents();
  const left = dispatches.length < limit ? [] : await store.dead({ ...selected, revive: false, limit: 1 });
  return { dryRun, dispatches, more: left.length > 0 };
}
