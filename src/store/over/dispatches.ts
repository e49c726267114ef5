import {
  type Claim,
  type DispatchRecord,
  type EventRecord,
  type HandlerKey,
  type Settlement,
} from "../contract.js";
import { type Draft } from "./draft.js";
import { keyOf, timeOf } from "./keys.js";
import { conflict, handlersKey } from "./payments.js";

/** A dispatch as its record has it. */
export interface StoredDispatch extends DispatchRecord {
  recordedAt: string;
  /** The place of the event among all events. Two processes may give the same one in one millisecond. */
  order: string;
  fence: number;
  /** When a pending one is due, or the lease of a leased one ends: milliseconds since 1970. */
  dueAt: number;
  /**
   * As long before the moment of its setting as `dueAt` is after it. In the future, a clock wrote it that was put back since, and
   * the dispatch is due. Absent where there is no wait, and in records of earlier versions.
   */
  waitsFrom?: number;
}

/** The value of an index entry of a dispatch that is due. */
export interface DueEntry extends Pick<
  StoredDispatch,
  "eventId" | "type" | "handler" | "order" | "recordedAt" | "dueAt" | "waitsFrom"
> {}

export const eventKey = (id: string): string => keyOf("events", id);
export const dispatchKey = ({ eventId, handler }: Pick<DispatchRecord, "eventId" | "handler">): string =>
  keyOf("dispatches", eventId, handler);

/** Writes events, with one dispatch for each registered handler that wants them. */
export function saveEvents(draft: Draft, events: readonly EventRecord[], nextOrder: () => string): void {
  const handlers = draft.get<HandlerKey[]>(handlersKey) ?? [];
  for (const event of events) {
    const { id: eventId, type } = event;
    if (draft.get(eventKey(eventId)) !== undefined) throw conflict(`The event ${eventId} exists already.`);
    const order = nextOrder();
    // One name may be registered for this event and for all events.
    const names = [...new Set(handlers.filter((key) => wants(key, type)).map(({ name }) => name))];
    draft.putIndexed<StoredEvent>(eventKey(eventId), { ...event, order, handlers: names }, eventIndexes);
    for (const handler of names) putNewDispatch(draft, { ...event, order }, handler);
  }
}

/** Gives a stored event a dispatch for one more handler. */
export function addDispatch(draft: Draft, event: StoredEvent, handler: string): void {
  if (event.handlers.includes(handler)) return;
  const handlers = [...event.handlers, handler];
  draft.putIndexed<StoredEvent>(eventKey(event.id), { ...event, handlers }, eventIndexes);
  putNewDispatch(draft, event, handler);
}

/** Writes a dispatch that is due, whatever the clocks say. */
function putNewDispatch(
  draft: Draft,
  { id: eventId, type, clientId, recordedAt, order }: Omit<StoredEvent, "handlers">,
  handler: string,
): void {
  const of = { eventId, type, ...(clientId !== undefined && { clientId }), recordedAt, order, handler };
  putDispatch(draft, { ...of, state: "pending", dueAt: 0, fence: 0, attempt: 0, failures: 0 });
}

/** An event as its record has it, with the names of the handlers that have a dispatch of it. */
export type StoredEvent = EventRecord & { order: string; handlers: readonly string[] };

export function eventOf({ order: _, handlers: __, ...event }: StoredEvent): EventRecord {
  return event;
}

/** Returns the keys of the dispatches of an event. */
export function dispatchKeysOf({ id: eventId, handlers }: StoredEvent): string[] {
  return handlers.map((handler) => dispatchKey({ eventId, handler }));
}

/** Returns whether all dispatches of an event are loaded, and done or retired. */
export function isFinal(draft: Draft, event: StoredEvent): boolean {
  const states = dispatchKeysOf(event).map((key) => draft.get<StoredDispatch>(key)?.state);
  return states.every((state) => state === "done" || state === "retired");
}

