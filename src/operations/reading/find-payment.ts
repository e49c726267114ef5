import { type Payment } from "../../model/payment.js";
import { type PaymentStore } from "../../store/index.js";
import { listPayments } from "./list-payments.js";
import { queryError, refuseUnknown } from "./query.js";

/**
 * A key of one payment: its clientId, its service id, or a provider's reference. The reference may be
 * unverified, or only claimed by the customer.
 */
export type PaymentKey = string | { serviceId: string } | { providerId: string };

/**
 * Resolves to the stored payment, or to `undefined`.
 *
 * @throws TillkitError `query_invalid` if the key is not valid, or if several payments have the reference
 */
export async function findPayment<Tx>(
  store: PaymentStore<Tx>,
  key: PaymentKey,
): Promise<Payment | undefined> {
  if (typeof key !== "object") return store.find(key);
  refuseUnknown(key, { serviceId: 1, providerId: 1 });
  const [[name, id] = [], another] = Object.entries(key).filter(([, value]) => value !== undefined);
  if (typeof id !== "string" || id === "" || another)
    throw queryError("Give either the serviceId or the providerId, as a string.");
  if (name === "serviceId") {
    const found = await store.findMany({ serviceIds: [id] });
    return found.find(({ serviceId }) => serviceId === id);
  }
  for (const name of ["providerId", "claimed"] as const) {
    const { payments } = await listPayments(store, { [name]: id, limit: 2 });
    if (payments.length > 1)
      throw queryError(
        `Several payments have the providerId ${id}. payments.list({ ${name} }) returns them.`,
      );
    if (payments[0]) return payments[0];
  }
  return undefined;
}
