import { hasCode, TillkitError } from "../errors/index.js";
import { checkPaymentRequest, plainMetadata, type PaymentRequest } from "../checkout/payment-request.js";
import { type Payment } from "../model/payment.js";
import { sameValue } from "../model/money.js";
import { type PaymentStore } from "../store/index.js";

/** A payment that other code created at the service. */
export interface Adoption extends Pick<PaymentRequest, "reference" | "total" | "metadata"> {
  /** As that code gave it to the service: 1 to 64 characters of A-Z a-z 0-9 . _ : -, with any prefix. */
  clientId: string;
  /** The service's id, where it is known; otherwise the first webhook binds it. */
  serviceId?: string | undefined;
}

/** A payment that was taken over. */
export interface AdoptedPayment {
  /** As it stands now: completed, if a webhook that had come before says so. */
  payment: Payment;
  /** False where the store had it already. */
  adopted: boolean;
}

/** What adopting needs. */
export interface Adopting<Tx> {
  store: PaymentStore<Tx>;
  now: () => Date;
  ready: () => Promise<void>;
  /** Decides webhooks that came before their payment was known. */
  rematch: (clientIds: readonly string[]) => Promise<void>;
}

/** Another call stored something in between; look again. */
class Outrun extends Error {}

/** How often to look again before a clash is given out as it is. */
const mostTries = 5;

/**
 * Takes a payment into the store that other code created at the service. It is not open: no checkout address of it is
 * known, so the next `create` of its reference makes a new attempt. Doing it again with the same facts changes nothing.
 */
export async function adoptPayment<Tx>(kit: Adopting<Tx>, adoption: Adoption): Promise<AdoptedPayment> {
  checkAdoption(adoption);
  await kit.ready();
  const adopted = await storeAdopted(kit, adoption);
  // Also where the store had it: a crash may have come between the two.
  await kit.rematch([adoption.clientId]);
  return { payment: (await kit.store.find(adoption.clientId))!, adopted };
}

async function storeAdopted<Tx>(kit: Adopting<Tx>, adoption: Adoption): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      return await storeOnce(kit, adoption);
    } catch (error) {
      const isClash = error instanceof Outrun || hasCode(error, "store_conflict");
      if (!isClash || tries === mostTries) throw error;
    }
  }
}

async function storeOnce<Tx>({ store, now }: Adopting<Tx>, adoption: Adoption): Promise<boolean> {
  const { clientId, serviceId, reference, total, metadata } = adoption;
  return store.transaction(async (tx) => {
    const serviceIds = serviceId === undefined ? [] : [serviceId];
    const { payments } = await store.lock(tx, { clientIds: [clientId], serviceIds });
    const stored = payments.find((payment) => payment.clientId === clientId);
    const holder = payments.find((payment) => serviceId !== undefined && payment.serviceId === serviceId);
    if (stored) refuseConflict(stored, adoption);
    if (holder && holder.clientId !== clientId)
      throw new TillkitError(
        "service_id_taken",
        `The service id ${serviceId} belongs to the payment ${holder.clientId}.`,
      );

    const at = now().toISOString();
    if (stored && (serviceId === undefined || stored.serviceId !== undefined)) return false;
    if (stored) {
      await store.save(tx, { updated: [{ ...stored, serviceId: serviceId!, updatedAt: at }] });
      return false;
    }
    const payment: Payment = {
      clientId,
      reference,
      total: { value: total.value, currency: total.currency },
      state: "pending",
      open: false,
      ...(serviceId !== undefined && { serviceId }),
      ...(metadata !== undefined && { metadata: plainMetadata(metadata) }),
      createdAt: at,
      updatedAt: at,
      // Its webhooks may be long gone.
      nextLookupAt: at,
    };
    const { takenClientIds } = await store.save(tx, { created: [payment] });
    if (takenClientIds.length > 0) throw new Outrun();
    return true;
  });
}

function checkAdoption({ clientId, serviceId, reference, total, metadata }: Adoption): void {
  // Required here, where `create` would make one.
  checkPaymentRequest({ reference, total, metadata, clientId: clientId ?? "" });
  const isId = typeof serviceId === "string" && /^[^\p{Cc}\p{Cs}]{1,128}$/u.test(serviceId);
  if (serviceId !== undefined && !isId)
    throw new TillkitError("service_id_invalid", "serviceId must be text of 1 to 128 characters.");
}

function refuseConflict(stored: Payment, { clientId, serviceId, reference, total }: Adoption): void {
  const differs = [
    ...(stored.reference === reference ? [] : [`the reference ${stored.reference}`]),
    ...(sameValue(stored.total.value, total.value) && stored.total.currency === total.currency
      ? []
      : [`the total ${stored.total.value} ${stored.total.currency}`]),
    ...(serviceId === undefined || (stored.serviceId ?? serviceId) === serviceId
      ? []
      : [`the service id ${stored.serviceId}`]),
  ];
  if (differs.length === 0) return;
  throw new TillkitError("adoption_conflict", `The store has ${clientId} with ${differs.join(" and ")}.`);
}