/** Returns the index entries of an event. Each leads to its record. */
export function eventIndexes({ id, clientId, recordedAt, order }: StoredEvent) {
  return {
    [keyOf("event-times", recordedAt, id)]: eventKey(id),
    ...(clientId !== undefined && { [keyOf("client-events", clientId, order, id)]: eventKey(id) }),
  };
}

export function putDispatch(draft: Draft, dispatch: StoredDispatch): void {
  draft.putIndexed(dispatchKey(dispatch), dispatch, dispatchIndexes);
}

export function dispatchIndexes(dispatch: StoredDispatch) {
  const { eventId, type, handler, order, recordedAt, state, dueAt, waitsFrom } = dispatch;
  const marked = waitsFrom !== undefined && { waitsFrom };
  const entry: DueEntry = { eventId, type, handler, order, recordedAt, dueAt, ...marked };
  const isUndone = state === "pending" || state === "leased";
  return {
    ...(isUndone && { [keyOf("due", handler, timeOf(dueAt), order, eventId)]: entry }),
    ...(isUndone &&
      marked && { [keyOf("waits-from", handler, timeOf(marked.waitsFrom), order, eventId)]: entry }),
    ...(state === "dead" && { [keyOf("dead", handler, order, eventId)]: entry }),
  };
}

type Waits = Required<Pick<StoredDispatch, "dueAt" | "waitsFrom">>;

/** Returns the fields of a dispatch that waits from now on. */
export function waitFor(now: number, ms: number): Waits {
  return { dueAt: Math.ceil(now + ms), waitsFrom: Math.floor(now - ms) };
}

/** Leases a dispatch, or returns `undefined` where it changed since it was found. */
export function lease(draft: Draft, entry: DueEntry, waits: Waits): Claim | undefined {
  const dispatch = draft.get<StoredDispatch>(dispatchKey(entry));
  const event = draft.get<StoredEvent>(eventKey(entry.eventId));
  if (!dispatch || !event || !isOpen(dispatch) || dispatch.dueAt !== entry.dueAt) return undefined;
  const { handler, failures } = dispatch;
  const [fence, attempt] = [dispatch.fence + 1, dispatch.attempt + 1];
  putDispatch(draft, { ...dispatch, ...waits, state: "leased", fence, attempt });
  return { event: eventOf(event), handler, fence, attempt, failures };
}

/** Ends a run. Returns `false` where its lease was lost. */
export function settleRun(draft: Draft, settlement: Settlement, now: number): boolean {
  const dispatch = leased(draft, settlement);
  if (!dispatch) return false;
  const { state, retryInMs = 0, error } = settlement;
  const settled = {
    ...dispatch,
    ...(error !== undefined && { error }),
    settledAt: new Date(now).toISOString(),
  };
  if (state === "done" || state === "dead") putDispatch(draft, { ...settled, state });
  else {
    const counted =
      state === "failed" ? { failures: dispatch.failures + 1 } : { attempt: dispatch.attempt - 1 };
    const { waitsFrom: _, ...pending } = { ...settled, ...counted, state: "pending" as const };
    // One that is given back is due, whatever the clocks say.
    putDispatch(draft, { ...pending, ...(retryInMs > 0 ? waitFor(now, retryInMs) : { dueAt: 0 }) });
  }
  return true;
}

/** Returns the dispatch of a run whose lease was not lost. */
export function leased(
  draft: Draft,
  run: Pick<Settlement, "eventId" | "handler" | "fence">,
): StoredDispatch | undefined {
  const dispatch = draft.get<StoredDispatch>(dispatchKey(run));
  return dispatch?.state === "leased" && dispatch.fence === run.fence ? dispatch : undefined;
}

export function wants(key: HandlerKey, type: string): boolean {
  return key.event === "*" || key.event === type;
}

export function isOpen({ state }: DispatchRecord): boolean {
  return state === "pending" || state === "leased";
}

/** Returns a dispatch as people see it. */
export function dispatchOf(dispatch: StoredDispatch): DispatchRecord {
  const { recordedAt: _, order: __, fence: ___, dueAt: ____, waitsFrom: _____, ...record } = dispatch;
  return record;
}
