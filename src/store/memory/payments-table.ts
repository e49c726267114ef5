import { TillkitError } from "../../errors/index.js";
import { type Payment } from "../../payment.js";
import { type LockKeys, type PaymentPage } from "../payment-store.js";

/** A payment as the transaction leaves it, and as it found it. */
interface Drafted {
  payment: Payment;
  before: Payment | undefined;
}

/**
 * Payments as one transaction sees them: its own writes over what is committed. An index is only written where its column
 * changed: each of these maps is large, and touching one costs more than all that a webhook decides.
 */
export class PaymentsTable {
  readonly #committed = new Map<string, Payment>();
  readonly #byReference = new Map<string, string[]>();
  readonly #byServiceId = new Map<string, string>();
  readonly #openOf = new Map<string, string>();
  readonly #draft = new Map<string, Drafted>();
  /** What the transaction created or opened, by reference. */
  readonly #draftedOf = new Map<string, string[]>();
  readonly #draftedServiceIds = new Map<string, string>();

  findCommitted(clientId: string): Payment | undefined {
    return this.#committed.get(clientId);
  }

  /** The committed payments that the keys name, with all others of their references. */
  selectCommitted({ clientIds = [], serviceIds = [] }: LockKeys): Payment[] {
    const named = [...clientIds, ...serviceIds.map((id) => this.#byServiceId.get(id) ?? "")];
    const references = new Set(named.map((id) => this.#committed.get(id)?.reference));
    return [...references]
      .flatMap((reference) => [...(this.#byReference.get(reference ?? "") ?? [])])
      .map((clientId) => structuredClone(this.#committed.get(clientId)!));
  }

  /** The payments that the keys name, with all others of their references, by clientId. */
  select({ clientIds = [], references = [], serviceIds = [] }: LockKeys): Payment[] {
    const wanted = new Set(references);
    for (const clientId of clientIds) addDefined(wanted, this.#get(clientId)?.reference);
    for (const serviceId of serviceIds) addDefined(wanted, this.#ofServiceId(serviceId)?.reference);
    const found = [...wanted].flatMap((reference) => this.#ofReference(reference));
    return found.toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1)).map((payment) => copyOf(payment));
  }

  /** False when the clientId, or the reference's one open place, is taken. */
  insert(payment: Payment): boolean {
    if (this.#get(payment.clientId)) return false;
    if (payment.open && this.#openHolder(payment.reference)) return false;
    this.#write(payment, undefined);
    return true;
  }

  update(payment: Payment): void {
    const current = this.#get(payment.clientId);
    if (!current) throw conflict(`No payment ${payment.clientId} to update.`);
    const holder = payment.open ? this.#openHolder(payment.reference) : undefined;
    if (holder && holder.clientId !== payment.clientId) {
      throw conflict(`${payment.reference} has an open attempt already.`);
    }
    this.#write(payment, current);
  }

  due(before: string, after: { createdAt: string; clientId: string } | undefined, limit: number): Payment[] {
    const position = ({ createdAt, clientId }: { createdAt: string; clientId: string }) =>
      `${createdAt} ${clientId}`;
    return [...this.#committed.values()]
      .filter(({ state }) => state === "creating" || state === "pending" || state === "uncertain")
      .filter((payment) => payment.createdAt < before && payment.overdueAt === undefined)
      .filter((payment) => !after || position(payment) > position(after))
      .toSorted((a, b) => (position(a) < position(b) ? -1 : 1))
      .slice(0, limit)
      .map((payment) => copyOf(payment));
  }

  lookupDue({ before, limit }: { before: string; limit: number }): Payment[] {
    const position = ({ nextLookupAt, clientId }: Payment) => `${nextLookupAt} ${clientId}`;
    return [...this.#committed.values()]
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
    return [...this.#committed.values()]
      .filter((payment) => state === undefined || payment.state === state)
      .filter((payment) => reference === undefined || payment.reference === reference)
      .filter(({ createdAt }) => createdAt >= (from ?? "") && (to === undefined || createdAt < to))
      .filter((payment) => after === undefined || order(position(payment), position(after)) > 0)
      .toSorted((a, b) => order(position(a), position(b)))
      .slice(0, limit)
      .map((payment) => copyOf(payment));
  }

  commit(): void {
    for (const { payment, before } of this.#draft.values()) {
      const { clientId, reference, serviceId, open } = payment;
      this.#committed.set(clientId, payment);
      if (reference !== before?.reference) addTo(this.#byReference, reference, clientId);
      if (serviceId !== undefined && serviceId !== before?.serviceId)
        this.#byServiceId.set(serviceId, clientId);
      if (open) this.#openOf.set(reference, clientId);
      else if (before?.open && this.#openOf.get(reference) === clientId) this.#openOf.delete(reference);
    }
    this.rollback();
  }

  rollback(): void {
    this.#draft.clear();
    this.#draftedOf.clear();
    this.#draftedServiceIds.clear();
  }

  #write(payment: Payment, current: Payment | undefined): void {
    const { clientId, reference, serviceId, open } = payment;
    if (serviceId !== undefined && serviceId !== current?.serviceId) {
      const holder = this.#ofServiceId(serviceId);
      if (holder && holder.clientId !== clientId)
        throw conflict(`The service id of ${clientId} is bound to ${holder.clientId}.`);
      this.#draftedServiceIds.set(serviceId, clientId);
    }
    const drafted = this.#draft.get(clientId);
    const before = drafted ? drafted.before : current;
    this.#draft.set(clientId, { payment: copyOf(payment), before });
    if (reference !== before?.reference || (open && !before.open))
      addTo(this.#draftedOf, reference, clientId);
  }

  #get(clientId: string): Payment | undefined {
    return this.#draft.get(clientId)?.payment ?? this.#committed.get(clientId);
  }

  #ofReference(reference: string): Payment[] {
    const committed = this.#byReference.get(reference) ?? [];
    const drafted = this.#draftedOf.get(reference)?.filter((clientId) => !committed.includes(clientId)) ?? [];
    return [...committed, ...drafted].map((clientId) => this.#get(clientId)!);
  }

  #ofServiceId(serviceId: string): Payment | undefined {
    const clientId = this.#draftedServiceIds.get(serviceId) ?? this.#byServiceId.get(serviceId);
    return clientId === undefined ? undefined : this.#get(clientId);
  }

  #openHolder(reference: string): Payment | undefined {
    for (const clientId of this.#draftedOf.get(reference) ?? []) {
      const drafted = this.#get(clientId)!;
      if (drafted.open) return drafted;
    }
    const clientId = this.#openOf.get(reference);
    const holder = clientId === undefined ? undefined : this.#get(clientId);
    return holder?.open ? holder : undefined;
  }
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

function addTo(index: Map<string, string[]>, key: string, clientId: string): void {
  const clientIds = index.get(key);
  if (!clientIds) index.set(key, [clientId]);
  else if (!clientIds.includes(clientId)) clientIds.push(clientId);
}

function addDefined<T>(set: Set<T>, value: T | undefined): void {
  if (value !== undefined) set.add(value);
}

function conflict(message: string): TillkitError {
  return new TillkitError("store_conflict", message);
}
