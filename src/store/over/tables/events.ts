import { type EventRecord, type HandlerKey, type Registration, type RetireOptions } from "../../contract.js";
import {
  handlerId,
  isFinal,
  leftAfter,
  namesWanting,
  undone,
  unknownAmong,
  wants,
} from "../../rules/dispatches.js";
import { changeUpTo } from "../records/change-up-to.js";
import { type Draft } from "../records/draft.js";
import { keyOf, rangeOf } from "../records/keys.js";
import { type KeyedRecords } from "../records/keyed-records.js";
import { conflict } from "../../rules/payments.js";
import { newId } from "../../../shared/new-id.js";
import {
  dispatchKey,
  eventKey,
  handlersKey,
  type StoredDispatch,
  type StoredEvent,
} from "../records/stored-records.js";

/** Writes events, with one dispatch for each registered handler that wants them. */
export function saveEvents(draft: Draft, events: readonly EventRecord[], nextOrder: () => string): void {
  const handlers = draft.get<HandlerKey[]>(handlersKey) ?? [];
  for (const event of events) {
    if (draft.get(eventKey(event.id)) !== undefined) throw conflict(`The event ${event.id} exists already.`);
    putEvent(draft, { ...event, order: nextOrder(), handlers: [] }, namesWanting(handlers, event.type));
  }
}

/** Adds handlers to an event, each with a dispatch that is due immediately, independent of any clock. */
function putEvent(draft: Draft, event: StoredEvent, added: readonly string[]): void {
  const { id: eventId, type, clientId, recordedAt, order } = event;
  draft.put(eventKey(eventId), { ...event, handlers: [...event.handlers, ...added] });
  for (const handler of added) {
    const dispatch = { eventId, type, recordedAt, order, handler, fence: 0, ...undone };
    draft.put(
      dispatchKey(dispatch),
      (clientId === undefined ? dispatch : { ...dispatch, clientId }) satisfies StoredDispatch,
    );
  }
}

/** Returns an event in the form of the contract. */
export function eventOf({ order: _order, handlers: _handlers, ...event }: StoredEvent): EventRecord {
  return event;
}

/** Returns the keys of the dispatches of an event. */
export function dispatchKeysOf({ id: eventId, handlers }: StoredEvent): string[] {
  return handlers.map((handler) => dispatchKey({ eventId, handler }));
}

/**
 * Handlers that were registered and may still lack events. A transaction that read the list of handlers
 * before their registration may save events after it. The record is stored, so that any process can later
 * make the missing dispatches.
 */
interface Pending extends Newest {
  id: string;
  handlers: readonly Registration[];
}

/** The newest events at the moment of a registration. The handlers do not get these and older events. */
interface Newest {
  /** The keys of the newest events. */
  before: readonly string[];
  /** The key of the oldest event of `before` in the index `event-times`. Absent if `before` is not full. */
  from?: string;
}

/** The maximum number of events in `before`. Older events count as saved before the registration. */
const maxBefore = 1000;

/** The assumed maximum duration of a transaction. After this time, a registration is no longer pending. */
const maxTransactionMs = 59_000;

/** The key of the record of all pending registrations. */
const pendingKey = "registrations";

/** The registered handlers, and the stored events that they get. */
export class Events {
  readonly #records: KeyedRecords;
  /** The time, by `performance.now()`, at which this process first saw each pending registration. */
  #seen = new Map<string, number>();
  /** The newest events at the first registration of each handler by this process. */
  readonly #first = new Map<string, Newest>();

  constructor(records: KeyedRecords) {
    this.#records = records;
  }

  async handlers(draft = this.#records.draft()): Promise<HandlerKey[]> {
    await draft.load([handlersKey]);
    return draft.get<HandlerKey[]>(handlersKey) ?? [];
  }

