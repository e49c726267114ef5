import { type PaymentClaim, readClaims } from "../../checkout/payment-claims.js";
import { readControls } from "../../dispatch/handler-controls.js";
import { isSameNumber } from "../../shared/payment-number.js";
import {
  type AttentionChange,
  type AttentionEntry,
  type AttentionNote,
  type AttentionRule,
  attentionNotes,
  paymentNeeds,
  webhookNeeds,
} from "../../model/attention.js";
import { type EventType } from "../../model/event-map.js";
import { restText } from "../../model/money.js";
import { type LastReport, lastReportFields, type Payment, type Refund } from "../../model/payment.js";
import {
  type DispatchRecord,
  type EventRecord,
  type PaymentStore,
  type ResolutionRecord,
  type StoredHistory,
  type WebhookRecord,
} from "../../store/index.js";
import { withoutKey } from "../../webhook/recording/payment-events.js";
import { type HistoryQuery, readHistoryPage } from "./history-page.js";

/** One thing that happened to a payment. */
export type HistoryEntry = {
  /** The time at which it happened: ISO 8601 UTC. */
  at: string;
  /** One line for people. */
  text: string;
} & (
  | { kind: "created" }
  | { kind: "reported"; reported: LastReport }
  | { kind: "return"; to: "success" | "cancel" }
  /**
   * A claim on the return page, with the customer's `number`, and whether the service reported this number.
   */
  | { kind: "claim"; number: string; isReported: boolean }
  | { kind: "webhook" | "lookup"; receiptId: string; status?: string; copies: number }
  | { kind: "decision"; receiptId: string; outcome: WebhookRecord["outcome"]; reason?: string }
  | { kind: "event"; eventId: string; type: EventType }
  | ({ kind: "dispatch" } & Omit<DispatchRecord, "clientId" | "settledAt">)
  | ({ kind: "attention"; rule: AttentionRule } & Omit<AttentionChange, "at">)
  | ({ kind: "resolution" } & Omit<ResolutionRecord, "clientId" | "at">)
  /** The last time that a person ran a dead dispatch again, with the `run` of `payments.replayDispatches`. */
  | { kind: "retry"; eventId: string; handler: string; run: string; by: string; reason?: string }
);

/** Everything that is on record about one clientId. */
export interface PaymentHistory {
  /** The clientId that was asked for. */
  clientId: string;
  /** The stored payment. Absent if the store has no payment with the clientId. */
  payment?: Payment;
  /** The other payments of the same reference, oldest first; at most 101. */
  others: Payment[];
  /** The entries, oldest first. Only the first page has entries from the payment's own fields. */
  entries: HistoryEntry[];
  /** The open entries about the payment, the most urgent first, each with the next step. */
  attention: AttentionEntry[];
  /** The cursor of the next page, with older webhooks, events and resolutions; absent on the last page. */
  cursor?: string;
}

/**
 * The value of the note about the person who ran dead dispatches again. The note's id is the id of the run.
 */
export interface RetryNote {
  by: string;
  reason?: string;
  /** The conditions that select the run's dispatches, in JSON. Earlier versions stored no conditions. */
  conditions?: string;
  at: string;
}

/** The kind of the notes of {@link RetryNote}. */
export const retryNotes = "retry";

/** The order of entries with the same time. */
const kinds = [
  "created",
  "return",
  "claim",
  "lookup",
  "webhook",
  "reported",
  "decision",
  "resolution",
  "attention",
  "event",
  "dispatch",
  "retry",
];

/**
 * Returns one page of what happened to a clientId: its webhooks, lookups, decisions, events, dispatches,
 * returns, claims and people's actions, with times and reasons. The first page has the newest records.
 *
 * @throws TillkitError `query_invalid`
 */
