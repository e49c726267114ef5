import { type HistoryPage, type StoredHistory, type WebhookPage, type WebhookRecord } from "../contract.js";
import { type WebhookNeed } from "../../model/attention.js";
import {
  byArrival,
  openNeedOf,
  isOnWebhookPage,
  isRematchable,
  isSettled,
  type ReplacedFields,
  type WebhookRows,
  type WebhookState,
} from "../rules/webhooks.js";
import { newestBefore, Rows } from "./rows.js";

type Optional = "reason" | "clientId" | "status" | "kind" | "decidedAt" | "isResolved";

/** A row has every field from the start, because an object that gets fields later takes more memory. */
type Row = Omit<WebhookState, Optional> & {
  [Name in Optional]: WebhookState[Name] | undefined;
} & {
  /** The bytes, one character for each byte, because a string needs less memory than a Buffer. */
  rawBody: string;
};

/** Webhooks by their eventKey. */
export class WebhooksTable implements WebhookRows {
  readonly rows = new Rows<Row>((eventKey, before, after) => this.#index(eventKey, before, after));
  readonly #eventKeys = new Map<string, string>();
  /** The eventKeys of waiting webhooks. */
  readonly #waiting = new Set<string>();
  /** The eventKeys of rematchable webhooks by clientId, in order of arrival. */
  readonly #rematchableOf = new Map<string, Set<string>>();

  hasEventKey(eventKey: string): boolean {
    return this.rows.get(eventKey) !== undefined;
  }

  hasReceipt(receiptId: string): boolean {
    return this.#eventKeys.has(receiptId);
  }

  add(webhook: WebhookRecord, waits: boolean): void {
    const { receiptId, eventKey, outcome, receivedAt, reason, clientId, status, kind, decidedAt } = webhook;
    this.rows.put(eventKey, {
      receiptId,
      eventKey,
      outcome,
      covers: copyOf(webhook.covers),
      receivedAt,
      reason,
      clientId,
      status,
      kind,
      decidedAt,
      rawBody: webhook.rawBody.toString("latin1"),
      copies: 0,
      waits,
      isStray: waits,
      isResolved: undefined,
    });
  }

  addCopies(eventKey: string, count: number): void {
    const row = this.rows.get(eventKey);
    if (row) this.rows.put(eventKey, { ...row, copies: row.copies + count });
  }

  replace(receiptId: string, fields: ReplacedFields): void {
    const row = this.rows.get(this.#eventKeys.get(receiptId) ?? "");
    if (row) this.rows.put(row.eventKey, { ...row, ...fields } as Row);
  }

  rematchable(clientIds: readonly string[]): WebhookRecord[] {
    const eventKeys = clientIds.flatMap((clientId) => [...(this.#rematchableOf.get(clientId) ?? [])]);
    return [...new Set(eventKeys)].map((eventKey) => recordOf(this.rows.get(eventKey)!));
  }

  stray({ before, limit }: { before: string; limit: number }): WebhookRecord[] {
    const waiting = [...this.#waiting].map((eventKey) => this.rows.get(eventKey)!);
    const strays = waiting.filter(({ isStray, receivedAt }) => isStray && receivedAt < before);
    return strays.toSorted(byArrival).slice(0, limit).map(recordOf);
  }

  list(page: WebhookPage): WebhookRecord[] {
    return this.#sorted((row) => isOnWebhookPage(page, row))
      .slice(0, page.limit)
      .map(recordOf);
  }

  history(clientId: string, page: HistoryPage): StoredHistory["webhooks"] {
    const rows = this.#sorted((row) => row.clientId === clientId);
    return newestBefore(rows, page, ({ webhook }) => webhook?.receiptId).map(factsOf);
  }

  countWaiting(): number {
    return this.rows.committedOf(this.#waiting).filter(({ waits }) => waits).length;
  }

  /** Returns the need of each webhook (the fact that a person has to see, if any) and its arrival time. */
  needs(): (readonly [WebhookNeed | undefined, string])[] {
    return this.rows.allCommitted().map((row) => [openNeedOf(row), row.receivedAt] as const);
  }

  /** Removes the bytes of final webhooks. Returns the number of these webhooks. */
  prune(before: string, limit: number): number {
    const isOver = (row: Row): boolean => isSettled(row) && row.receivedAt < before && row.rawBody !== "";
    const over = this.rows.allCommitted().filter(isOver).slice(0, limit);
    for (const row of over) this.rows.put(row.eventKey, { ...row, rawBody: "" });
    return over.length;
  }

  /** Sorts matching rows. There is no index, because every webhook would have to update the index. */
  #sorted(isWanted: (row: Row) => boolean): Row[] {
    return this.rows.allCommitted().filter(isWanted).toSorted(byArrival);
  }

  #index(eventKey: string, before: Row | undefined, after: Row | undefined): void {
    const { receiptId, clientId } = (after ?? before)!;
    if (after === undefined) this.#eventKeys.delete(receiptId);
    else if (before === undefined) this.#eventKeys.set(receiptId, eventKey);
    if (after?.waits) this.#waiting.add(eventKey);
    else if (before?.waits) this.#waiting.delete(eventKey);
    if (clientId === undefined) return;
    if (after && isRematchable(after)) {
      const parked = this.#rematchableOf.get(clientId) ?? new Set();
      this.#rematchableOf.set(clientId, parked.add(eventKey));
    } else if (before && isRematchable(before)) this.#rematchableOf.get(clientId)?.delete(eventKey);
  }
}

function copyOf(covers: WebhookRecord["covers"]): WebhookRecord["covers"] {
  return covers === "body" ? covers : [...covers];
}

/** Returns a webhook without its bytes, and without fields that are `undefined`. */
function factsOf(row: Row): StoredHistory["webhooks"][number] {
  const { rawBody: _bytes, waits: _waits, isStray: _stray, isResolved: _resolved, ...shown } = row;
  const present = Object.entries(shown).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(present), covers: copyOf(row.covers) } as StoredHistory["webhooks"][number];
}

function recordOf(row: Row): WebhookRecord {
  const { copies, ...facts } = factsOf(row);
  return { ...facts, ...(copies > 0 && { copies }), rawBody: Buffer.from(row.rawBody, "latin1") };
}
