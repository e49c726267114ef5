import { type Payment } from "../model/payment.js";
import { type PaymentStore } from "../store/payment-store.js";
import { type Named } from "./compare-row.js";

/** Payments of the books by every name that a row may have for them. */
export class Lookup {
  readonly #byClientId = new Map<string, Payment>();
  readonly #byServiceId = new Map<string, Payment>();
  readonly #byReference = new Map<string, Payment[]>();

  constructor(payments: readonly Payment[]) {
    for (const payment of payments) {
      if (this.#byClientId.has(payment.clientId)) continue;
      this.#byClientId.set(payment.clientId, payment);
      if (payment.serviceId !== undefined) this.#byServiceId.set(payment.serviceId, payment);
      const siblings = this.#byReference.get(payment.reference);
      if (siblings) siblings.push(payment);
      else this.#byReference.set(payment.reference, [payment]);
    }
  }

  named({ clientId, serviceId }: Ids): Named {
    return {
      byClientId: clientId ? this.#byClientId.get(clientId) : undefined,
      byServiceId: serviceId ? this.#byServiceId.get(serviceId) : undefined,
    };
  }

  /** All payments of a reference. */
  ofReference(reference: string): readonly Payment[] {
    return this.#byReference.get(reference) ?? [];
  }
}

interface Ids {
  clientId?: string | undefined;
  serviceId?: string | undefined;
}

/** Asks the books about a batch of rows: once by clientId, and once more for what that did not find. */
export async function lookUp(store: PaymentStore, rows: readonly Ids[]): Promise<Lookup> {
  const clientIds = distinct(rows.map(({ clientId }) => clientId));
  const found = clientIds.length > 0 ? await findMany(store, { clientIds }) : [];
  const known = new Set(found.map(({ clientId }) => clientId));
  const left = rows.filter(({ clientId }) => !clientId || !known.has(clientId));
  const serviceIds = distinct(left.map(({ serviceId }) => serviceId));
  if (serviceIds.length > 0) found.push(...(await findMany(store, { serviceIds })));
  return new Lookup(found);
}

async function findMany(
  store: PaymentStore,
  keys: { clientIds?: readonly string[]; serviceIds?: readonly string[] },
): Promise<Payment[]> {
  if (store.findMany) return [...(await store.findMany(keys))];
  // The contract's only other way to several payments; the locks are gone when it resolves.
  return store.transaction(async (tx) => [...(await store.lock(tx, keys)).payments]);
}

function distinct(ids: readonly (string | undefined)[]): string[] {
  return [...new Set(ids.filter((id) => id !== undefined && id !== ""))] as string[];
}
