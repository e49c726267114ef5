import { type PaymentReport } from "../event/payment-report.js";
import { type Payment } from "../payment.js";

/** The payments of one transaction, as the decisions so far left them. */
export class Books {
  readonly #payments = new Map<string, Payment>();
  /** clientIds by what else a payment is looked for by; a group may hold a hundred payments. */
  readonly #byReference = new Map<string, string[]>();
  readonly #byServiceId = new Map<string, string[]>();
  readonly #changed = new Set<string>();

  constructor(payments: readonly Payment[]) {
    for (const payment of payments) this.#enter(payment);
  }

  find(clientId: string): Payment | undefined {
    return this.#payments.get(clientId);
  }

  ofReference(reference: string): Payment[] {
    return (this.#byReference.get(reference) ?? []).map((clientId) => this.#payments.get(clientId)!);
  }

  isBoundElsewhere({ clientId, serviceId }: PaymentReport): boolean {
    return this.#byServiceId.get(serviceId)?.some((bound) => bound !== clientId) ?? false;
  }

  write(payment: Payment): void {
    this.#enter(payment);
    this.#changed.add(payment.clientId);
  }

  changed(): Payment[] {
    return [...this.#changed].map((clientId) => this.#payments.get(clientId)!);
  }

  /** A reference and a serviceId never change once they are there. */
  #enter(payment: Payment): void {
    const { clientId, reference, serviceId } = payment;
    this.#payments.set(clientId, payment);
    addTo(this.#byReference, reference, clientId);
    if (serviceId !== undefined) addTo(this.#byServiceId, serviceId, clientId);
  }
}

function addTo(index: Map<string, string[]>, key: string, clientId: string): void {
  const clientIds = index.get(key);
  if (!clientIds) index.set(key, [clientId]);
  else if (!clientIds.includes(clientId)) clientIds.push(clientId);
}
