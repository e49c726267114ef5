import { type Payment } from "../../../model/payment.js";
import { type DuePage, type Locked, type LockKeys, type PaymentPage } from "../../contract.js";
import { type KeyRange } from "../../adapter.js";
import { byCreation, isOnPaymentPage, type PaymentRows } from "../../rules/payments.js";
import { type Draft } from "../records/draft.js";
import { after, keyOf, rangeOf } from "../records/keys.js";
import { type KeyedRecords } from "../records/keyed-records.js";
import { handlersKey, orderKey, paymentKey, serviceKey, webhookKey } from "../records/stored-records.js";

/** Locks the named payments and all other payments of their references. Returns the stored eventKeys, too. */
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

/** Returns the keys of the records that {@link paymentRows} reads. */
export function keysOfPayments(payments: readonly Payment[]): string[] {
  return payments.flatMap(({ clientId, reference, serviceId }) => [
    paymentKey(clientId),
    orderKey(reference),
    ...(serviceId === undefined ? [] : [serviceKey(serviceId)]),
  ]);
}

/** Returns the payments of a transaction for `savePayments`. */
export function paymentRows(draft: Draft): PaymentRows {
  return {
    attempts: (reference) => draft.get<Payment[]>(orderKey(reference)) ?? [],
    hasClientId: (clientId) => draft.get(paymentKey(clientId)) !== undefined,
    hasServiceId: (serviceId) => draft.get(serviceKey(serviceId)) !== undefined,
    put(payment, before, others) {
      const { clientId, reference, serviceId } = payment;
      if (serviceId !== before?.serviceId) {
        if (before?.serviceId !== undefined) draft.delete(serviceKey(before.serviceId));
        if (serviceId !== undefined) draft.put(serviceKey(serviceId), reference);
      }
      if (!before) draft.put(paymentKey(clientId), reference);
      draft.put(orderKey(reference), [...others, payment]);
    },
  };
}

/** Reads committed payments. */
export class CommittedPayments {
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
    const { after: last, ...conditions } = page;
    const { state, need, reference, from, to, newestFirst, limit } = page;
    // Without a reference, the index range begins after the last payment, so `after` is not checked again.
    const wanted = reference === undefined ? conditions : page;
    const isWanted = (payment: Payment): boolean => isOnPaymentPage(wanted, payment);
    if (reference !== undefined) {
      const found = (await this.findMany({ references: [reference] })).filter(isWanted).toSorted(byCreation);
      return (newestFirst ? found.toReversed() : found).slice(0, limit);
    }
    const parts =
      need !== undefined
        ? ["needs", need]
        : state === undefined || state === "completed"
          ? ["created"]
          : ["states", state];
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
