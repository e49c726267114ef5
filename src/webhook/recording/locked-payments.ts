import { type PaymentReport } from "../../model/payment-report.js";
import { type Payment } from "../../model/payment.js";

interface Entry {
  payment: Payment;
  isChanged: boolean;
  /** The entries of all payments of this reference, this one included. */
  siblings: Entry[];
}

const none: Entry[] = [];

/** The payments that one transaction has locked, as the decisions made so far have changed them. */
export class LockedPayments {
  readonly #entries = new Map<string, Entry>();
  readonly #ofReference = new Map<string, Entry[]>();
  /** The clientId of the payment that each service id belongs to. */
  readonly #byServiceId = new Map<string, string>();
  readonly #changed: Entry[] = [];

  constructor(payments: readonly Payment[]) {
    for (const payment of payments) this.#add(payment);
  }

  /** Returns the payment, or `undefined` where none with this clientId is locked. */
  find(clientId: string): Payment | undefined {
    return this.#entries.get(clientId)?.payment;
  }

  /** Returns all payments of the same reference, this one included. */
  siblingsOf({ clientId }: Payment): Payment[] {
    return this.#entries.get(clientId)!.siblings.map(({ payment }) => payment);
  }

  /** Returns whether the report's service id belongs to another payment. */
  isBoundElsewhere({ verified: { clientId, id } }: PaymentReport): boolean {
    return (this.#byServiceId.get(id) ?? clientId) !== clientId;
  }

  /** Replaces the payment. Its reference never changes, nor does its service id once it has one. */
  update(payment: Payment): void {
    const entry = this.#entries.get(payment.clientId)!;
    if (entry.payment.serviceId === undefined) this.#bind(payment);
    entry.payment = payment;
    if (!entry.isChanged) this.#changed.push(entry);
    entry.isChanged = true;
  }

  /** Returns the payments that were updated, each once. */
  changed(): Payment[] {
    return this.#changed.map(({ payment }) => payment);
  }

  #add(payment: Payment): void {
    const { clientId, reference } = payment;
    const siblings = this.#ofReference.get(reference);
    const entry: Entry = { payment, isChanged: false, siblings: siblings ?? none };
    if (siblings) siblings.push(entry);
    else this.#ofReference.set(reference, (entry.siblings = [entry]));
    this.#entries.set(clientId, entry);
    this.#bind(payment);
  }

  #bind({ clientId, serviceId }: Payment): void {
    if (serviceId !== undefined) this.#byServiceId.set(serviceId, clientId);
  }
}
