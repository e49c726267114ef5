import { type IndispensableField, type SignedField, type UndecidingField } from "./signed-fields.js";

/**
 * The fields of a webhook, by the names that signatures use, with their types after the checks. Times are RFC
 * 3339 strings, unchanged.
 */
export interface ReportedFields {
  /** The topic, such as `payment.completed`. */
  topic: string;
  /** The time of the event. `undefined` if the service sent no date-time: see {@link Untrusted}. */
  timestamp: string | undefined;
  /** The type of the message, which is `payment` if the message is about a payment. */
  type: string;
  /** The service's id of the payment. */
  id: string;
  /** The status of the payment, as the service wrote it. */
  status: string;
  /** Whether the customer's money was taken. */
  captured: boolean;
  /** The amount: a decimal string. */
  "total.value": string;
  /** The currency as the service wrote it: 1 to 16 letters. */
  "total.currency": string;
  /**
   * The time at which the customer submitted the payment. A webhook with the status `completed` always has
   * it.
   */
  submittedAt: string | undefined;
  /** The merchant's id of the payment. */
  clientId: string;
  /** The provider's reference of the transaction. */
  providerId: string | undefined;
  /** The provider's channel. */
  source: string | undefined;
}

/**
 * The fields that the signature covers: the service sent these values. `never` stands for a scheme that the
 * environment configures. The compiler does not know the fields of such a scheme. So only the indispensable
 * fields are required, and all others are optional.
 */
export type Verified<Covers extends SignedField = SignedField> = [Covers] extends [never]
  ? Readonly<Pick<ReportedFields, IndispensableField> & Partial<ReportedFields>>
  : Readonly<Pick<ReportedFields, Covers>>;

/**
 * The fields that the signature does not cover. These fields may have been changed on the way, so use them as
 * hints at most. `timestamp`, `providerId` and `source` are here too if the signature covers them but their
 * values do not have the interface's form. If the compiler does not know the scheme, the type has only these
 * three fields, because the scheme may cover any other field.
 */
export type Untrusted<Covers extends SignedField = SignedField> = Readonly<
  Partial<
    Record<([Covers] extends [never] ? never : Exclude<SignedField, Covers>) | UndecidingField, unknown>
  >
>;

/** The content of a verified, admissible webhook about a payment. Only `verified` is used for decisions. */
export interface PaymentReport {
  kind: "payment";
  /** A key that is equal for two webhooks of one event. The key is made of signed fields only. */
  eventKey: string;
  /** The time at which the service created the payment. Present only in the answer to a lookup. */
  createdAt?: string;
  verified: Verified<never>;
  untrusted: Readonly<Partial<Record<SignedField, unknown>>>;
}

/** The content of a correctly signed body: a payment report, another message, or an inadmissible one. */
export type Message =
  | PaymentReport
  | { kind: "unrecognised"; eventKey: string; topic: string; type: string }
  | { kind: "inadmissible"; eventKey: string; reason: string };
