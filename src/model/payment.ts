/** An amount as in the interface document: a decimal string and an alphabetic currency code. */
export interface Money {
  /** The amount as a decimal string: `"1475"`, `"10.50"`. Never a float. */
  value: string;
  /** Three capital letters of ISO 4217: `"KMF"`. */
  currency: string;
}

/**
 * The state of a payment in the kit.
 *
 * - `creating`: stored, and the creation request is under way.
 * - `pending`: the service knows the payment; the customer has not paid yet.
 * - `uncertain`: the creation request ended without a usable answer; the payment may exist at the service.
 * - `failed`: the creation never reached the service, or the service refused it, or the service reported the
 *   payment as failed or expired.
 * - `canceled`: the service reported the payment as canceled.
 * - `completed`: the payment is paid. No later report changes this state.
 */
export type PaymentState = "creating" | "pending" | "uncertain" | "failed" | "canceled" | "completed";

/** The states of payments that can become overdue. */
export const awaitedStates: readonly PaymentState[] = ["creating", "pending", "uncertain"];

/** The service's newest report of a payment: from the answer to the creation, a webhook or a lookup. */
export interface LastReport {
  /** The status as the service wrote it. */
  status: string;
  /** Whether the service says that the money was taken. */
  captured?: boolean;
  /**
   * The time at which the customer submitted the payment, by the service's clock: an unchanged RFC 3339
   * date-time.
   */
  submittedAt?: string;
  /** The provider's reference of the transaction. */
  providerId?: string;
  /** The provider's channel. */
  source?: string;
  /** The time at which this shop received the report. */
  at: string;
  /**
   * The names of the fields above that are proven: by the webhook's signature, or because the service itself
   * answered the kit. Other fields may have been changed on the way.
   */
  verified: readonly LastReportField[];
}

/** The fields of the service in a {@link LastReport}. */
export const lastReportFields = ["status", "captured", "submittedAt", "providerId", "source"] as const;
type LastReportField = (typeof lastReportFields)[number];

/** Times by the service's clock, which may differ from the shop's: RFC 3339 date-times. All are proven. */
export interface ServiceTimes {
  /** The time at which the service made the payment. */
  createdAt?: string;
  /** The time of the last reported event. */
  reportedAt?: string;
}

/** One attempt to collect one amount. All times are ISO 8601 UTC with milliseconds. */
export interface Payment {
  /** The unique id of the payment in the merchant's system and at the service. */
  clientId: string;
  /** The merchant's own order id. One reference can have several payments. */
  reference: string;
  /** The amount to collect. It never changes. */
  total: Money;
  /** The state in the kit. */
  state: PaymentState;
  /** The last status of the service that was applied, as the service wrote it. */
  status?: string;
  /**
   * The service's last report, unless the payment already had a later status. The report may not have been
   * applied, because it differs from the payment or waits for a lookup. The kit compares it only with a
   * second completion, which may be another transfer.
   */
  reported?: LastReport;
  /** The service's own times. */
  service?: ServiceTimes;
  /** Whether another `create` may return this attempt. At most one attempt of a reference is open. */
  open: boolean;
  /** The service's id of the payment. Set once, then never changed. */
  serviceId?: string;
  /** The address where the customer pays (`data.billing.submitUrl`). */
  checkoutUrl?: string;
  /** The SHA-256 of the random part of the return addresses, in hexadecimal. The addresses are not stored. */
  returnKeyHash?: string;
  /** The language tag for the service's messages and the return pages. */
  locale?: string;
  /** The merchant's own notes. Every event contains them. */
  metadata?: Readonly<Record<string, unknown>>;
  /** The time at which the shop asked for the payment, or adopted it. */
  createdAt: string;
  /** The time at which the stored payment was last changed. */
  updatedAt: string;
  /** The time at which the kit recorded the completion. Absent for a payment that is not completed. */
  completedAt?: string;
  /**
   * The time at which the first webhook arrived. Absent if no webhook has arrived, or if an earlier version
   * completed the payment.
   */
  firstWebhookAt?: string;
  /**
   * The time at which the browser first came back to the success address. This does not prove that the
   * payment is paid.
   */
  successReturnedAt?: string;
  /** The time at which the browser first came back to the cancel address. */
  cancelReturnedAt?: string;
  /** The clientId of the attempt that replaced this one. */
  replacedBy?: string;
  /** The code of the error that ended the creation. */
  failure?: string;
  /** The time at which `payment.overdue` was raised. */
  overdueAt?: string;
  /**
   * The time from which the next lookup may ask the service about the payment. Absent if no lookup is left.
   */
  nextLookupAt?: string;
  /** The number of lookups of the payment. Absent for none. */
  lookups?: number;
  /**
   * Present on a completed payment that does not pay its order, because a newer attempt asks for another
   * amount. `unsettled`: a person must accept or refund the payment. `refunded`: a person returned the money.
   * Absent after a person accepted the payment.
   */
  withheld?: "unsettled" | "refunded";
  /** The amount that was received, if a person accepted another amount than `total`. */
  received?: Money;
  /** The sum of all refunds and reversals, a decimal string in the received currency. Absent for none. */
  refunded?: string;
  /**
   * `paid_twice`: this payment is a second payment of its order. `paid_late`: the payment was completed too
   * late. A person's settlement, or a full refund, removes these two values. `settled`: a person has settled
   * the entry about an overdue payment or an uncertain creation. See `payments.attention`.
   */
  attention?: "paid_twice" | "paid_late" | "settled";
}

/** Money of a completed payment that went back. All amounts are in the currency that was received. */
export interface Refund {
  /** `refund`: the shop returned the money. `reversal`: the service or the provider took the money back. */
  kind: "refund" | "reversal";
  /** The amount of this refund. */
  amount: Money;
  /** The rest of the payment before this refund. */
  before: Money;
  /** The rest of the payment after this refund. */
  rest: Money;
  /** The key of the refund. Two calls with the same key record one refund. */
  key?: string;
}

/** A payment that is paid. */
export interface CompletedPayment extends Payment {
  /** The final state. No later report changes this state. */
  state: "completed";
  /** The time at which the kit recorded the completion. */
  completedAt: string;
}

/** A person's evidence that a payment is paid, or that money went back. */
export interface Evidence {
  /**
   * The kind of the document. `lookup`: an answer that the service gave to a person. `webhook`: a stored
   * webhook that the kit could not read.
   */
  kind: "statement" | "lookup" | "letter" | "webhook";
  /** The place of the evidence for readers: `statement-2026-11.csv, line 14`. 1 to 500 characters. */
  document: string;
  /** The amount that the evidence shows. */
  total: Money;
  /** The service's id of the payment. Required to complete a stored payment that has no service id. */
  serviceId?: string;
  /** The provider's reference. */
  providerId?: string;
}
