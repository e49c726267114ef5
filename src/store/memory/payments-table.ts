import { TillkitError } from "../../errors/index.js";
import { awaitedStates, type Payment } from "../../model/payment.js";
import { type DuePage, type LockKeys, type PaymentPage, type PaymentPosition } from "../contract.js";

/** A payment as it is committed, and as the current transaction has written it. */
interface Row {
  readonly clientId: string;
  committed: Payment | undefined;
  draft: Payment | undefined;
  /** All rows of its reference, this one included. */
  siblings: Row[];
}

/**
 * Payments as one transaction sees them: its own writes over what is committed. The rows that it inserts are in the
 * same maps, with nothing committed in them yet, because every look into a second large map would cost time.
 */
export class PaymentsTable {
  readonly #rows = new Map<string, Row>();
  readonly #ofReference = new Map<string, Row[]>();
  readonly #ofServiceId = new Map<string, Row>();
  /** The rows that the transaction wrote. */
  readonly #drafted: Row[] = [];
  /** The service ids that the transaction bound. */
  readonly #bound: string[] = [];

  find(clientId: string): Payment | undefined {
    const payment = this.#rows.get(clientId)?.committed;
    return payment && copyOf(payment);
  }

  /** Returns the committed payments that the keys name, and all others of their references. */
  findMany(keys: Pick<LockKeys, "clientIds" | "serviceIds">): Payment[] {
    return this.#select(keys, ({ committed }) => committed);
  }

  /** Returns the payments that the keys name, and all others of their references, in clientId order. */
  select(keys: LockKeys): Payment[] {
    return this.#select(keys, current).toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1));
  }

  /** Returns `false` when the clientId is taken, or when the reference has an open payment already. */
  insert(payment: Payment): boolean {
    const { clientId, reference } = payment;
    if (this.#rows.has(clientId)) return false;
    const siblings = this.#ofReference.get(reference);
    if (payment.open && siblings?.some((row) => current(row)?.open)) return false;
    const row: Row = { clientId, committed: undefined, draft: undefined, siblings: [] };
    this.#write(row, payment);
    this.#rows.set(clientId, row);
    if (siblings) siblings.push(row);
    // A list that begins with its row takes less memory than one that begins empty.
    row.siblings = siblings ?? [row];
    if (!siblings) this.#ofReference.set(reference, row.siblings);
    return true;
  }

  update(payment: Payment): void {
    const row = this.#rows.get(payment.clientId);
    if (!row) throw conflict(`No payment ${payment.clientId} to update.`);
    if (payment.open && row.siblings.some((other) => other !== row && current(other)?.open))
      throw conflict(`${payment.reference} has an open attempt already.`);
    this.#write(row, payment);
  }

  due({ before, after, limit }: DuePage): Payment[] {
    return this.#committed()
      .filter(({ state }) => awaitedStates.includes(state))
      .filter((payment) => payment.createdAt < before && payment.overdueAt === undefined)
      .filter((payment) => after === undefined || inOrder(payment, after) > 0)
      .toSorted(inOrder)
      .slice(0, limit)
      .map(copyOf);
  }

  lookupDue({ before, limit }: { before: string; limit: number }): Payment[] {
    const position = ({ nextLookupAt, clientId }: Payment) => `${nextLookupAt} ${clientId}`;
    return this.#committed()
      .filter(({ nextLookupAt }) => nextLookupAt !== undefined && nextLookupAt < before)
      .toSorted((a, b) => (position(a) < position(b) ? -1 : 1))
      .slice(0, limit)
      .map(copyOf);
  }

  list({ state, reference, providerId, from, to, after, newestFirst, limit }: PaymentPage): Payment[] {
    const order = (a: PaymentPosition, b: PaymentPosition) => (newestFirst ? inOrder(b, a) : inOrder(a, b));
    return this.#committed()
      .filter((payment) => state === undefined || payment.state === state)
      .filter((payment) => reference === undefined || payment.reference === reference)
      .filter(({ reported }) => providerId === undefined || reported?.providerId === providerId)
      .filter(({ createdAt }) => createdAt >= (from ?? "") && (to === undefined || createdAt < to))
      .filter((payment) => after === undefined || order(payment, after) > 0)
      .toSorted(order)
      .slice(0, limit)
      .map(copyOf);
  }

  commit(): void {
    for (const row of this.#drafted) {
      row.committed = row.draft;
      row.draft = undefined;
    }
    for (const serviceId of this.#bound) {
      const isGivenUp = this.#ofServiceId.get(serviceId)?.committed?.serviceId !== serviceId;
      if (isGivenUp) this.#ofServiceId.delete(serviceId);
    }
    this.#forget();
  }

  rollback(): void {
    for (const serviceId of this.#bound) this.#ofServiceId.delete(serviceId);
    for (const row of this.#drafted) {
      const { reference } = row.draft!;
      row.draft = undefined;
      if (row.committed) continue;
      this.#rows.delete(row.clientId);
      row.siblings.splice(row.siblings.indexOf(row), 1);
      if (row.siblings.length === 0) this.#ofReference.delete(reference);
    }
    this.#forget();
  }

  #forget(): void {
    this.#drafted.length = 0;
    this.#bound.length = 0;
  }

  #write(row: Row, payment: Payment): void {
    // First, because it throws where the payment cannot be copied, and must then leave nothing behind.
    const draft = copyOf(payment);
    const { serviceId } = draft;
    if (serviceId !== undefined && serviceId !== current(row)?.serviceId) this.#bind(row, serviceId);
    if (!row.draft) this.#drafted.push(row);
    row.draft = draft;
  }

