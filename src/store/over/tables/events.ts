import { type EventRecord, type HandlerKey, type Registration, type RetireOptions } from "../../contract.js";
import { isFinal, leftAfter, namesWanting, undone, unknownAmong, wants } from "../../rules/dispatches.js";
import { type Draft } from "../records/draft.js";
import { keyOf, rangeOf } from "../records/keys.js";
import { type KeyedRecords } from "../records/keyed-records.js";
import { conflict } from "../../rules/payments.js";
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

/** A handler that was registered, and where it is new the newest events before that, by the keys of their index. */
interface Added extends Registration {
  before?: readonly string[];
}

/** An event that is older than so many others was not saved at the moment of a registration. */
const maxBefore = 1000;

/** The registered handlers, and the stored events that they get. */
export class Events {
  readonly #records: KeyedRecords;
  /** The handlers that the last call stored. A transaction that had read the handlers before may have saved an event after it. */
  #added: readonly Added[] = [];

  constructor(records: KeyedRecords) {
    this.#records = records;
  }

  async handlers(draft = this.#records.draft()): Promise<HandlerKey[]> {
    await draft.load([handlersKey]);
    return draft.get<HandlerKey[]>(handlersKey) ?? [];
  }

  async register(handlers: readonly Registration[]): Promise<void> {
    const registered = await this.handlers();
    const unknown = unknownAmong(handlers, registered);
    // One that was retired since gets nothing more.
    const added = this.#added.filter((one) => unknownAmong([one], registered).length === 0);
    // Once before the registration, so that little is left for the moment after it, in which this process may end.
    const forgotten = unknown.filter(({ since }) => since !== undefined);
    for (const handler of [...added, ...forgotten]) await this.#dispatchSince(handler);
    this.#added = [];
    if (unknown.length === 0) return;
    const before = await this.#newest();
    await this.#records.change(async (draft) => {
      const known = await this.handlers(draft);
      const missing = unknownAmong(handlers, known).map(({ event, name }) => ({ event, name }));
      if (missing.length > 0) draft.put(handlersKey, [...known, ...missing]);
    });
    for (const handler of forgotten) await this.#dispatchSince(handler);
    this.#added = unknown.map((handler) => (handler.since === undefined ? { ...handler, before } : handler));
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

  /** Returns the keys of the newest events in the index of their times, the newest first. */
  #newest(): Promise<string[]> {
    const range = rangeOf(["event-times"], maxBefore, { reverse: true });
    return this.#records.collect(range, async (_, keys) => [...keys]);
  }

  /**
   * Makes the dispatches of a handler that the store had forgotten, of the events since its first registration; and those of a new one,
   * of the events that were saved while it was registered.
   */
  async #dispatchSince({ since, before = [], ...handler }: Added): Promise<void> {
    const oldest = before.length < maxBefore ? undefined : before.at(-1);
    const from = since === undefined ? oldest : keyOf("event-times", since);
    const range = rangeOf(["event-times"], Infinity, from === undefined ? {} : { from });
    const seen = new Set(before);
    const unseen = await this.#records.collect<string>(range, async (found, keys) =>
      found.filter((_, index) => !seen.has(keys[index]!)),
    );
    for (const key of unseen)
      await this.#records.change(async (draft) => {
        await draft.load([key]);
        const event = draft.get<StoredEvent>(key);
        if (!event || !wants(handler, event.type) || event.handlers.includes(handler.name)) return;
        putEvent(draft, event, [handler.name]);
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
