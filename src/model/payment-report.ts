import { type SignedField } from "./signed-fields.js";

/**
 * The fields of a webhook, by the names under which a signature covers them, with the type each has once it
 * was checked. Times are RFC 3339 strings as they arrived.
 */
export interface ReportedFields {
  topic: string;
  timestamp: string;
  type: string;
  id: string;
  status: string;
  captured: boolean;
  "total.value": string;
  "total.currency": string;
  /** Absent for a payment that the customer has not submitted; never absent on `completed`. */
  submittedAt: string | undefined;
  clientId: string;
  providerId: string | undefined;
  source: string | undefined;
}

/** The fields that the signature covers: these were said by the service. */
export type Verified<Covers extends SignedField = SignedField> = Readonly<Pick<ReportedFields, Covers>>;

/** The fields that it does not cover: anybody on the way may have written them. Hints at most. */
export type Untrusted<Covers extends SignedField = SignedField> = Readonly<
  Partial<Record<Exclude<SignedField, Covers>, unknown>>
>;

/** What a verified, admissible webhook says about a payment: decided on by reconciliation. */
export interface PaymentReport {
  /** What makes two webhooks the same event (only signed fields go into it). */
  eventKey: string;
  serviceId: string;
  clientId: string;
  status: string;
  value: string;
  currency: string;
  submittedAt: string | undefined;
  /** Present only where the signature covers it. */
  topic?: string;
  /** Present only where the signature covers it. */
  captured?: boolean;
  verified: Partial<Verified>;
  untrusted: Untrusted<never>;
}

/** What a correctly signed body turned out to be. */
export type Message =
  | { kind: "payment"; report: PaymentReport }
  | { kind: "unrecognised"; eventKey: string; topic: string; type: string }
  | { kind: "inadmissible"; eventKey: string; reason: string };
