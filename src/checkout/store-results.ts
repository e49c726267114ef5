import { type ErrorCode } from "../errors/index.js";
import { type Payment } from "../model/payment.js";
import { isFarther, stateOf } from "../model/status-order.js";
import { type ServicePayment } from "../service/index.js";
import { type IntentParts } from "./store-intents.js";

/** The result of a creation: the answer of the service, or an error. */
export type CreationResult = { clientId: string } & (
  | { answer: ServicePayment; error?: never }
  | { answer?: never; error: { code: ErrorCode; certainty?: "failed" | "uncertain" } }
);

/**
 * Stores results in one transaction. Returns for each result whether it was stored. An answer is not stored
 * if its service id belongs to another payment, or if the payment already has another service id.
 */
export async function storeResults<Tx>(
  { store, now }: Pick<IntentParts<Tx>, "store" | "now">,
  results: readonly CreationResult[],
): Promise<boolean[]> {
  const clientIds = results.map(({ clientId }) => clientId);
  const serviceIds = [...new Set(results.flatMap(({ answer }) => answer?.serviceId ?? []))];
  let stored: boolean[] = [];
  await store.record({ clientIds, serviceIds }, ({ payments }) => {
    const updatedAt = now().toISOString();
    const latest = new Map(payments.map((payment) => [payment.clientId, payment]));
    const updated: Payment[] = [];
    stored = results.map(({ clientId, answer, error }) => {
      const current = latest.get(clientId)!;
      if (answer && !mayBind(current, answer, latest.values())) return false;
      const ended = answer ? answered(current, answer, updatedAt) : failed(current, error, updatedAt);
      latest.set(clientId, ended);
      updated.push(ended);
      return true;
    });
    return { updated };
  });
  return stored;
}

/** Returns whether the payment has the service id of the answer, or can get it. */
function mayBind(
  { clientId, serviceId: own }: Payment,
  { serviceId }: ServicePayment,
  payments: Iterable<Payment>,
): boolean {
  const isTaken = [...payments].some((other) => other.serviceId === serviceId && other.clientId !== clientId);
  return !isTaken && (own ?? serviceId) === serviceId;
}

/** Returns whether the creation has no result yet. A replaced payment without a result is `uncertain`. */
function isUnanswered({ state }: Payment): boolean {
  return state === "creating" || state === "uncertain";
}

function answered(
  current: Payment,
  { serviceId, checkoutUrl, status, captured, createdAt }: ServicePayment,
  updatedAt: string,
): Payment {
  // If a webhook arrived before the answer, the state from the webhook stays. An answer never ends a payment.
  const state = isUnanswered(current) ? "pending" : current.state;
  const isNewer = stateOf(status) === "pending" && isFarther(status, current.status);
  const updated = { ...current, ...(isNewer && { status }), state, serviceId, checkoutUrl, updatedAt };
  updated.reported ??= {
    status,
    ...(captured !== undefined && { captured }),
    at: updatedAt,
    verified: captured === undefined ? ["status"] : ["status", "captured"],
  };
  if (createdAt !== undefined) updated.service = { ...current.service, createdAt };
  return updated;
}

/**
 * Returns the payment as `failed` if the service certainly has no payment, or as `uncertain` if the result is
 * unknown. A webhook can still match an uncertain payment. If a webhook has changed the state already, the
 * state stays.
 */
function failed(current: Payment, error: NonNullable<CreationResult["error"]>, updatedAt: string): Payment {
  const state = isUnanswered(current) ? (error.certainty ?? "uncertain") : current.state;
  const ended: Payment = { ...current, state, open: false, failure: error.code, updatedAt };
  // The service cannot be asked about a payment that it never made.
  if (state === "failed") delete ended.nextLookupAt;
  return ended;
}
