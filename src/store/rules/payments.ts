import { TillkitError } from "../../errors/index.js";
import { needOfPayment } from "../../model/attention.js";
import { awaitedStates, type Payment } from "../../model/payment.js";
import { type PaymentPage, type PaymentPosition } from "../query-pages.js";

/** The payments of a transaction. */
export interface PaymentRows {
  /** Returns the payments of a reference. */
  attempts(reference: string): readonly Payment[];
  hasClientId(clientId: string): boolean;
  hasServiceId(serviceId: string): boolean;
  /** Writes a payment. `others` are the other payments of its reference. */
  put(payment: Payment, before: Payment | undefined, others: readonly Payment[]): void;
}

/**
 * Writes payments. Skips a new payment if its clientId is stored already, or if it is open and its reference
 * has an open payment. Returns the clientIds of the skipped payments. Throws `store_conflict` for other
 * clashes.
 */
export function savePayments(
  rows: PaymentRows,
  updated: readonly Payment[],
  created: readonly Payment[],
): string[] {
  const othersOf = ({ clientId, reference }: Payment): Payment[] =>
    rows.attempts(reference).filter((one) => one.clientId !== clientId);
  const put = (payment: Payment, before: Payment | undefined, others: readonly Payment[]): void => {
    const { clientId, serviceId } = payment;
    const isNew = serviceId !== undefined && serviceId !== before?.serviceId;
    if (isNew && rows.hasServiceId(serviceId))
      throw conflict(`The service id of ${clientId} is bound to another payment.`);
    rows.put(payment, before, others);
  };
  for (const payment of updated) {
    const { clientId, reference } = payment;
    const before = rows.attempts(reference).find((one) => one.clientId === clientId);
    const others = othersOf(payment);
    if (!before) throw conflict(`No payment ${clientId} to update.`);
    if (isSecondOpen(payment, others)) throw conflict(`${reference} has an open attempt already.`);
    put(payment, before, others);
  }
  const taken: string[] = [];
  for (const payment of created) {
    const others = othersOf(payment);
    if (rows.hasClientId(payment.clientId) || isSecondOpen(payment, others)) taken.push(payment.clientId);
    else put(payment, undefined, others);
  }
  return taken;
}

function isSecondOpen(payment: Payment, others: readonly Payment[]): boolean {
  return payment.open && others.some(({ open }) => open);
}

export function conflict(message: string): TillkitError {
  return new TillkitError("store_conflict", message);
}

/** Returns whether the payment is in an awaited state and has no `overdueAt` yet. */
export function isUndecided({ state, overdueAt }: Payment): boolean {
  return overdueAt === undefined && awaitedStates.includes(state);
}

/** Compares two payments by `createdAt`, then by clientId. */
export function byCreation(a: PaymentPosition, b: PaymentPosition): number {
  const [left, right] = [`${a.createdAt} ${a.clientId}`, `${b.createdAt} ${b.clientId}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns whether a payment matches every condition of a page. */
export function isOnPaymentPage(page: Omit<PaymentPage, "limit">, payment: Payment): boolean {
  const { state, need, reference, providerId, from, to, after, newestFirst } = page;
  return (
    (need === undefined || needOfPayment(payment) === need) &&
    (state === undefined || payment.state === state) &&
    (reference === undefined || payment.reference === reference) &&
    (providerId === undefined || payment.reported?.providerId === providerId) &&
    payment.createdAt >= (from ?? "") &&
    (to === undefined || payment.createdAt < to) &&
    (after === undefined || byCreation(payment, after) * (newestFirst ? -1 : 1) > 0)
  );
}
