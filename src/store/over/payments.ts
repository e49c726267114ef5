import { TillkitError } from "../../errors/index.js";
import { awaitedStates, type Payment } from "../../model/payment.js";
import { type LockKeys, type Locked, type PaymentPosition } from "../contract.js";
import { type Draft } from "./draft.js";
import { keyOf } from "./keys.js";

/**
 * All payments of one reference are one record, so that two attempts of an order cannot be changed at the same time. Other records
 * lead from a clientId and from a service id to the reference.
 */
export const orderKey = (reference: string): string => keyOf("orders", reference);
const paymentKey = (clientId: string): string => keyOf("payments", clientId);
const serviceKey = (serviceId: string): string => keyOf("services", serviceId);
export const handlersKey = "handlers";
export const webhookKey = (eventKey: string): string => keyOf("webhooks", eventKey);

/** Loads what the keys name: the payments with all others of their references, and the given eventKeys. */
export async function readLocked(draft: Draft, keys: LockKeys): Promise<Locked> {
  const { clientIds = [], references = [], serviceIds = [], eventKeys = [] } = keys;
  const pointers = [...clientIds.map(paymentKey), ...serviceIds.map(serviceKey)];
  const orders = references.map(orderKey);
  await draft.load([...pointers, ...orders, ...eventKeys.map(webhookKey), handlersKey]);
  const found = pointers.flatMap((key) => draft.get<string>(key) ?? []);
  const wanted = new Set([...orders, ...found.map(orderKey)]);
  await draft.lock(wanted);
  const payments = [...wanted].flatMap((key) => draft.get<Payment[]>(key) ?? []);
  return {
    payments: payments.toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1)),
    eventKeys: [...new Set(eventKeys)].filter((eventKey) => draft.get(webhookKey(eventKey)) !== undefined),
  };
}

/** Loads what {@link savePayments} needs. */
export function keysOfPayments(payments: readonly Payment[]): string[] {
  return payments.flatMap(({ clientId, reference, serviceId }) => [
    paymentKey(clientId),
    orderKey(reference),
    ...(serviceId === undefined ? [] : [serviceKey(serviceId)]),
  ]);
}

/** Writes payments. Returns the clientIds of those that were not created, because their clientId or open reference is taken. */
export function savePayments(
  draft: Draft,
  updated: readonly Payment[],
  created: readonly Payment[],
): string[] {
  for (const payment of updated) {
    const others = othersOf(draft, payment);
    const before = draft.get<Payment[]>(orderKey(payment.reference))?.find((one) => isSame(one, payment));
    if (!before) throw conflict(`No payment ${payment.clientId} to update.`);
    if (payment.open && others.some(({ open }) => open))
      throw conflict(`${payment.reference} has an open attempt already.`);
    write(draft, before, payment, others);
  }
  const taken: string[] = [];
  for (const payment of created) {
    const others = othersOf(draft, payment);
    const isTaken = draft.get(paymentKey(payment.clientId)) !== undefined;
    if (isTaken || (payment.open && others.some(({ open }) => open))) taken.push(payment.clientId);
    else write(draft, undefined, payment, others);
  }
  return taken;
}

function write(
  draft: Draft,
  before: Payment | undefined,
  payment: Payment,
  others: readonly Payment[],
): void {
  const { clientId, reference, serviceId } = payment;
  if (serviceId !== before?.serviceId) {
    if (before?.serviceId !== undefined) draft.delete(serviceKey(before.serviceId));
    if (serviceId !== undefined) {
      if (draft.get(serviceKey(serviceId)) !== undefined)
        throw conflict(`The service id of ${clientId} is bound to another payment.`);
      draft.put(serviceKey(serviceId), reference);
    }
  }
  if (!before) draft.put(paymentKey(clientId), reference);
  draft.put(orderKey(reference), [...others, payment]);
  draft.index(before ? indexesOf(before) : {}, indexesOf(payment));
}

function othersOf(draft: Draft, payment: Payment): Payment[] {
  const all = draft.get<Payment[]>(orderKey(payment.reference)) ?? [];
  return all.filter((one) => !isSame(one, payment));
}

/** Returns the index entries of a payment. Each leads to its reference. */
function indexesOf({ clientId, reference, state, createdAt, overdueAt, nextLookupAt }: Payment) {
  return {
    [keyOf("created", createdAt, clientId)]: reference,
    // Most payments are completed: an index of these would be another one of all.
    ...(state !== "completed" && { [keyOf("states", state, createdAt, clientId)]: reference }),
    ...(awaitedStates.includes(state) &&
      overdueAt === undefined && { [keyOf("undecided", createdAt, clientId)]: reference }),
    ...(nextLookupAt !== undefined && { [keyOf("lookups", nextLookupAt, clientId)]: reference }),
  };
}

export function inOrder(a: PaymentPosition, b: PaymentPosition): number {
  const [left, right] = [`${a.createdAt} ${a.clientId}`, `${b.createdAt} ${b.clientId}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

function isSame(a: Payment, b: Payment): boolean {
  return a.clientId === b.clientId;
}

export function conflict(message: string): TillkitError {
  return new TillkitError("store_conflict", message);
}
