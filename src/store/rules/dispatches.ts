import { type DeadPage } from "../query-pages.js";
import {
  type DispatchRecord,
  type EventRecord,
  type HandlerKey,
  type HandlerSummary,
  type RetireOptions,
  type RunKey,
  type Settlement,
} from "../records.js";

/** Returns whether a handler wants events of this type. */
export function wants(key: HandlerKey, type: EventRecord["type"]): boolean {
  return key.event === "*" || key.event === type;
}

/** Returns the names of the handlers that want events of this type. One name may be registered for this event and for all events. */
export function namesWanting(handlers: readonly HandlerKey[], type: EventRecord["type"]): string[] {
  return [...new Set(handlers.filter((key) => wants(key, type)).map(({ name }) => name))];
}

/** Returns those handlers that are not registered yet. */
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

/** Returns the registered handlers by name, with the numbers that `count` returns. */
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

/** Returns whether the dispatch waits for a run, or has one. */
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

/** A dispatch before its first run, and after it was revived. */
export const undone = { state: "pending", dueAt: 0, attempt: 0, failures: 0 } as const;

type Counts = Pick<DispatchRecord, "state" | "attempt" | "failures" | "error" | "settledAt">;

/** Returns a dispatch whose run has ended at this time: ISO 8601 UTC. */
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

/** Returns whether `dead` returns a dispatch: its state and the conditions of the page. */
export function isOnDeadPage(
  { eventId, handler, type }: Partial<DeadPage>,
  dispatch: Pick<DispatchRecord, "eventId" | "handler" | "type">,
): boolean {
  return (
    (eventId === undefined || dispatch.eventId === eventId) &&
    (handler === undefined || dispatch.handler === handler) &&
    (type === undefined || dispatch.type === type)
  );
}
