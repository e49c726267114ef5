import { hasCode } from "../../errors/index.js";
import { type EventType, eventTypes } from "../../model/event-map.js";
import { isText } from "../../shared/is-text.js";
import { withoutUndefined } from "../../shared/without-undefined.js";
import { type NamesOf } from "../../shared/unknown-names.js";
import { type RetryNote, retryNotes } from "../reading/payment-history.js";
import { expectLimit, queryError, queryTime, refuseUnknown } from "../reading/query.js";
import { type DispatchRecord, type PaymentStore } from "../../store/index.js";
import { type RecordingParts } from "../../webhook/recording/recording-parts.js";

/** Selects dead dispatches that match every given condition. */
export interface DispatchQuery {
  /** The id of an event. With `handler`, it selects a single dispatch. */
  eventId?: string | undefined;
  /** The handler's name. */
  handler?: string | undefined;
  /** The event's type. */
  type?: EventType | undefined;
  /** A part of the last error, in capital or small letters. */
  error?: string | undefined;
  /** Selects dispatches that died at this time or later, by the database's clock. */
  since?: Date | undefined;
  /**
   * The id of a run, which may have several calls: 1 to 64 ASCII characters without spaces. The first call
   * returns the id. A later call with this id skips the dispatches that the run has revived before and that
   * are dead again.
   *
   * @default a new id
   */
  run?: string | undefined;
  /** The maximum number of dispatches in one call: 1 to 1,000. @default 500 */
  limit?: number | undefined;
  /** Whether the dispatches are only returned, and not run again. @default true */
  dryRun?: boolean | undefined;
  /**
   * The person who runs the dispatches again, for the history of each payment: 1 to 128 characters.
   * @default no name is kept
   */
  by?: string | undefined;
  /**
   * The reason, for readers of the history: 1 to 1,000 characters. The reason is kept only with `by`.
   * @default none
   */
  reason?: string | undefined;
}

/** The dispatches that run again, or in a dry run would run again. */
export interface RevivedDispatches {
  /** Whether nothing was changed. */
  dryRun: boolean;
  /** The id of the run. `payments.revivedDispatches(run)` returns the later states of its dispatches. */
  run: string;
  /** The dispatches as they were stored, with their last error; the oldest event first. */
  dispatches: DispatchRecord[];
  /** Whether more dispatches match than `limit`, so that another call is needed. */
  more: boolean;
}

/**
 * Makes dead dispatches pending again, with the full number of attempts. A dry run only returns them. A
 * process with the handler runs the dispatches with the event as it was recorded and the same
 * `idempotencyKey`.
 *
 * @throws TillkitError `query_invalid`
 */
export async function replayDispatches<Tx>(
  parts: Pick<RecordingParts<Tx>, "store" | "announceEvents" | "newId" | "now">,
  query: DispatchQuery = {},
): Promise<RevivedDispatches> {
  const { store, announceEvents, newId } = parts;
  const { eventId, handler, type, error, since, run = newId(), limit = 500, dryRun = true } = query;
  const { by, reason } = query;
  const names = { eventId, handler, type, error, since, run, limit, dryRun, by, reason };
  refuseUnknown(query, names satisfies NamesOf<DispatchQuery>);
  expectLimit(limit, 1000);
  if (type !== undefined && !eventTypes.includes(type))
    throw queryError(`type must be one of ${eventTypes.join(", ")}.`);
  if (error !== undefined && (typeof error !== "string" || error === ""))
    throw queryError("error must be a part of the error's text.");
  expectRun(run);
  if (by !== undefined && !isText(by, 128)) throw queryError("by must be a string of 1 to 128 characters.");
  if (reason !== undefined && !isText(reason, 1000))
    throw queryError("reason must be a string of 1 to 1000 characters.");
  const selected = withoutUndefined({ eventId, handler, type, error, since: queryTime("since", since), run });
  if (dryRun) {
    const found = await store.dead({ ...selected, revive: false, limit: limit + 1 });
    return { dryRun, run, dispatches: found.slice(0, limit), more: found.length > limit };
  }
  const { run: _, ...conditions } = selected;
  if (by !== undefined) await keepRetry(parts, run, { by, reason, conditions: JSON.stringify(conditions) });
  const dispatches = await store.dead({ ...selected, revive: true, limit });
  if (dispatches.length > 0) announceEvents();
  const left = dispatches.length < limit ? [] : await store.dead({ ...selected, revive: false, limit: 1 });
  return { dryRun, run, dispatches, more: left.length > 0 };
}

/**
 * Stores who made the first call of a run, before that call revives dispatches. Throws `query_invalid` if the
 * run began with other conditions, because this call would revive dispatches that the first call did not
 * select.
 */
async function keepRetry<Tx>(
  { store, now }: Pick<RecordingParts<Tx>, "store" | "now">,
  id: string,
  started: { by: string; reason: string | undefined; conditions: string },
): Promise<void> {
  const value = { ...withoutUndefined(started), at: now().toISOString() };
  try {
    await store.transaction((tx) => store.save(tx, { notes: [{ kind: retryNotes, id, version: 0, value }] }));
  } catch (error) {
    if (!hasCode(error, "store_conflict")) throw error;
    const [first] = await store.notes({ kind: retryNotes, ids: [id] });
    const { conditions = started.conditions } = first!.value as unknown as RetryNote;
    if (conditions !== started.conditions)
      throw queryError(`run ${id} began with other conditions, and goes on only with these: ${conditions}.`);
  }
}

/** The present states of the dispatches of one run of `replayDispatches`. */
export interface RevivedOutcome {
  /** The number of dispatches that are done now. */
  done: number;
  /** The number of dispatches that are dead again. */
  dead: number;
  /** The number of dispatches that have not ended. */
  waiting: number;
  /** The number of dispatches that were retired since. */
  retired: number;
  /** At most 1,000 dispatches that are not done, with their last error. `past` has their earlier ends. */
  dispatches: DispatchRecord[];
}

const pageSize = 500;
const maxListed = 1000;

/** Returns the present states of revived dispatches. @throws TillkitError `query_invalid` */
export async function revivedDispatches<Tx>(store: PaymentStore<Tx>, run: string): Promise<RevivedOutcome> {
  expectRun(run);
  const outcome: RevivedOutcome = { done: 0, dead: 0, waiting: 0, retired: 0, dispatches: [] };
  for (let after: DispatchRecord | undefined; ;) {
    const page = await store.revived({ run, ...(after && { after }), limit: pageSize });
    for (const one of page) {
      const { state } = one;
      outcome[state === "pending" || state === "leased" ? "waiting" : state] += 1;
      if (state !== "done" && outcome.dispatches.length < maxListed) outcome.dispatches.push(one);
    }
    after = page.at(-1);
    if (page.length < pageSize) return outcome;
  }
}

function expectRun(run: unknown): void {
  if (typeof run !== "string" || !/^[!-~]{1,64}$/.test(run))
    throw queryError("run must have 1 to 64 ASCII characters without spaces.");
}
