import { type Payment } from "../../model/payment.js";
import { type DuePage, type LockKeys, type PaymentPage } from "../contract.js";
import { byCreation, isOnPaymentPage, isUndecided, type PaymentRows } from "../rules/payments.js";
import { Rows } from "./rows.js";

/** Payments by their clientId. */
export class PaymentsTable implements PaymentRows {
  readonly rows = new Rows<Payment>((clientId, before, after) => this.#index(clientId, before, after));
  readonly #ofReference = new Map<string, string[]>();
  readonly #ofServiceId = new Map<string, string>();

  find(clientId: string): Payment | undefined {
    const payment = this.rows.committed(clientId);
    return payment && copyOf(payment);
  }

  /** Returns the committed payments with these keys, and all other payments of their references. */
  findMany({ clientIds = [], serviceIds = [] }: LockKeys): Payment[] {
    const ofServiceIds = serviceIds.flatMap((serviceId) => this.#ofServiceId.get(serviceId) ?? []);
    const named = this.rows
      .committedOf([...clientIds, ...ofServiceIds])
      .filter((one) => clientIds.includes(one.clientId) || serviceIds.includes(one.serviceId!));
    const references = new Set(named.map(({ reference }) => reference));
    const ids = [...references].flatMap((reference) => this.#ofReference.get(reference) ?? []);
    return ids.flatMap((clientId) => this.find(clientId) ?? []);
  }

  /** Returns the payments with these keys, and all other payments of their references, in clientId order. */
  select({ clientIds = [], references = [], serviceIds = [] }: LockKeys): Payment[] {
    const wanted = new Set(references);
    const add = (clientId: string): void => {
      const payment = this.rows.get(clientId);
      if (payment) wanted.add(payment.reference);
    };
    for (const clientId of clientIds) add(clientId);
    for (const serviceId of serviceIds) {
      const clientId = this.#ofServiceId.get(serviceId);
      if (clientId !== undefined) add(clientId);
    }
    const found: Payment[] = [];
    for (const reference of wanted)
      for (const payment of this.attempts(reference)) found.push(copyOf(payment));
    return found.length < 2 ? found : found.toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1));
  }

  attempts(reference: string): Payment[] {
    const ids = this.#ofReference.get(reference);
    return ids ? ids.map((clientId) => this.rows.get(clientId)!) : [];
  }

  hasClientId(clientId: string): boolean {
    return this.rows.get(clientId) !== undefined;
  }

  hasServiceId(serviceId: string): boolean {
    return this.#ofServiceId.has(serviceId);
  }

  put(payment: Payment): void {
    this.rows.put(payment.clientId, copyOf(payment));
  }

  due({ before, after, limit }: DuePage): Payment[] {
    const isDue = (payment: Payment): boolean =>
      isUndecided(payment) &&
      payment.createdAt < before &&
      (after === undefined || byCreation(payment, after) > 0);
    return this.#sorted(isDue, byCreation, limit);
  }

  lookupDue({ before, limit }: { before: string; limit: number }): Payment[] {
    const position = ({ nextLookupAt, clientId }: Payment) => `${nextLookupAt} ${clientId}`;
    return this.#sorted(
      ({ nextLookupAt }) => nextLookupAt !== undefined && nextLookupAt < before,
      (a, b) => (position(a) < position(b) ? -1 : 1),
      limit,
    );
  }

  list(page: PaymentPage): Payment[] {
    const order = page.newestFirst ? (a: Payment, b: Payment) => byCreation(b, a) : byCreation;
    return this.#sorted((payment) => isOnPaymentPage(page, payment), order, page.limit);
  }

  #sorted(
    isWanted: (payment: Payment) => boolean,
    order: (a: Payment, b: Payment) => number,
    limit: number,
  ): Payment[] {
    return this.rows.allCommitted().filter(isWanted).toSorted(order).slice(0, limit).map(copyOf);
  }

  #index(clientId: string, before: Payment | undefined, after: Payment | undefined): void {
    if (before === undefined || after === undefined) {
      const { reference } = (before ?? after)!;
      const ids = this.#ofReference.get(reference);
      if (after === undefined) ids!.splice(ids!.indexOf(clientId), 1);
      else if (ids) ids.push(clientId);
      else this.#ofReference.set(reference, [clientId]);
    }
    if (before?.serviceId === after?.serviceId) return;
    if (before?.serviceId !== undefined && this.#ofServiceId.get(before.serviceId) === clientId)
      this.#ofServiceId.delete(before.serviceId);
    if (after?.serviceId !== undefined) this.#ofServiceId.set(after.serviceId, clientId);
  }
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
