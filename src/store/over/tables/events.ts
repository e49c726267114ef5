import { type EventRecord, type HandlerKey, type Registration, type RetireOptions } from "../../contract.js";
import { isFinal, leftAfter, namesWanting, undone, unknownAmong, wants } from "../../rules/dispatches.js";
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

/** Writes an event with these further handlers, each with a dispatch that is due, whatever the clocks say. */
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

/** Returns an event as people see it. */
export function eventOf({ order: _order, handlers: _handlers, ...event }: StoredEvent): EventRecord {
  return event;
}

/** Returns the keys of the dispatches of an event. */
export function dispatchKeysOf({ id: eventId, handlers }: StoredEvent): string[] {
  return handlers.map((handler) => dispatchKey({ eventId, handler }));
}

/**
 * Handlers that were registered, and may lack events: a transaction that had read the registered handlers before may commit afterwards. It
 * is stored, so that any process gives them these events if the one that registered them ends.
 */
interface Pending {
  id: string;
  handlers: readonly Registration[];
  /** The newest events before the registration, by their records. New handlers do not get them. */
  before: readonly string[];
  /** The place of the oldest of them in the index of times, where there are older ones. */
  from?: string;
}

/** An event that is older than so many others was not saved at the moment of a registration. */
const maxBefore = 1000;

/** The time after which no transaction is open that had read the handlers before a registration: a slow database's, too. */
const maxTransactionMs = 59_000;

/** The record of all that is pending. */
const pendingKey = "registrations";

/** The registered handlers, and the stored events that they get. */
export class Events {
  readonly #records: KeyedRecords;
  /** When this process saw each pending registration first, by `performance.now()`. */
  #seen = new Map<string, number>();

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
    if (unknown.length === 0) return;
    const forgotten = unknown.filter(({ since }) => since !== undefined);
    // Once before the registration, so that little is left for the moment after it.
    for (const handler of forgotten) await this.#dispatchSince(handler);
    const id = newId();
    const newest = await this.#newest();
    await this.#records.change(async (change) => {
      await change.load([handlersKey, pendingKey]);
      const known = await this.handlers(change);
      const missing = unknownAmong(unknown, known);
      if (missing.length === 0) return;
      change.put(handlersKey, [...known, ...missing.map(({ event, name }) => ({ event, name }))]);
      // A retired name that is registered again starts afresh.
      const others = (change.get<Pending[]>(pendingKey) ?? []).map((one) => ({
        ...one,
        handlers: unknownAmong(one.handlers, missing),
      }));
      change.put(pendingKey, [...others, { id, handlers: missing, ...newest } satisfies Pending]);
    });
    this.#seen.set(id, performance.now());
    for (const handler of forgotten) await this.#dispatchSince(handler);
  }

  /** Gives handlers the events that they may lack, from the second call on, and the last time when no transaction may save more. */
  async #dispatchPending(pending: readonly Pending[], registered: readonly HandlerKey[]): Promise<void> {
    const now = performance.now();
    const seen = new Map(pending.map(({ id }) => [id, this.#seen.get(id) ?? now]));
    for (const { id, handlers, ...newest } of pending) {
      if (!this.#seen.has(id)) continue;
      // A name that was retired since gets nothing more.
      for (const handler of handlers)
        if (unknownAmong([handler], registered).length === 0) await this.#dispatchSince(handler, newest);
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

  /** Forgets registrations. Returns those of the name that are left. */
  forget(retired: RetireOptions): Promise<HandlerKey[]> {
    return this.#records.change(async (draft) => {
      const known = await this.handlers(draft);
      const left = leftAfter(retired, known);
      if (left.length < known.length) draft.put(handlersKey, left);
      return left.filter(({ name }) => name === retired.handler);
    });
  }

  /** Returns the newest events, and where there are older ones the place of the oldest of them. */
  async #newest(): Promise<Pick<Pending, "before" | "from">> {
    let from: string | undefined;
    const range = rangeOf(["event-times"], maxBefore, { reverse: true });
    const before = await this.#records.collect<string>(range, async (found, keys) => {
      from = keys.at(-1);
      return found;
    });
    return before.length < maxBefore || from === undefined ? { before } : { before, from };
  }

  /**
   * Makes the dispatches of a handler that the store had forgotten, of the events since its first registration; and those of a new one,
   * of the events that were saved while it was registered.
   */
  async #dispatchSince(
    { since, ...handler }: Registration,
    { before, from: oldest }: Pick<Pending, "before" | "from"> = { before: [] },
  ): Promise<void> {
    const from = since === undefined ? oldest : keyOf("event-times", since);
    const range = rangeOf(["event-times"], Infinity, from === undefined ? {} : { from });
    const seen = new Set(since === undefined ? before : []);
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

  /** Deletes events whose dispatches are all final, with these. Returns how many. */
  async prune(before: string, limit: number): Promise<number> {
    let pruned = 0;
    const old = rangeOf(["event-times"], limit, { to: keyOf("event-times", before) });
    for (const event of await this.#records.collect<string, StoredEvent>(old, (keys) => this.#final(keys)))
      pruned += await this.#records.change(async (draft) => {
        await draft.load([eventKey(event.id), ...dispatchKeysOf(event)]);
        // Another process may have pruned it since.
        if (draft.get(eventKey(event.id)) === undefined || !isOver(draft, event)) return 0;
        for (const key of [eventKey(event.id), ...dispatchKeysOf(event)]) draft.delete(key);
        return 1;
      });
    return pruned;
  }

  /** Returns those events of which no dispatch waits. */
  async #final(keys: readonly string[]): Promise<StoredEvent[]> {
    const draft = this.#records.draft();
    const events = await this.#records.values<StoredEvent>(keys, draft);
    await draft.load(events.flatMap(dispatchKeysOf));
    return events.filter((event) => isOver(draft, event));
  }
}

/** Returns whether all dispatches of an event are loaded, and final. */
function isOver(draft: Draft, event: StoredEvent): boolean {
  return dispatchKeysOf(event).every((key) => {
    const dispatch = draft.get<StoredDispatch>(key);
    return dispatch !== undefined && isFinal(dispatch);
  });
}
