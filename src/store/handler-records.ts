import { type PaymentNeed, type WebhookNeed } from "../model/attention.js";
import { type EventType } from "../model/event-map.js";

/** A small record about the kit itself: what people decided about a handler, for example. */
export interface NoteRecord {
  /** What it is about, such as `handler`: at most 32 ASCII characters. */
  kind: string;
  /** Unique among the notes of its kind; at most 191 characters. */
  id: string;
  /** One more with each change. 1 for a note that is written for the first time. */
  version: number;
  /** Plain JSON. */
  value: Readonly<Record<string, unknown>>;
}

/** Which notes `notes` returns. */
export interface NotesOptions {
  /** The kind of all of them. */
  kind: string;
  /** Only these. @default all of the kind */
  ids?: readonly string[];
  /** The id of the last note of the page before. @default none */
  after?: string;
  /** The number of notes at most. A store may return pages in another order than by id, but always in the same one. @default all */
  limit?: number;
}

/** A handler: the event that it wants (`"*"`: every event), and its durable name. */
export interface HandlerKey {
  /** The event that it wants; `"*"` for every event. */
  event: EventType | "*";
  /** Its durable name. */
  name: string;
}

/** A handler that a process registers. */
export interface Registration extends HandlerKey {
  /**
   * Set where this process has registered the handler before: if the store has forgotten it since, as an older copy of a database has, the
   * handler also gets the events that were recorded at this time or later. ISO 8601 UTC.
   */
  since?: string;
}

/** One handler name that the store knows. */
export interface HandlerSummary {
  /** The durable name. */
  name: string;
  /** The events for which it is registered, sorted. */
  events: HandlerKey["event"][];
  /** The number of its dispatches that are not ended, also of those that will be made of stored events. */
  waiting: number;
  /** The number of its dead dispatches. */
  dead: number;
}

/** Which handler to retire: all registrations of its name, or only the one for this event. */
export interface RetireOptions {
  /** The name. */
  handler: string;
  /** Only the registration for this event. @default all registrations of the name */
  event?: HandlerKey["event"];
  /** The maximum number of dispatches to retire in one call. */
  limit: number;
}

/** Which dispatches `revived` returns. */
export interface RevivedPage {
  /** The id under which they were revived. */
  run: string;
  /** The last dispatch of the page before. @default none */
  after?: { eventId: string; handler: string };
  /** The number of dispatches at most. */
  limit: number;
}

/** What `counts` leaves out. */
export interface CountsOptions {
  /** The names of handlers whose waiting events do not count for `oldestUndoneAt`. @default none */
  except?: readonly string[];
  /** Only needs of payments and webhooks from before these times count: ISO 8601 UTC. @default all of them */
  before?: { readonly [Need in PaymentNeed | WebhookNeed]?: string };
}