export async function paymentHistory<Tx>(
  store: PaymentStore<Tx>,
  clientId: string,
  query: HistoryQuery = {},
): Promise<Omit<PaymentHistory, "attention">> {
  const { stored, next, isFirst } = await readHistoryPage(store, clientId, query);
  const payment = await store.find(clientId);
  const ownEntries = async (): Promise<HistoryEntry[]> => [
    ...(payment ? entriesOfPayment(payment) : []),
    ...(await readClaims(store, clientId)).map((claim) => entryOfClaim(claim, payment?.reported)),
  ];
  const isWaiting = stored.dispatches.some(({ state }) => state === "pending");
  const controls = isWaiting ? await readControls(store) : [];
  const paused = new Set(controls.flatMap((one) => (one.paused ? [one.name] : [])));
  const entries = [
    ...(isFirst ? await ownEntries() : []),
    ...stored.webhooks.flatMap(entriesOfWebhook),
    ...stored.events.map(entryOfEvent),
    ...stored.dispatches.map((dispatch) =>
      entryOfDispatch(dispatch, stored.events, paused.has(dispatch.handler)),
    ),
    ...stored.resolutions.map(entryOfResolution),
    ...(await entriesOfPeople(store, isFirst ? [clientId] : [], stored)),
    ...(await entriesOfRetries(store, stored)),
  ];
  return {
    clientId,
    ...(payment && { payment: withoutKey(payment) }),
    others: payment ? await othersOf(store, payment) : [],
    entries: entries.toSorted(byTime),
    ...(next !== undefined && { cursor: next }),
  };
}

async function othersOf<Tx>(store: PaymentStore<Tx>, { clientId, reference }: Payment): Promise<Payment[]> {
  const found = await store.list({ reference, newestFirst: false, limit: 101 });
  return found.filter((payment) => payment.clientId !== clientId).map(withoutKey);
}

function byTime(a: HistoryEntry, b: HistoryEntry): number {
  if (a.at !== b.at) return a.at < b.at ? -1 : 1;
  return kinds.indexOf(a.kind) - kinds.indexOf(b.kind);
}

function entriesOfPayment(payment: Payment): HistoryEntry[] {
  const { createdAt, successReturnedAt, cancelReturnedAt, failure, replacedBy } = payment;
  const { reference, total, reported } = payment;
  const ended = [
    ...(failure === undefined ? [] : [`; the creation ended with ${failure}`]),
    ...(replacedBy === undefined ? [] : [`; replaced by ${replacedBy}`]),
  ];
  const text = `created: ${total.value} ${total.currency} for ${reference}${ended.join("")}`;
  const returned = (to: "success" | "cancel", at: string | undefined): HistoryEntry[] =>
    at === undefined ? [] : [{ at, kind: "return", to, text: `the browser came back to ${to}` }];
  return [
    { at: createdAt, kind: "created", text },
    ...returned("success", successReturnedAt),
    ...returned("cancel", cancelReturnedAt),
    ...(reported ? [entryOfReport(reported)] : []),
  ];
}

function entryOfClaim({ number, at }: PaymentClaim, reported: LastReport | undefined): HistoryEntry {
  const isReported = isSameNumber(number, reported?.providerId);
  const text = `the customer says that it is paid, with the number ${number}${isReported ? ", which the service reported" : ""}`;
  return { at, kind: "claim", number, isReported, text };
}

function entryOfReport(reported: LastReport): HistoryEntry {
  const { at, verified } = reported;
  // The fields are in a fixed order, because their stored order depends on the store.
  const said = lastReportFields.map((field) => {
    const value = reported[field];
    if (field === "status" || value === undefined) return "";
    const isProven = verified.includes(field);
    return `, ${field === "captured" && value === false ? "not paid yet" : `${field} ${String(value)}`}${isProven ? "" : " (not verified)"}`;
  });
  return {
    at,
    kind: "reported",
    reported,
    text: `the service said last: ${reported.status}${said.join("")}`,
  };
}

function entriesOfWebhook(webhook: StoredHistory["webhooks"][number]): HistoryEntry[] {
  const { receiptId, receivedAt, decidedAt = receivedAt, outcome, reason, status, copies } = webhook;
  const kind = webhook.kind ?? "webhook";
  const again = copies === 0 ? "" : `, and ${copies} more of the same`;
  return [
    {
      at: receivedAt,
      kind,
      receiptId,
      ...(status !== undefined && { status }),
      copies,
      text: `${kind}: ${status ?? "no status"}${again}`,
    },
    {
      at: decidedAt,
      kind: "decision",
      receiptId,
      outcome,
      ...(reason !== undefined && { reason }),
      text: `decided: ${outcome}${reason === undefined ? "" : ` (${reason})`}`,
    },
  ];
}

