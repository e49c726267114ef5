import { type Rematched, type StoredHistory, type WebhookPage, type WebhookRecord } from "../contract.js";
import { isRematchable, isWaiting, needsResolution } from "../rules.js";

type Optional = "reason" | "clientId" | "status" | "kind" | "decidedAt";

interface Row extends Omit<WebhookRecord, "rawBody" | Optional>, Record<Optional, string | undefined> {
  kind: WebhookRecord["kind"];
  /** One character for each byte: a string takes less memory than a Buffer. */
  rawBody: string;
  /** The number of copies after the first webhook. */
  copies: number;
  /** Whether it waits and was not raised yet. */
  stray: boolean;
  waits: boolean;
  /** Whether a person has resolved it. */
  isResolved: boolean;
  /** The rows of the current transaction are in the same maps, because every look into a second large map costs time. */
  isCommitted: boolean;
}

/** Webhooks as one transaction sees them. */
export class WebhooksTable {
  readonly #rows = new Map<string, Row>();
  readonly #receiptIds = new Map<string, string>();
  /** The eventKeys of webhooks that wait, in order of arrival. */
  readonly #waiting = new Set<string>();
  /** The eventKeys of parked webhooks by clientId, in order of arrival. */
  readonly #rematchableOf = new Map<string | undefined, Set<string>>();
  /** The rows that the transaction inserted. */
  #inserted: Row[] = [];
  /** The new versions of rows that the transaction changed. */
  readonly #draft = new Map<string, Row>();

  has(eventKey: string): boolean {
    return this.#rows.has(eventKey);
  }

