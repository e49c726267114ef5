import { needOfPayment } from "../../../model/attention.js";
import { type Payment } from "../../../model/payment.js";
import {
  type DispatchRecord,
  type EventRecord,
  type NoteRecord,
  type ResolutionRecord,
} from "../../records.js";
import { isOpen } from "../../rules/dispatches.js";
import { isUndecided } from "../../rules/payments.js";
import { isSettled, openNeedOf, type WebhookState } from "../../rules/webhooks.js";
import { keyOf, timeOf } from "./keys.js";

/** A webhook in the form of its record. */
export interface StoredWebhook extends WebhookState {
  /** The bytes in Base64. Empty after they were pruned. */
  rawBody: string;
  /** The position of the webhook among all webhooks. */
  order: string;
}

/** An event in the form of its record, with the names of the handlers that have a dispatch of the event. */
export type StoredEvent = EventRecord & { order: string; handlers: readonly string[] };

/** A dispatch in the form of its record. */
export interface StoredDispatch extends Omit<DispatchRecord, "dueAt"> {
  recordedAt: string;
  /**
   * The position of the event among all events. Two processes may give the same position in one millisecond.
   */
  order: string;
  fence: number;
  /** The time when a pending dispatch is due or a lease ends: milliseconds since 1970. */
  dueAt: number;
  /**
   * The start of the wait minus the length of the wait. `dueAt` is the start plus the length. If `waitsFrom`
   * is in the future, the clock was put back by more than the wait, and the dispatch is due. Absent without a
   * wait, and in records of earlier versions.
   */
  waitsFrom?: number;
}

/** Returns a dispatch in the form of the contract. */
export function dispatchOf(dispatch: StoredDispatch): DispatchRecord {
  const { recordedAt: _at, order: _order, fence: _fence, dueAt, waitsFrom: _from, ...record } = dispatch;
  // 0 means due immediately, independent of any clock.
  if (record.state !== "pending" || dueAt === 0) return record;
  return { ...record, dueAt: new Date(dueAt).toISOString() };
}

/**
 * Returns a string that sorts dispatches by event and handler. Two processes may save events with the same
 * `order`.
 */
export const placeInOrder = ({
  order,
  eventId,
  handler,
}: Pick<StoredDispatch, "order" | "eventId" | "handler">): string => `${order} ${eventId} ${handler}`;

/** The value of an index entry of a dispatch. */
export interface DispatchEntry extends Pick<
  StoredDispatch,
  "eventId" | "type" | "handler" | "order" | "recordedAt" | "dueAt" | "waitsFrom"
> {}

/**
 * All payments of one reference are one record, so that two attempts of an order cannot change at the same
 * time. Other records lead from a clientId or a service id to the reference.
 */
export const orderKey = (reference: string): string => keyOf("orders", reference);
export const paymentKey = (clientId: string): string => keyOf("payments", clientId);
export const serviceKey = (serviceId: string): string => keyOf("services", serviceId);
export const webhookKey = (eventKey: string): string => keyOf("webhooks", eventKey);
/** Returns the key of the record that leads from a receiptId to the webhook. */
export const receiptKey = (receiptId: string): string => keyOf("receipts", receiptId);
export const resolutionKey = (id: string): string => keyOf("resolutions", id);
export const noteKey = ({ kind, id }: Pick<NoteRecord, "kind" | "id">): string => keyOf("notes", kind, id);
export const eventKey = (id: string): string => keyOf("events", id);
export const dispatchKey = ({ eventId, handler }: Pick<DispatchRecord, "eventId" | "handler">): string =>
  keyOf("dispatches", eventId, handler);
/** The key of the record of all registered handlers. */
export const handlersKey = "handlers";

/** The parts of an index entry's key, without the index's name. */
type Place = readonly string[];

/** The indexes of one kind of records. */
interface Table<Row> {
  /** For each index, a function that returns the places of a record's entries. */
  indexes: Readonly<Record<string, (row: Row) => readonly Place[]>>;
  /** Returns the value of the entries of a record. */
  entryOf: (row: Row, key: string) => unknown;
}

