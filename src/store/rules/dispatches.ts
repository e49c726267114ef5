import { type DeadPage } from "../query-pages.js";
import {
  type DispatchRecord,
  type EventRecord,
  type HandlerKey,
  type HandlerSummary,
  type PastEnd,
  type RetireOptions,
  type RunKey,
  type Settlement,
} from "../records.js";
import { withoutUndefined } from "../../shared/without-undefined.js";

/** Returns whether a handler wants events of this type. */
export function wants(key: HandlerKey, type: EventRecord["type"]): boolean {
  return key.event === "*" || key.event === type;
}

/** Returns the names of the handlers that want events of this type, each once. */
export function namesWanting(handlers: readonly HandlerKey[], type: EventRecord["type"]): string[] {
  return [...new Set(handlers.filter((key) => wants(key, type)).map(({ name }) => name))];
}

/** Returns a string that no other handler has, because names of events contain no space. */
export function handlerId({ event, name }: HandlerKey): string {
  return `${event} ${name}`;
}

/** Returns the handlers that are not registered yet. */
export function unknownAmong<Key extends HandlerKey>(
  handlers: readonly Key[],
  known: readonly HandlerKey[],
): Key[] {
  return handlers.filter(({ event, name }) => !known.some((one) => one.event === event && one.name === name));
}

/** Returns the registrations that are left after some were retired. */
export function leftAfter(
  { handler, event }: Omit<RetireOptions, "limit">,
  known: readonly HandlerKey[],
): HandlerKey[] {
  return known.filter((key) => key.name !== handler || (event !== undefined && key.event !== event));
}

/** Returns the registered handlers by name, each with the numbers from `count`. */
export function summarizedBy(
  known: readonly HandlerKey[],
  count: (kind: "waiting" | "dead", name: string) => number,
): HandlerSummary[] {
  return [...new Set(known.map(({ name }) => name))].toSorted().map((name) => ({
    name,
    events: known
      .filter((key) => key.name === name)
      .map(({ event }) => event)
      .toSorted(),
    waiting: count("waiting", name),
    dead: count("dead", name),
  }));
}

type State = Pick<DispatchRecord, "state">;

/** Returns whether the dispatch waits for a run, or is running. */
export function isOpen({ state }: State): boolean {
  return state === "pending" || state === "leased";
}

/** Returns whether the dispatch never changes again, so that its event can be pruned. */
export function isFinal({ state }: State): boolean {
  return state === "done" || state === "retired";
}

/** Returns whether this run has the newest lease of the dispatch. */
export function isLeasedBy(run: Pick<RunKey, "fence">, dispatch: State & Pick<RunKey, "fence">): boolean {
  return dispatch.state === "leased" && dispatch.fence === run.fence;
}

/** The fields of a dispatch before its first run, and after it was revived. */
export const undone = { state: "pending", dueAt: 0, attempt: 0, failures: 0 } as const;

type Counts = Pick<DispatchRecord, "state" | "attempt" | "failures" | "error" | "settledAt">;

/** Returns a dispatch after its run. `at` is the time when the run ended: ISO 8601 UTC. */
export function afterRun<Dispatch extends Counts>(
  dispatch: Dispatch,
  settlement: Settlement,
  at: string,
): Dispatch {
  const { state, error = dispatch.error } = settlement;
  const settled = { ...dispatch, ...(error !== undefined && { error }), settledAt: at };
  if (state === "done" || state === "dead") return { ...settled, state };
  if (state === "failed") return { ...settled, state: "pending", failures: dispatch.failures + 1 };
  return { ...settled, state: "pending", attempt: dispatch.attempt - 1 };
}

/** The maximum number of entries in a dispatch's `past`. */
const maxPast = 20;

/** Returns the fields that change when a dead dispatch is revived. `undefined` removes a field. */
export function revivedBy(
  run: string | undefined,
  { attempt, failures, error, settledAt, past = [] }: Pick<DispatchRecord, "past"> & PastEnd,
) {
  const end = withoutUndefined({ attempt, failures, error, settledAt }) as PastEnd;
  return { ...undone, error: undefined, settledAt: undefined, run, past: [...past, end].slice(-maxPast) };
}

/** Returns whether a dead dispatch matches the conditions of the page. */
export function isOnDeadPage(
  { eventId, handler, type, error, since, run }: Partial<DeadPage>,
  dispatch: Pick<DispatchRecord, "eventId" | "handler" | "type" | "error" | "settledAt" | "run">,
): boolean {
  return (
    (error === undefined || dispatch.error?.toLowerCase().includes(error.toLowerCase()) === true) &&
    (since === undefined || (dispatch.settledAt !== undefined && dispatch.settledAt >= since)) &&
    (run === undefined || dispatch.run !== run) &&
    (eventId === undefined || dispatch.eventId === eventId) &&
    (handler === undefined || dispatch.handler === handler) &&
    (type === undefined || dispatch.type === type)
  );
}
