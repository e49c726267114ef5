import { type EventType } from "../model/event-map.js";
import { invalid } from "./query.js";
import { type DispatchRecord, type PaymentStore } from "../store/index.js";
import { isWholeNumber } from "../shared/whole-number.js";
import { storeMethod } from "./store-method.js";

/** Which dead dispatches to run again: those that match every given condition. */
export interface DispatchQuery {
  /** All dispatches of one event, or with `handler` a single one. */
  eventId?: string | undefined;
  /** By the handler's name. */
  handler?: string | undefined;
  /** By the event's type. */
  type?: EventType | undefined;
  /** Most dispatches of one call: 1 to 1,000. @default 500 */
  limit?: number | undefined;
  /** Whether only to tell which they are. @default true */
  dryRun?: boolean | undefined;
}

/** Which dispatches run again, or would. */
export interface RevivedDispatches {
  dryRun: boolean;
  /** As they stood, with the error that they died of; oldest event first. */
  dispatches: DispatchRecord[];
  /** Whether there are more than `limit`; call again. */
  more: boolean;
}

/**
 * Gives dead dispatches all their tries again, from now on. They run where a process has registered their handler. Each
 * is exactly as it was when its event was recorded, with the same `idempotencyKey`.
 */
export async function replayDispatches<Tx>(
  { store, onEvents }: { store: PaymentStore<Tx>; onEvents: () => void },
  query: DispatchQuery = {},
): Promise<RevivedDispatches> {
  const { eventId, handler, type, limit = 500, dryRun = true } = query;
  if (!isWholeNumber(limit, 1, 1000)) throw invalid("limit must be a whole number from 1 to 1000.");
  const asked = {
    ...(eventId !== undefined && { eventId }),
    ...(handler !== undefined && { handler }),
    ...(type !== undefined && { type }),
  };
  const dead = storeMethod(store, "dead");
  if (dryRun) {
    const found = await dead({ ...asked, revive: false, limit: limit + 1 });
    return { dryRun, dispatches: found.slice(0, limit), more: found.length > limit };
  }
  const dispatches = await dead({ ...asked, revive: true, limit });
  if (dispatches.length > 0) onEvents();
  const left = dispatches.length < limit ? [] : await dead({ ...asked, revive: false, limit: 1 });
  return { dryRun, dispatches, more: left.length > 0 };
}
