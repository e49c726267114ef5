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

/** A webhook as its record has it. */
export interface StoredWebhook extends WebhookState {
  /** Base64; empty after it was pruned. */
  rawBody: string;
  /** The place of the webhook among all webhooks. */
  order: string;
}

/** An event as its record has it, with the names of the handlers that have a dispatch of it. */
export type StoredEvent = EventRecord & { order: string; handlers: readonly string[] };

/** A dispatch as its record has it. */
export interface StoredDispatch extends Omit<DispatchRecord, "dueAt"> {
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

/** Returns a dispatch as people see it. */
export function dispatchOf(dispatch: StoredDispatch): DispatchRecord {
  const { recordedAt: _at, order: _order, fence: _fence, dueAt, waitsFrom: _from, ...record } = dispatch;
  // 0: at any time of any clock.
  if (record.state !== "pending" || dueAt === 0) return record;
  return { ...record, dueAt: new Date(dueAt).toISOString() };
}

/** Returns the place of a dispatch in the order of the events. */
export const placeInOrder = ({ order, handler }: StoredDispatch): string => `${order} ${handler}`;

/** The value of an index entry of a dispatch. */
export interface DispatchEntry extends Pick<
  StoredDispatch,
  "eventId" | "type" | "handler" | "order" | "recordedAt" | "dueAt" | "waitsFrom"
> {}

/**
 * All payments of one reference are one record, so that two attempts of an order cannot be changed at the same time. Other records
 * lead from a clientId and from a service id to the reference.
 */
export const orderKey = (reference: string): string => keyOf("orders", reference);
export const paymentKey = (clientId: string): string => keyOf("payments", clientId);
export const serviceKey = (serviceId: string): string => keyOf("services", serviceId);
export const webhookKey = (eventKey: string): string => keyOf("webhooks", eventKey);
/** The record that leads from a receipt to its webhook. */
export const receiptKey = (receiptId: string): string => keyOf("receipts", receiptId);
export const resolutionKey = (id: string): string => keyOf("resolutions", id);
export const noteKey = ({ kind, id }: Pick<NoteRecord, "kind" | "id">): string => keyOf("notes", kind, id);
export const eventKey = (id: string): string => keyOf("events", id);
export const dispatchKey = ({ eventId, handler }: Pick<DispatchRecord, "eventId" | "handler">): string =>
  keyOf("dispatches", eventId, handler);
/** The record of all registered handlers. */
export const handlersKey = "handlers";

/** The place of an index entry: the parts of its key behind the index's name. */
type Place = readonly string[];

/** The indexes of one kind of records. */
interface Table<Row> {
  /** Where each index has entries of a record. */
  indexes: Readonly<Record<string, (row: Row) => readonly Place[]>>;
  /** Returns the value of these entries. */
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
    // Most payments are completed: an index of these would be another one of all.
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

/** Returns whether `prune` may remove the bytes of a webhook, and they are there. */
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

/** The kinds of records that have indexes, by the first part of their keys. */
const tables = { orders, webhooks, events, dispatches, resolutions } as unknown as Readonly<
  Record<string, Table<unknown>>
>;

/** Returns the index entries that lead to a record, by their keys. */
export function entriesOf(key: string, row: unknown): Map<string, unknown> {
  const entries = new Map<string, unknown>();
  const table = tables[key.slice(0, Math.max(0, key.indexOf("/")))];
  for (const [index, placesOf] of Object.entries(table?.indexes ?? {}))
    for (const place of placesOf(row)) entries.set(keyOf(index, ...place), table!.entryOf(row, key));
  return entries;
}