  /** Returns `false` when the eventKey or the receiptId is taken. */
  insert(webhook: WebhookRecord): boolean {
    const { receiptId, eventKey, outcome, covers, receivedAt, rawBody } = webhook;
    if (this.has(eventKey) || this.#receiptIds.has(receiptId)) return false;
    const waits = isWaiting(webhook);
    // Absent fields are set too: an object that gets fields later takes more memory.
    const row: Row = {
      receiptId,
      eventKey,
      outcome,
      covers: copyOf(covers),
      receivedAt,
      reason: webhook.reason,
      clientId: webhook.clientId,
      status: webhook.status,
      kind: webhook.kind,
      decidedAt: webhook.decidedAt,
      rawBody: rawBody.toString("latin1"),
      copies: 0,
      stray: waits,
      waits,
      isResolved: false,
      isCommitted: false,
    };
    this.#rows.set(eventKey, row);
    this.#receiptIds.set(receiptId, eventKey);
    this.#inserted.push(row);
    return true;
  }

  addCopies(eventKey: string, count: number): void {
    const row = this.#get(eventKey);
    if (row) this.#draft.set(eventKey, { ...row, copies: row.copies + count });
  }

  rematch({ receiptId, outcome, reason, decidedAt }: Rematched): void {
    const waits = isWaiting({ outcome });
    this.#change(receiptId, { outcome, reason, decidedAt, waits, stray: waits });
  }

  raise(receiptId: string): void {
    this.#change(receiptId, { stray: false });
  }

  dismiss(receiptId: string): void {
    this.#change(receiptId, { stray: false, waits: false });
  }

  resolve(receiptId: string): void {
    this.#change(receiptId, { isResolved: true });
  }

  rematchable(clientIds: readonly string[]): WebhookRecord[] {
    const committed = clientIds.flatMap((clientId) => [...(this.#rematchableOf.get(clientId) ?? [])]);
    const inserted = this.#inserted.map(({ eventKey }) => eventKey);
    const eventKeys = new Set([...committed, ...inserted, ...this.#draft.keys()]);
    const rows = [...eventKeys].map((eventKey) => this.#get(eventKey)!).filter(isRematchable);
    return rows
      .filter(({ clientId }) => clientId !== undefined && clientIds.includes(clientId))
      .map(recordOf);
  }

  stray({ before, limit }: { before: string; limit: number }): WebhookRecord[] {
    const waiting = [...this.#waiting].map((eventKey) => this.#get(eventKey)!);
    const strays = waiting.filter(({ stray, receivedAt }) => stray && receivedAt < before);
    return strays.toSorted(inOrder).slice(0, limit).map(recordOf);
  }

  page({ clientId, receiptId, outcome, from, to, after, limit }: WebhookPage): WebhookRecord[] {
    const rows = clientId === undefined ? this.#committed() : this.#ofClientId(clientId);
    return rows
      .filter((row) => receiptId === undefined || row.receiptId === receiptId)
      .filter((row) => outcome === undefined || row.outcome === outcome)
      .filter(({ receivedAt }) => receivedAt >= (from ?? "") && (to === undefined || receivedAt < to))
      .filter((row) => after === undefined || inOrder(row, after) > 0)
      .toSorted(inOrder)
      .slice(0, limit)
      .map(recordOf);
  }

  history(clientId: string, limit: number): StoredHistory["webhooks"] {
    const rows = this.#ofClientId(clientId).toSorted(inOrder).slice(-limit);
    return rows.map((row) => ({ ...factsOf(row), copies: row.copies }));
  }

  countParked(): number {
    return this.#waiting.size;
  }

  /** Deletes raw bytes. The rows stay, so that copies are still recognised. Returns how many. */
  prune(before: string, limit: number): number {
    const isFinal = (row: Row): boolean =>
      !row.waits &&
      (row.isResolved || !needsResolution(row)) &&
      row.receivedAt < before &&
      row.rawBody !== "";
    const final = this.#committed().filter(isFinal).slice(0, limit);
    for (const row of final) row.rawBody = "";
    return final.length;
  }

  commit(): void {
    for (const row of this.#inserted) {
      row.isCommitted = true;
      this.#index(row);
    }
    for (const [eventKey, row] of this.#draft) {
      row.isCommitted = true;
      this.#rows.set(eventKey, row);
      this.#index(row);
    }
    this.#forget();
  }

  rollback(): void {
    for (const { eventKey, receiptId } of this.#inserted) {
      this.#rows.delete(eventKey);
      this.#receiptIds.delete(receiptId);
    }
    this.#forget();
  }

  #forget(): void {
    this.#inserted = [];
    this.#draft.clear();
  }

  #index(row: Row): void {
    const { eventKey, clientId } = row;
    if (row.waits) this.#waiting.add(eventKey);
    else this.#waiting.delete(eventKey);
    const parked = this.#rematchableOf.get(clientId);
    if (!isRematchable(row)) parked?.delete(eventKey);
    else if (parked) parked.add(eventKey);
    else this.#rematchableOf.set(clientId, new Set([eventKey]));
  }

  /** Without an index: only people ask for it, and every webhook would have to update the index. */
  #ofClientId(wanted: string): Row[] {
    return this.#committed().filter(({ clientId }) => clientId === wanted);
  }

  #committed(): Row[] {
    return [...this.#rows.values()].filter(({ isCommitted }) => isCommitted);
  }

  #change(receiptId: string, change: Partial<Row>): void {
    const eventKey = this.#receiptIds.get(receiptId);
    const row = eventKey === undefined ? undefined : this.#get(eventKey);
    if (row) this.#draft.set(row.eventKey, { ...row, ...change });
  }

  #get(eventKey: string): Row | undefined {
    return this.#draft.get(eventKey) ?? this.#rows.get(eventKey);
  }
}

function inOrder(a: Row, b: NonNullable<WebhookPage["after"]>): number {
  const [left, right] = [`${a.receivedAt} ${a.receiptId}`, `${b.receivedAt} ${b.receiptId}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

function copyOf(covers: WebhookRecord["covers"]): WebhookRecord["covers"] {
  return covers === "body" ? covers : [...covers];
}

function recordOf(row: Row): WebhookRecord {
  return { ...factsOf(row), rawBody: Buffer.from(row.rawBody, "latin1") };
}

/** Returns everything but the bytes. An absent value has no key. */
function factsOf(row: Row): Omit<WebhookRecord, "rawBody"> {
  const { receiptId, eventKey, outcome, covers, receivedAt, reason, clientId, status, kind, decidedAt } = row;
  return {
    receiptId,
    eventKey,
    outcome,
    covers: copyOf(covers),
    receivedAt,
    ...(reason !== undefined && { reason }),
    ...(clientId !== undefined && { clientId }),
    ...(status !== undefined && { status }),
    ...(kind !== undefined && { kind }),
    ...(decidedAt !== undefined && { decidedAt }),
  };
}
