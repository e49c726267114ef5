import {
  type Rematched,
  type StoredHistory,
  type WebhookPage,
  type WebhookRecord,
} from "../payment-store.js";

/** `copies` are those after the first; a stray is a waiting webhook that nobody was told of. */
type Row = Omit<WebhookRecord, "rawBody"> & {
  /** Each byte a character: a plain string costs less to keep than a Buffer. */
  rawBody: string;
  copies: number;
  stray: boolean;
  waits: boolean;
};

/** Webhooks as one transaction sees them. */
export class WebhooksTable {
  readonly #committed = new Map<string, Row>();
  readonly #receiptIds = new Map<string, string>();
  /** The eventKeys of webhooks that wait, in the order they came. */
  readonly #waiting = new Set<string>();
  /** The eventKeys of those that a payment which appears later may be about, by clientId, in the order they came. */
  readonly #parkedOf = new Map<string, Set<string>>();
  readonly #draft = new Map<string, Row>();
  readonly #draftedReceiptIds = new Map<string, string>();

  has(eventKey: string): boolean {
    return this.#draft.has(eventKey) || this.#committed.has(eventKey);
  }

  /** False when the eventKey or the receiptId is taken. */
  insert(webhook: WebhookRecord): boolean {
    if (this.has(webhook.eventKey) || this.#keyOf(webhook.receiptId) !== undefined) return false;
    const waits = isWaiting(webhook.outcome);
    // What is taken apart is a copy already; to spread it and add to it costs eight times as much.
    const { rawBody, ...kept } = webhook;
    const own = { rawBody: rawBody.toString("latin1"), copies: 0, stray: waits, waits };
    const row: Row = Object.assign(kept, own);
    this.#draft.set(webhook.eventKey, row);
    this.#draftedReceiptIds.set(webhook.receiptId, webhook.eventKey);
    return true;
  }

  addCopies(eventKey: string, count: number): void {
    const row = this.#get(eventKey);
    if (row) this.#draft.set(eventKey, { ...row, copies: row.copies + count });
  }

  rematch({ receiptId, outcome, reason, decidedAt }: Rematched): void {
    const row = this.#get(this.#keyOf(receiptId) ?? "");
    if (!row) return;
    const { reason: _, decidedAt: __, ...rest } = row;
    const waits = isWaiting(outcome);
    this.#draft.set(row.eventKey, {
      ...rest,
      outcome,
      ...(reason !== undefined && { reason }),
      ...(decidedAt !== undefined && { decidedAt }),
      waits,
      stray: waits,
    });
  }

  raise(receiptId: string): void {
    const row = this.#get(this.#keyOf(receiptId) ?? "");
    if (row) this.#draft.set(row.eventKey, { ...row, stray: false });
  }

  dismiss(receiptId: string): void {
    const row = this.#get(this.#keyOf(receiptId) ?? "");
    if (row) this.#draft.set(row.eventKey, { ...row, stray: false, waits: false });
  }

  parked(clientIds: readonly string[]): WebhookRecord[] {
    const eventKeys = clientIds.flatMap((clientId) => [...(this.#parkedOf.get(clientId) ?? [])]);
    const drafted = [...this.#draft.values()].filter(
      ({ clientId, eventKey }) => clientIds.includes(clientId ?? "") && !eventKeys.includes(eventKey),
    );
    return [...eventKeys.map((eventKey) => this.#get(eventKey)!), ...drafted].filter(isParked).map(recordOf);
  }

  stray({ before, limit }: { before: string; limit: number }): WebhookRecord[] {
    const waiting = [...this.#waiting].map((eventKey) => this.#get(eventKey)!);
    const strays = waiting.filter(({ stray, receivedAt }) => stray && receivedAt < before);
    return strays.toSorted(inOrder).slice(0, limit).map(recordOf);
  }

  page({ clientId, receiptId, outcome, from, to, after, limit }: WebhookPage): WebhookRecord[] {
    const rows = clientId === undefined ? [...this.#committed.values()] : this.#ofClientId(clientId);
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
    return this.#ofClientId(clientId)
      .toSorted(inOrder)
      .slice(0, limit)
      .map(({ rawBody: _, stray: __, waits: ___, ...webhook }) => webhook);
  }

  countParked(): number {
    return [...this.#waiting].filter((eventKey) => this.#committed.get(eventKey)!.waits).length;
  }

  /** Forgets raw bytes; the rows stay, so that copies are still recognised. */
  prune(before: string, limit: number): number {
    const final = [...this.#committed.values()].filter(
      ({ waits, receivedAt, rawBody }) => !waits && receivedAt < before && rawBody.length > 0,
    );
    for (const row of final.slice(0, limit)) row.rawBody = "";
    return Math.min(final.length, limit);
  }

  commit(): void {
    for (const [eventKey, row] of this.#draft) {
      this.#committed.set(eventKey, row);
      this.#receiptIds.set(row.receiptId, eventKey);
      if (row.waits) this.#waiting.add(eventKey);
      else if (this.#waiting.size > 0) this.#waiting.delete(eventKey);
      if (isParked(row)) this.#park(row);
      else if (this.#parkedOf.size > 0) this.#parkedOf.get(row.clientId ?? "")?.delete(eventKey);
    }
    this.rollback();
  }

  rollback(): void {
    this.#draft.clear();
    this.#draftedReceiptIds.clear();
  }

  #park({ clientId = "", eventKey }: Row): void {
    const parked = this.#parkedOf.get(clientId);
    if (parked) parked.add(eventKey);
    else this.#parkedOf.set(clientId, new Set([eventKey]));
  }

  /** Looked for and not indexed: a person asks for it, and every webhook would pay. */
  #ofClientId(wanted: string): Row[] {
    return [...this.#committed.values()].filter(({ clientId = "" }) => clientId === wanted);
  }

  #get(eventKey: string): Row | undefined {
    return this.#draft.get(eventKey) ?? this.#committed.get(eventKey);
  }

  #keyOf(receiptId: string): string | undefined {
    return this.#draftedReceiptIds.get(receiptId) ?? this.#receiptIds.get(receiptId);
  }
}

function isParked({ outcome }: Row): boolean {
  return isWaiting(outcome) || outcome === "foreign";
}

function isWaiting(outcome: WebhookRecord["outcome"]): boolean {
  return outcome === "unmatched" || outcome === "unconfirmed";
}

type Position = Pick<WebhookRecord, "receivedAt" | "receiptId">;

function inOrder(a: Position, b: Position): number {
  const [left, right] = [`${a.receivedAt} ${a.receiptId}`, `${b.receivedAt} ${b.receiptId}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

function recordOf({ copies: _, stray: __, waits: ___, ...webhook }: Row): WebhookRecord {
  return { ...webhook, rawBody: Buffer.from(webhook.rawBody, "latin1") };
}