/** Returns the actions of people on the entries of the payment, of its webhooks and of its dispatches. */
async function entriesOfPeople<Tx>(
  store: PaymentStore<Tx>,
  clientIds: readonly string[],
  { dispatches }: StoredHistory,
): Promise<HistoryEntry[]> {
  const ids = [
    ...clientIds.flatMap((clientId) =>
      ["claimed", ...paymentNeeds, ...webhookNeeds].map((need) => `${need}:${clientId}`),
    ),
    ...dispatches
      .filter(({ state, past }) => state === "dead" || state === "retired" || past !== undefined)
      .map(({ eventId, handler }) => `dead_dispatch:${eventId}:${handler}`),
  ];
  const notes = await store.notes({ kind: attentionNotes, ids });
  return notes.flatMap(({ id, value }) => {
    const rule = id.slice(0, id.indexOf(":")) as AttentionRule;
    const { changes } = value as unknown as AttentionNote;
    return changes.map((change): HistoryEntry => {
      const { did, by, reason, after } = change;
      const to = after === undefined ? "" : ` (${after})`;
      const text = `${rule} ${did} by ${by}${to}${reason === undefined ? "" : `: ${reason}`}`;
      return { kind: "attention", rule, ...change, text };
    });
  });
}

async function entriesOfRetries<Tx>(
  store: PaymentStore<Tx>,
  { dispatches }: StoredHistory,
): Promise<HistoryEntry[]> {
  const ids = [...new Set(dispatches.flatMap(({ run }) => run ?? []))];
  if (ids.length === 0) return [];
  const notes = new Map((await store.notes({ kind: retryNotes, ids })).map((note) => [note.id, note.value]));
  return dispatches.flatMap(({ eventId, handler, type, run }) => {
    const note = notes.get(run ?? "") as RetryNote | undefined;
    if (run === undefined || !note) return [];
    const { at, by, reason } = note;
    const why = reason === undefined ? "" : `: ${reason}`;
    const text = `dispatch of ${type} to ${handler}: run again by ${by}${why}`;
    return [{ at, kind: "retry", eventId, handler, run, by, ...(reason !== undefined && { reason }), text }];
  });
}

function entryOfEvent({ id, type, recordedAt }: EventRecord): HistoryEntry {
  return { at: recordedAt, kind: "event", eventId: id, type, text: `event: ${type}` };
}

function entryOfDispatch(
  { clientId: _, settledAt, ...dispatch }: DispatchRecord,
  events: readonly EventRecord[],
  isPaused: boolean,
): HistoryEntry {
  const { eventId, type, handler, state, attempt, error, dueAt } = dispatch;
  // A dispatch that has not ended is listed at the time of its event.
  const at = settledAt ?? events.find(({ id }) => id === eventId)?.recordedAt ?? "";
  const runs = attempt > 1 ? ` after ${attempt} runs` : "";
  const why = error === undefined || state === "done" ? "" : `: ${error}`;
  const due = dueAt === undefined ? "waits, due now" : `waits, due at ${dueAt}`;
  const waits = isPaused ? "waits until the handler is resumed" : due;
  const text = `dispatch of ${type} to ${handler}: ${state === "pending" ? waits : state}${runs}${why}`;
  return { at, kind: "dispatch", ...dispatch, text };
}

function entryOfResolution({ clientId: _, at, ...resolution }: ResolutionRecord): HistoryEntry {
  const { action, by, reason, evidence, refund, before, after } = resolution;
  const done = refund?.kind === "reversal" ? "reversed" : action;
  const change =
    after === undefined || after === before || refund ? "" : ` (${before ?? "not stored"} → ${after})`;
  const { kind, document, providerId } = evidence ?? {};
  const shown = [kind, document, providerId]
    .flatMap((one) => (one === undefined ? [] : [`, ${one}`]))
    .join("");
  const text = `${done} by ${by}${change}${shown}: ${refund ? `${refundText(refund)}: ` : ""}${reason}`;
  return { at, kind: "resolution", ...resolution, text };
}

function refundText({ amount, before, rest, key }: Refund): string {
  const [back, of] = [amount, before].map(({ value, currency }) => `${value} ${currency}`);
  return `${back} of ${of}, ${restText(rest)}${key === undefined ? "" : `, key ${key}`}`;
}
