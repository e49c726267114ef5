import { type IndispensableField, type SignedField, type UndecidingField } from "./signed-fields.js";

/**
 * The fields of a webhook under the names that signatures use, with the types they have after the checks. Times are
 * RFC 3339 strings as they arrived.
 */
export interface ReportedFields {
  /** Says what happened, such as `payment.completed`. */
  topic: string;
  /** `undefined` where the service sent none, or not a date-time: see {@link Untrusted}. */
  timestamp: string | undefined;
  /** `payment`, where the message is about a payment. */
  type: string;
  /** The service's id of the payment. */
  id: string;
  /** The status of the payment, as the service wrote it. */
  status: string;
  /** Whether the money was taken. */
  captured: boolean;
  /** The amount: a decimal string. */
  "total.value": string;
  /** The currency: three capital letters of ISO 4217. */
  "total.currency": string;
  /** `undefined` for a payment that the customer has not submitted. Always present on `completed`. */
  submittedAt: string | undefined;
  /** The merchant's id of the payment. */
  clientId: string;
  /** The provider's reference of the transaction. */
  providerId: string | undefined;
  /** The provider's channel. */
  source: string | undefined;
}

/**
 * The fields that the signature covers: the service sent these values. `never` stands for a scheme that the compiler does not
 * know, because the environment configures it: the indispensable fields are present, and each of the others may be.
 */
export type Verified<Covers extends SignedField = SignedField> = [Covers] extends [never]
  ? Readonly<Pick<ReportedFields, IndispensableField> & Partial<ReportedFields>>
  : Readonly<Pick<ReportedFields, Covers>>;

/**
 * The fields that the signature does not cover. Others may have changed them on the way: use them as hints at most.
 * `timestamp`, `providerId` and `source` are also here if the signature covers them and the service sent something else
 * than the interface shows. Under a scheme that the compiler does not know, the type has only these three: any other field
 * may be a verified one.
 */
export type Untrusted<Covers extends SignedField = SignedField> = Readonly<
  Partial<
    Record<([Covers] extends [never] ? never : Exclude<SignedField, Covers>) | UndecidingField, unknown>
  >
>;

/** The content of a verified, admissible webhook about a payment. Only `verified` decides. */
export interface PaymentReport {
  kind: "payment";
  /** Equal for two webhooks of one event. Made of signed fields only. */
  eventKey: string;
  /** The service's time of the creation. Present only in the answer to a lookup. */
  createdAt?: string;
  verified: Verified<never>;
  untrusted: Readonly<Partial<Record<SignedField, unknown>>>;
}

/** The content of a correctly signed body: a payment report, another kind of message, or no message of the interface. */
export type Message =
  | PaymentReport
  | { kind: "unrecognised"; eventKey: string; topic: string; type: string }
  | { kind: "inadmissible"; eventKey: string; reason: string };
