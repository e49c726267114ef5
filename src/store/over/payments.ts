import { TillkitError } from "../../errors/index.js";
import { type Payment } from "../../model/payment.js";
import { type DuePage, type Locked, type LockKeys, type PaymentPage } from "../contract.js";
import { type KeyRange } from "../adapter.js";
import { byCreation } from "../rules.js";
import { type Draft } from "./draft.js";
import { after, keyOf, rangeOf } from "./keys.js";
import { type KeyedRecords } from "./keyed-records.js";
import { handlersKey, orderKey, paymentKey, serviceKey, webhookKey } from "./tables.js";

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

/** Returns the keys of the records that {@link savePayments} needs. */
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
    const { before, others } = attemptsOf(draft, payment);
    if (!before) throw conflict(`No payment ${payment.clientId} to update.`);
    if (isSecondOpen(payment, others)) throw conflict(`${payment.reference} has an open attempt already.`);
    write(draft, before, payment, others);
  }
  const taken: string[] = [];
  for (const payment of created) {
    const { others } = attemptsOf(draft, payment);
    const isTaken = draft.get(paymentKey(payment.clientId)) !== undefined;
    if (isTaken || isSecondOpen(payment, others)) taken.push(payment.clientId);
    else write(draft, undefined, payment, others);
  }
  return taken;
}

function isSecondOpen(payment: Payment, others: readonly Payment[]): boolean {
  return payment.open && others.some(({ open }) => open);
}

/** Returns the payment as it was, and the others of its reference. */
function attemptsOf(
  draft: Draft,
  { clientId, reference }: Payment,
): { before: Payment | undefined; others: Payment[] } {
  const all = draft.get<Payment[]>(orderKey(reference)) ?? [];
  return {
    before: all.find((one) => one.clientId === clientId),
    others: all.filter((one) => one.clientId !== clientId),
  };
}

function write(draft: Draft, before: Payment | undefined, payment: Payment, others: Payment[]): void {
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
}

export function conflict(message: string): TillkitError {
  return new TillkitError("store_conflict", message);
}

/** Reads committed payments. */
export class Payments {
  readonly #records: KeyedRecords;

  constructor(records: KeyedRecords) {
    this.#records = records;
  }

  async find(clientId: string): Promise<Payment | undefined> {
    return (await this.findMany({ clientIds: [clientId] })).find((one) => one.clientId === clientId);
  }

  async findMany(keys: LockKeys): Promise<Payment[]> {
    return (await readLocked(this.#records.draft(), keys)).payments;
  }

  due({ before, after: last, limit }: DuePage): Promise<Payment[]> {
    const from = last && { from: after(keyOf("undecided", last.createdAt, last.clientId)) };
    const range = rangeOf(["undecided"], limit, { to: keyOf("undecided", before), ...from });
    return this.#inRange(range, (payment) => payment.overdueAt === undefined);
  }

  lookupDue({ before, limit }: { before: string; limit: number }): Promise<Payment[]> {
    const range = rangeOf(["lookups"], limit, { to: keyOf("lookups", before) });
    return this.#inRange(range, ({ nextLookupAt = before }) => nextLookupAt < before);
  }

  async list(page: PaymentPage): Promise<Payment[]> {
    const { state, reference, providerId, from, to, after: last, newestFirst, limit } = page;
    const isWanted = (payment: Payment): boolean =>
      (state === undefined || payment.state === state) &&
      (reference === undefined || payment.reference === reference) &&
      (providerId === undefined || payment.reported?.providerId === providerId) &&
      payment.createdAt >= (from ?? "") &&
      (to === undefined || payment.createdAt < to) &&
      // Without a reference, the range in the index begins after the last payment.
      (!last || reference === undefined || byCreation(payment, last) * (newestFirst ? -1 : 1) > 0);
    if (reference !== undefined) {
      const found = (await this.findMany({ references: [reference] })).filter(isWanted).toSorted(byCreation);
      return (newestFirst ? found.toReversed() : found).slice(0, limit);
    }
    const parts = state === undefined || state === "completed" ? ["created"] : ["states", state];
    const position = last && keyOf(...parts, last.createdAt, last.clientId);
    const range = rangeOf(parts, limit, {
      reverse: newestFirst,
      ...(from !== undefined && { from: keyOf(...parts, from) }),
      ...(to !== undefined && { to: keyOf(...parts, to) }),
      ...(position !== undefined && (newestFirst ? { to: position } : { from: after(position) })),
    });
    return this.#inRange(range, isWanted);
  }

  #inRange(range: KeyRange, isWanted: (payment: Payment) => boolean): Promise<Payment[]> {
    const draft = this.#records.draft();
    return this.#records.collect<string, Payment>(range, async (references, keys) => {
      await draft.load(references.map(orderKey));
      return references.flatMap((reference, index) => {
        const payments = draft.get<Payment[]>(orderKey(reference)) ?? [];
        const isMeant = ({ clientId }: Payment): boolean => keys[index]!.endsWith(`/${keyOf(clientId)}`);
        return payments.filter((payment) => isMeant(payment) && isWanted(payment));
      });
    });
  }
}