  async register(handlers: readonly Registration[]): Promise<void> {
    const draft = this.#records.draft();
    await draft.load([handlersKey, pendingKey]);
    const registered = await this.handlers(draft);
    await this.#dispatchPending(draft.get<Pending[]>(pendingKey) ?? [], registered);
    const unknown = unknownAmong(handlers, registered);
    const first = handlers.filter(({ since }) => since === undefined);
    if (unknown.length + first.length === 0) return;
    const newest = await this.#newest();
    for (const handler of first) this.#first.set(handlerId(handler), newest);
    if (unknown.length === 0) return;
    const forgotten = unknown.filter(({ since }) => since !== undefined);
    // Most of the work is done here, so that the call after the registration has little to do.
    for (const handler of forgotten) await this.#dispatchForgotten(handler);
    const id = newId();
    await this.#records.change(async (change) => {
      await change.load([handlersKey, pendingKey]);
      const known = await this.handlers(change);
      const missing = unknownAmong(unknown, known);
      if (missing.length === 0) return;
      change.put(handlersKey, [...known, ...missing.map(({ event, name }) => ({ event, name }))]);
      // A retired name that is registered again gets only new events.
      const others = (change.get<Pending[]>(pendingKey) ?? []).map((one) => ({
        ...one,
        handlers: unknownAmong(one.handlers, missing),
      }));
      change.put(pendingKey, [...others, { id, handlers: missing, ...newest } satisfies Pending]);
    });
    this.#seen.set(id, performance.now());
    for (const handler of forgotten) await this.#dispatchForgotten(handler);
  }

  /**
   * Gives a handler that the store had forgotten the events after its first registration. The clocks of the
   * processes may differ, so the time of that registration decides only if this object does not know it.
   */
  #dispatchForgotten({ since = "", ...handler }: Registration): Promise<void> {
    const before = this.#first.get(handlerId(handler));
    return this.#dispatchMissing(handler, before ?? { before: [], from: keyOf("event-times", since) });
  }

  /**
   * Gives handlers of pending registrations the events that they may lack. The first call that finds a
   * registration only notes the time. After `maxTransactionMs`, the registration is no longer pending.
   */
  async #dispatchPending(pending: readonly Pending[], registered: readonly HandlerKey[]): Promise<void> {
    const now = performance.now();
    const seen = new Map(pending.map(({ id }) => [id, this.#seen.get(id) ?? now]));
    for (const { id, handlers, ...newest } of pending) {
      if (!this.#seen.has(id)) continue;
      // A handler that was retired after this registration gets no more events.
      for (const handler of handlers)
        if (unknownAmong([handler], registered).length === 0) await this.#dispatchMissing(handler, newest);
    }
    this.#seen = seen;
    const isOver = ({ id }: Pending) => now - (seen.get(id) ?? now) >= maxTransactionMs;
    if (!pending.some(isOver)) return;
    await this.#records.change(async (draft) => {
      await draft.load([pendingKey]);
      const left = (draft.get<Pending[]>(pendingKey) ?? []).filter((one) => !isOver(one));
      if (left.length > 0) draft.put(pendingKey, left);
      else draft.delete(pendingKey);
    });
  }

  /** Forgets registrations. Returns the registrations of the name that are left. */
  forget(retired: RetireOptions): Promise<HandlerKey[]> {
    return this.#records.change(async (draft) => {
      const known = await this.handlers(draft);
      const left = leftAfter(retired, known);
      if (left.length < known.length) draft.put(handlersKey, left);
      return left.filter(({ name }) => name === retired.handler);
    });
  }

  /** Returns the newest events. */
  async #newest(): Promise<Newest> {
    let from: string | undefined;
    const range = rangeOf(["event-times"], maxBefore, { reverse: true });
    const before = await this.#records.collect<string>(range, async (found, keys) => {
      from = keys.at(-1);
      return found;
    });
    return before.length < maxBefore || from === undefined ? { before } : { before, from };
  }

  /** Makes missing dispatches of a handler, for the events that were saved after those in `before`. */
  async #dispatchMissing(handler: HandlerKey, { before, from }: Newest): Promise<void> {
    const range = rangeOf(["event-times"], Infinity, from === undefined ? {} : { from });
    const seen = new Set(before);
    const isMissing = (event: StoredEvent) =>
      wants(handler, event.type) && !event.handlers.includes(handler.name);
    const missing = await this.#records.collect<string>(range, async (found) => {
      const events = await this.#records.values<StoredEvent>(found.filter((key) => !seen.has(key)));
      return events.filter(isMissing).map(({ id }) => eventKey(id));
    });
    for (const key of missing)
      await this.#records.change(async (draft) => {
        await draft.load([key]);
        const event = draft.get<StoredEvent>(key);
        if (event && isMissing(event)) putEvent(draft, event, [handler.name]);
      });
  }

  /**
   * Deletes events whose dispatches are all final, with these dispatches. Returns their number, and the
   * position from which the next call continues. Events before this position stay, and may be many.
   */
  async prune(before: string, limit: number, from?: string): Promise<{ count: number; end: string }> {
    let end = from ?? keyOf("event-times", "");
    const to = keyOf("event-times", before);
    const find = (wanted: number) =>
      this.#records.collect<string, StoredEvent>(
        rangeOf(["event-times"], wanted, { from: end, to }),
        (keys) => this.#final(keys),
      );
    const count = await changeUpTo(limit, find, (event) => {
      end = keyOf("event-times", event.recordedAt, event.id);
      return this.#records.change(async (draft) => {
        await draft.load([eventKey(event.id), ...dispatchKeysOf(event)]);
        // Since then, another process may have pruned the event, or given it the dispatch of a new handler.
        const stored = draft.get<StoredEvent>(eventKey(event.id));
        if (!stored || !isOver(draft, stored)) return 0;
        for (const key of [eventKey(event.id), ...dispatchKeysOf(event)]) draft.delete(key);
        return 1;
      });
    });
    // If fewer are found, none is left before `to`.
    return { count, end: count < limit ? to : end };
  }

  /** Returns the events whose dispatches are all final. */
  async #final(keys: readonly string[]): Promise<StoredEvent[]> {
    const draft = this.#records.draft();
    const events = await this.#records.values<StoredEvent>(keys, draft);
    await draft.load(events.flatMap(dispatchKeysOf));
    return events.filter((event) => isOver(draft, event));
  }
}

/** Returns whether all dispatches of an event are loaded and final. */
function isOver(draft: Draft, event: StoredEvent): boolean {
  return dispatchKeysOf(event).every((key) => {
    const dispatch = draft.get<StoredDispatch>(key);
    return dispatch !== undefined && isFinal(dispatch);
  });
}
