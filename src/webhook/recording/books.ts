import { type PaymentReport } from "../../model/payment-report.js";
import { type Payment } from "../../model/payment.js";

/** A payment beside all others of its reference; a group may hold a hundred payments. */
interface Entry {
  payment: Payment;
  isChanged: boolean;
  siblings: Entry[];
}

const none: Entry[] = [];

/** The payments of one transaction, as the decisions so far left them. */
export class Books {
  readonly #entries = new Map<string, Entry>();
  readonly #ofReference = new Map<string, Entry[]>();
  /** clientIds. */
  readonly #byServiceId = new Map<string, string>();
  readonly #changed: Entry[] = [];

  constructor(payments: readonly Payment[]) {
    for (const payment of payments) this.#enter(payment);
  }

  find(clientId: string): Payment | undefined {
    return this.#entries.get(clientId)?.payment;
  }

  /** All payments of this one's reference, itself among them. */
  siblingsOf({ clientId }: Payment): Payment[] {
    return this.#entries.get(clientId)!.siblings.map(({ payment }) => payment);
  }

  isBoundElsewhere({ clientId, serviceId }: PaymentReport): boolean {
    return (this.#byServiceId.get(serviceId) ?? clientId) !== clientId;
  }

  /** A reference never changes, nor a serviceId once it is there. */
  write(payment: Payment): void {
    const entry = this.#entries.get(payment.clientId)!;
    if (entry.payment.serviceId === undefined) this.#bind(payment);
    entry.payment = payment;
    if (!entry.isChanged) this.#changed.push(entry);
    entry.isChanged = true;
  }

  changed(): Payment[] {
    return this.#changed.map(({ payment }) => payment);
  }

  #enter(payment: Payment): void {
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