  #bind(row: Row, serviceId: string): void {
    const holder = this.#ofServiceId.get(serviceId);
    if (holder === row) return;
    if (holder) throw conflict(`The service id of ${row.clientId} is bound to ${holder.clientId}.`);
    this.#ofServiceId.set(serviceId, row);
    this.#bound.push(serviceId);
  }

  /** Returns what `read` finds in the rows that the keys name and in their siblings. */
  #select(keys: LockKeys, read: (row: Row) => Payment | undefined): Payment[] {
    const { clientIds = [], references = [], serviceIds = [] } = keys;
    const rows = new Set<Row>();
    const add = (siblings: readonly Row[] = []): void => {
      for (const row of siblings) rows.add(row);
    };
    for (const reference of references) add(this.#ofReference.get(reference));
    for (const clientId of clientIds) {
      const row = this.#rows.get(clientId);
      if (row && read(row)) add(row.siblings);
    }
    for (const serviceId of serviceIds) {
      const row = this.#ofServiceId.get(serviceId);
      // The current transaction may have bound it, or given it up.
      if (row && read(row)?.serviceId === serviceId) add(row.siblings);
    }
    const found: Payment[] = [];
    for (const row of rows) {
      const payment = read(row);
      if (payment) found.push(copyOf(payment));
    }
    return found;
  }

  #committed(): Payment[] {
    return [...this.#rows.values()].flatMap(({ committed }) => committed ?? []);
  }
}

function current({ draft, committed }: Row): Payment | undefined {
  return draft ?? committed;
}

/** Returns a copy. Copies field by field, because `structuredClone` is much slower. */
function copyOf(payment: Payment): Payment {
  const { total, metadata, reported, service } = payment;
  return {
    ...payment,
    total: { ...total },
    ...(metadata !== undefined && { metadata: structuredClone(metadata) }),
    ...(reported && { reported: { ...reported, verified: [...reported.verified] } }),
    ...(service && { service: { ...service } }),
  };
}

function inOrder(a: PaymentPosition, b: PaymentPosition): number {
  const [left, right] = [`${a.createdAt} ${a.clientId}`, `${b.createdAt} ${b.clientId}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

function conflict(message: string): TillkitError {
  return new TillkitError("store_conflict", message);
}
