import {
  type Rematched,
  type StoredHistory,
  type WebhookPage,
  type WebhookRecord,
} from "../payment-store.js";

type Optional = "reason" | "clientId" | "status" | "kind" | "decidedAt";

/** `copies` are those after the first; a stray is a waiting webhook that nobody was told of. */
interface Row extends Omit<WebhookRecord, "rawBody" | Optional>, Record<Optional, string | undefined> {
  kind: WebhookRecord["kind"];
  /** Each byte a character: a plain string costs less to keep than a Buffer. */
  rawBody: string;
  copies: number;
  stray: boolean;
  waits: boolean;
  /** A row of the transaction that is under way is in the same maps, which are large: a look into one of them costs. */
  isCommitted: boolean;
}

/** Webhooks as one transaction sees them. */
export class WebhooksTable {
  readonly #rows = new Map<string, Row>();
  readonly #receiptIds = new Map<string, string>();
  /** The eventKeys of webhooks that wait, in the order they came. */
  readonly #waiting = new Set<string>();
  /** The eventKeys of those that a payment which appears later may be about, by clientId, in the order they came. */
  readonly #parkedOf = new Map<string, Set<string>>();
  /** What the transaction inserted, and what it made of rows since. */
  #inserted: Row[] = [];
  readonly #draft = new Map<string, Row>();

  has(eventKey: string): boolean {
    return this.#rows.has(eventKey);
  }

  /** False when the eventKey or the receiptId is taken. */
  insert(webhook: WebhookRecord): boolean {
    const { receiptId, eventKey, outcome, covers, receivedAt, rawBody } = webhook;
    if (this.has(eventKey) || this.#receiptIds.has(receiptId)) return false;
    const waits = isWaiting(outcome);
    // All fields at once, the absent ones as well: an object that is added to is two, and both are kept.
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
    const row = this.#ofReceipt(receiptId);
    if (!row) return;
    const waits = isWaiting(outcome);
    this.#draft.set(row.eventKey, { ...row, outcome, reason, decidedAt, waits, stray: waits });
  }

  raise(receiptId: string): void {
    const row = this.#ofReceipt(receiptId);
    if (row) this.#draft.set(row.eventKey, { ...row, stray: false });
  }

  dismiss(receiptId: string): void {
    const row = this.#ofReceipt(receiptId);
    if (row) this.#draft.set(row.eventKey, { ...row, stray: false, waits: false });
  }

  parked(clientIds: readonly string[]): WebhookRecord[] {
    const committed = clientIds.flatMap((clientId) => [...(this.#parkedOf.get(clientId) ?? [])]);
    const inserted = this.#inserted.map(({ eventKey }) => eventKey);
    const eventKeys = new Set([...committed, ...inserted, ...this.#draft.keys()]);
    const isNamed = ({ clientId }: Row): boolean => clientId !== undefined && clientIds.includes(clientId);
    const rows = [...eventKeys].map((eventKey) => this.#get(eventKey)!);
    return rows.filter(isNamed).filter(isParked).map(recordOf);
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
    return this.#ofClientId(clientId)
      .toSorted(inOrder)
      .slice(0, limit)
      .map((row) => ({ ...factsOf(row), copies: row.copies }));
  }

  countParked(): number {
    return [...this.#waiting].filter((eventKey) => this.#rows.get(eventKey)!.waits).length;
  }

  /** Forgets raw bytes; the rows stay, so that copies are still recognised. */
  prune(before: string, limit: number): number {
    const final = this.#committed().filter(
      ({ waits, receivedAt, rawBody }) => !waits && receivedAt < before && rawBody.length > 0,
    );
    for (const row of final.slice(0, limit)) row.rawBody = "";
    return Math.min(final.length, limit);
  }

  commit(): void {
    for (const row of this.#inserted) {
      row.isCommitted = true;
      if (!this.#draft.has(row.eventKey)) this.#index(row);
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
    const { eventKey, clientId = "" } = row;
    if (row.waits) this.#waiting.add(eventKey);
    else if (this.#waiting.size > 0) this.#waiting.delete(eventKey);
    if (isParked(row)) this.#park(row);
    else if (this.#parkedOf.size > 0) this.#parkedOf.get(clientId)?.delete(eventKey);
  }

  #park({ clientId = "", eventKey }: Row): void {
    const parked = this.#parkedOf.get(clientId);
    if (parked) parked.add(eventKey);
    else this.#parkedOf.set(clientId, new Set([eventKey]));
  }

  /** Looked for and not indexed: a person asks for it, and every webhook would pay. */
  #ofClientId(wanted: string): Row[] {
    return this.#committed().filter(({ clientId = "" }) => clientId === wanted);
  }

  #committed(): Row[] {
    return [...this.#rows.values()].filter(({ isCommitted }) => isCommitted);
  }

  #get(eventKey: string): Row | undefined {
    return this.#draft.get(eventKey) ?? this.#rows.get(eventKey);
  }

  #ofReceipt(receiptId: string): Row | undefined {
    const eventKey = this.#receiptIds.get(receiptId);
    return eventKey === undefined ? undefined : this.#get(eventKey);
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

function copyOf(covers: WebhookRecord["covers"]): WebhookRecord["covers"] {
  return covers === "body" ? covers : [...covers];
}

function recordOf(row: Row): WebhookRecord {
  return { ...factsOf(row), rawBody: Buffer.from(row.rawBody, "latin1") };
}

/** Everything but the bytes; what is absent has no key. */
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
