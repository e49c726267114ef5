import { TillkitError } from "../../errors/index.js";
import { type Payment } from "../../model/payment.js";
import { type LockKeys, type PaymentPage } from "../payment-store.js";

/** A payment as it is committed, and as the transaction that is under way leaves it. */
interface Row {
  readonly clientId: string;
  committed: Payment | undefined;
  draft: Payment | undefined;
  /** All rows of its reference, itself among them. */
  siblings: Row[];
  /** The last selection that took it. */
  selection: number;
}

const none: Row[] = [];

/**
 * Payments as one transaction sees them: its own writes over what is committed. Its rows are in the same maps, with nothing
 * committed in them yet: each of these maps is large, and a look into one costs more than most of what a webhook decides.
 */
export class PaymentsTable {
  readonly #rows = new Map<string, Row>();
  readonly #ofReference = new Map<string, Row[]>();
  readonly #ofServiceId = new Map<string, Row>();
  /** What the transaction wrote, and the service ids that it bound. */
  readonly #drafted: Row[] = [];
  readonly #bound: string[] = [];
  #selections = 0;

  findCommitted(clientId: string): Payment | undefined {
    return this.#rows.get(clientId)?.committed;
  }

  /** The committed payments that the keys name, with all others of their references. */
  selectCommitted(keys: Pick<LockKeys, "clientIds" | "serviceIds">): Payment[] {
    return this.#select(keys, ({ committed }) => committed);
  }

  /** The payments that the keys name, with all others of their references, by clientId. */
  select(keys: LockKeys): Payment[] {
    return this.#select(keys, current).toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1));
  }

  /** False when the clientId, or the reference's one open place, is taken. */
  insert(payment: Payment): boolean {
    const { clientId, reference } = payment;
    if (this.#rows.has(clientId)) return false;
    const siblings = this.#ofReference.get(reference);
    if (payment.open && siblings?.some((row) => current(row)?.open)) return false;
    const row: Row = { clientId, committed: undefined, draft: undefined, siblings: none, selection: 0 };
    this.#write(row, payment);
    this.#rows.set(clientId, row);
    if (siblings) siblings.push(row);
    // Made with its one row in it: a list that is made empty gets room for seventeen.
    row.siblings = siblings ?? [row];
    if (!siblings) this.#ofReference.set(reference, row.siblings);
    return true;
  }

  update(payment: Payment): void {
    const row = this.#rows.get(payment.clientId);
    if (!row) throw conflict(`No payment ${payment.clientId} to update.`);
    if (payment.open && row.siblings.some((other) => other !== row && current(other)?.open)) {
      throw conflict(`${payment.reference} has an open attempt already.`);
    }
    this.#write(row, payment);
  }

  due(before: string, after: { createdAt: string; clientId: string } | undefined, limit: number): Payment[] {
    const position = ({ createdAt, clientId }: { createdAt: string; clientId: string }) =>
      `${createdAt} ${clientId}`;
    return this.#committed()
      .filter(({ state }) => state === "creating" || state === "pending" || state === "uncertain")
      .filter((payment) => payment.createdAt < before && payment.overdueAt === undefined)
      .filter((payment) => !after || position(payment) > position(after))
      .toSorted((a, b) => (position(a) < position(b) ? -1 : 1))
      .slice(0, limit)
      .map((payment) => copyOf(payment));
  }

  lookupDue({ before, limit }: { before: string; limit: number }): Payment[] {
    const position = ({ nextLookupAt, clientId }: Payment) => `${nextLookupAt} ${clientId}`;
    return this.#committed()
      .filter(({ nextLookupAt }) => nextLookupAt !== undefined && nextLookupAt < before)
      .toSorted((a, b) => (position(a) < position(b) ? -1 : 1))
      .slice(0, limit)
      .map((payment) => copyOf(payment));
  }

  list({ state, reference, from, to, after, newestFirst, limit }: PaymentPage): Payment[] {
    const position = ({ createdAt, clientId }: { createdAt: string; clientId: string }) =>
      `${createdAt} ${clientId}`;
    const sign = newestFirst ? -1 : 1;
    const order = (a: string, b: string) => (a < b ? -sign : a > b ? sign : 0);
    return this.#committed()
      .filter((payment) => state === undefined || payment.state === state)
      .filter((payment) => reference === undefined || payment.reference === reference)
      .filter(({ createdAt }) => createdAt >= (from ?? "") && (to === undefined || createdAt < to))
      .filter((payment) => after === undefined || order(position(payment), position(after)) > 0)
      .toSorted((a, b) => order(position(a), position(b)))
      .slice(0, limit)
      .map((payment) => copyOf(payment));
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
    // First, because it may throw: what cannot be copied must leave nothing behind.
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

  #select(keys: LockKeys, as: (row: Row) => Payment | undefined): Payment[] {
    const { clientIds = [], references = [], serviceIds = [] } = keys;
    const selection = ++this.#selections;
    const found: Payment[] = [];
    const take = (rows: readonly Row[]): void => {
      for (const row of rows) {
        if (row.selection === selection) continue;
        row.selection = selection;
        const payment = as(row);
        if (payment) found.push(copyOf(payment));
      }
    };
    for (const reference of references) take(this.#ofReference.get(reference) ?? []);
    for (const clientId of clientIds) {
      const row = this.#rows.get(clientId);
      if (row && as(row)) take(row.siblings);
    }
    for (const serviceId of serviceIds) {
      const row = this.#ofServiceId.get(serviceId);
      // Bound by a transaction that is under way, and asked for by somebody else.
      if (row && as(row)?.serviceId === serviceId) take(row.siblings);
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

/** By hand, because `structuredClone` costs ten times as much, at two places of every webhook. */
export function copyOf(payment: Payment): Payment {
  const { total, metadata } = payment;
  return {
    ...payment,
    total: { ...total },
    ...(metadata !== undefined && { metadata: structuredClone(metadata) }),
  };
}

function conflict(message: string): TillkitError {
  return new TillkitError("store_conflict", message);
}
