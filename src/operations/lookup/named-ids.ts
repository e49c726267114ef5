import { type Payment } from "../../model/payment.js";
import { type PaymentStore } from "../../store/index.js";
import { readStored } from "../../webhook/recording/rematch.js";

/** The maximum number of service ids, named by webhooks, that one lookup asks about. */
const maxNamedIds = 3;

/** Returns the service ids in unconfirmed webhooks of payments without a service id, by clientId. */
export async function findNamedIds<Tx>(
  store: PaymentStore<Tx>,
  tx: Tx,
  payments: readonly Payment[],
): Promise<ReadonlyMap<string, string[]>> {
  const named = new Map<string, string[]>();
  const unbound = payments.filter(({ serviceId }) => serviceId === undefined);
  if (unbound.length === 0) return named;
  const clientIds = unbound.map(({ clientId }) => clientId);
  for (const webhook of await store.rematchable(tx, clientIds)) {
    const message = readStored(webhook);
    if (webhook.outcome !== "unconfirmed" || message.kind !== "payment") continue;
    const { clientId, id } = message.verified;
    const ids = named.get(clientId) ?? [];
    if (!ids.includes(id) && ids.length < maxNamedIds) named.set(clientId, [...ids, id]);
  }
  return named;
}
