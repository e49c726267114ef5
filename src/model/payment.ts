/** An amount as the interface document carries it: a decimal string and an alphabetic currency code. */
export interface Money {
  /** Decimal string: `"1475"`, `"10.50"`. Never a float. */
  value: string;
  /** Three capital letters of ISO 4217: `"KMF"`. */
  currency: string;
}

/**
 * Where a payment stands, as the kit knows it.
 *
 * - `creating`: stored, and the creation request is under way.
 * - `pending`: the service knows it; the customer has not paid yet.
 * - `uncertain`: the creation request ended without a usable answer; the payment may exist at the service.
 * - `failed`: the service refused the creation, or reported the payment as failed.
 * - `canceled`: the service reported the payment as canceled.
 * - `completed`: paid. Final: nothing regresses it.
 */
export type PaymentState = "creating" | "pending" | "uncertain" | "failed" | "canceled" | "completed";

/** One attempt to collect one amount. All times are ISO 8601 UTC with milliseconds. */
export interface Payment {
  /** Unique per payment; what reconciles the merchant's system with the service. */
  clientId: string;
  /** The merchant's own order id. One reference can have several payments. */
  reference: string;
  total: Money;
  state: PaymentState;
  /** The last status of the service that was applied, as the service wrote it. */
  status?: string;
  /** Whether this is the attempt that asking again for the reference returns. At most one per reference. */
  open: boolean;
  /** The service's id for the payment; bound once. */
  serviceId?: string;
  /** Where the customer pays (`data.billing.submitUrl`). */
  checkoutUrl?: string;
  /** SHA-256, hex, of the random part of the return addresses; the addresses themselves are not kept. */
  returnKeyHash?: string;
  /** Language tag for the service's messages and the return pages. */
  locale?: string;
  /** The merchant's own notes; handed back with every event. */
  metadata?: Readonly<Record<string, unknown>>;
  createdAt: string;
  updatedAt: string;
  completedAt?: string;
  /** First time the browser came back to the success address. Proves nothing. */
  successReturnedAt?: string;
  /** First time the browser came back to the cancel address. */
  cancelReturnedAt?: string;
  /** The clientId of the attempt that took this one's place. */
  replacedBy?: string;
  /** Code of the error that ended the creation. */
  failure?: string;
  /** When `payment.overdue` was raised. */
  overdueAt?: string;
  /** When the service may next be asked about it; absent once there is nothing more to ask. */
  nextLookupAt?: string;
  /** How often the service was asked about it; absent for never. */
  lookups?: number;
}