const when = (is: unknown, ...place: string[]): Place[] => (is === true ? [place] : []);
const ofClient = (clientId: string | undefined, ...place: string[]): Place[] =>
  clientId === undefined ? [] : [[clientId, ...place]];
const ofNeed = (need: string | undefined, ...place: string[]): Place[] =>
  need === undefined ? [] : [[need, ...place]];
const keyItself = (_: unknown, key: string): string => key;

const orders: Table<Payment[]> = {
  indexes: {
    created: (payments) => payments.map(({ createdAt, clientId }) => [createdAt, clientId]),
    // `created` lists completed payments, too. As most payments are completed, they have no second index.
    states: (payments) =>
      payments.flatMap(({ state, createdAt, clientId }) =>
        when(state !== "completed", state, createdAt, clientId),
      ),
    needs: (payments) =>
      payments.flatMap((payment) => ofNeed(needOfPayment(payment), payment.createdAt, payment.clientId)),
    undecided: (payments) =>
      payments.flatMap((payment) => when(isUndecided(payment), payment.createdAt, payment.clientId)),
    lookups: (payments) =>
      payments.flatMap(({ nextLookupAt, clientId }) =>
        nextLookupAt === undefined ? [] : [[nextLookupAt, clientId]],
      ),
  },
  entryOf: (payments) => payments[0]!.reference,
};

const webhooks: Table<StoredWebhook> = {
  indexes: {
    "webhook-times": ({ receivedAt, receiptId }) => [[receivedAt, receiptId]],
    "client-webhooks": ({ clientId, receivedAt, receiptId }) => ofClient(clientId, receivedAt, receiptId),
    needs: (row) => ofNeed(openNeedOf(row), row.receivedAt, row.receiptId),
    waiting: ({ waits, receivedAt, receiptId }) => when(waits, receivedAt, receiptId),
    stray: ({ isStray, receivedAt, receiptId }) => when(isStray, receivedAt, receiptId),
    bytes: (row) => when(hasPrunableBytes(row), row.receivedAt, row.receiptId),
  },
  entryOf: keyItself,
};

/** Returns whether a webhook still has bytes that `prune` may remove. */
export function hasPrunableBytes(row: StoredWebhook): boolean {
  return row.rawBody !== "" && isSettled(row);
}

const events: Table<StoredEvent> = {
  indexes: {
    "event-times": ({ recordedAt, id }) => [[recordedAt, id]],
    "client-events": ({ clientId, order, id }) => ofClient(clientId, order, id),
  },
  entryOf: keyItself,
};

const dispatches: Table<StoredDispatch> = {
  indexes: {
    due: (row) => when(isOpen(row), row.handler, timeOf(row.dueAt), row.order, row.eventId),
    "waits-from": (row) =>
      isOpen(row) && row.waitsFrom !== undefined
        ? [[row.handler, timeOf(row.waitsFrom), row.order, row.eventId]]
        : [],
    runs: ({ run, eventId, handler }) => (run === undefined ? [] : [[run, eventId, handler]]),
    dead: (row) => when(row.state === "dead", row.handler, row.order, row.eventId),
  },
  entryOf: ({ eventId, type, handler, order, recordedAt, dueAt, waitsFrom }): DispatchEntry => {
    const entry = { eventId, type, handler, order, recordedAt, dueAt };
    return waitsFrom === undefined ? entry : { ...entry, waitsFrom };
  },
};

const resolutions: Table<ResolutionRecord> = {
  indexes: { "client-resolutions": ({ clientId, at, id }) => [[clientId, at, id]] },
  entryOf: keyItself,
};

/** The kinds of records that have indexes, by the first part of the key. */
const tables = { orders, webhooks, events, dispatches, resolutions } as unknown as Readonly<
  Record<string, Table<unknown>>
>;

/** Returns the index entries that lead to a record, by key. */
export function entriesOf(key: string, row: unknown): Map<string, unknown> {
  const entries = new Map<string, unknown>();
  const table = tables[key.slice(0, Math.max(0, key.indexOf("/")))];
  for (const [index, placesOf] of Object.entries(table?.indexes ?? {}))
    for (const place of placesOf(row)) entries.set(keyOf(index, ...place), table!.entryOf(row, key));
  return entries;
}
