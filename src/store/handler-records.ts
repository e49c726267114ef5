import { type PaymentNeed, type WebhookNeed } from "../model/attention.js";
import { type EventType } from "../model/event-map.js";

/** A small record about the kit itself, for example about a person's decision about a handler. */
export interface NoteRecord {
  /** The subject of the note, such as `handler`: at most 32 ASCII characters. */
  kind: string;
  /** The id, which is unique among the notes of one kind: at most 191 characters. */
  id: string;
  /** The number of writes of the note: 1 after the first write. */
  version: number;
  /** The content as plain JSON. */
  value: Readonly<Record<string, unknown>>;
}

/** The page of notes that `notes` returns. */
export interface NotesOptions {
  /** The kind of the notes. */
  kind: string;
  /** Only the notes with these ids. @default all of the kind */
  ids?: readonly string[];
  /** The id of the last note of the page before. @default none */
  after?: string;
  /** The maximum number of notes. The order of pages is fixed, but may not be by id. @default all */
  limit?: number;
}

/** A handler: its name, and the event that it wants. */
export interface HandlerKey {
  /** The event that the handler wants. `"*"` means every event. */
  event: EventType | "*";
  /** The durable name of the handler. */
  name: string;
}

/** A handler that a process registers. */
export interface Registration extends HandlerKey {
  /**
   * The time when this process first registered the handler: ISO 8601 UTC. Absent in the first registration.
   * The store may have forgotten the handler since then, for example because a backup was restored. The
   * handler then also gets the events since its first registration.
   */
  since?: string;
}

/** A registered handler name, with the numbers of its dispatches. */
export interface HandlerSummary {
  /** The durable name of the handler. */
  name: string;
  /** The events for which the handler is registered, sorted. */
  events: HandlerKey["event"][];
  /** The number of its open dispatches, including dispatches that are not yet made for stored events. */
  waiting: number;
  /** The number of its dead dispatches. */
  dead: number;
}

/** The handler to retire: all registrations of its name, or only the one for an event. */
export interface RetireOptions {
  /** The name of the handler. */
  handler: string;
  /** Only the registration for this event. @default all registrations of the name */
  event?: HandlerKey["event"];
  /** The maximum number of dispatches to retire in one call. */
  limit: number;
}

/** The page of dispatches that `revived` returns. */
export interface RevivedPage {
  /** The id under which the dispatches were revived. */
  run: string;
  /** The last dispatch of the page before. @default none */
  after?: { eventId: string; handler: string };
  /** The maximum number of dispatches. */
  limit: number;
}

/** The payments, webhooks and handlers that `counts` leaves out. */
export interface CountsOptions {
  /** The names of handlers whose waiting events do not count for `oldestUndoneAt`. @default none */
  except?: readonly string[];
  /** For each need, only payments created and webhooks received before this time count. @default all */
  before?: { readonly [Need in PaymentNeed | WebhookNeed]?: string };
}
