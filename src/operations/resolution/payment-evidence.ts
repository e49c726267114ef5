import { findClaimed } from "../../checkout/payment-claims.js";
import { TillkitError } from "../../errors/index.js";
import { checkAmount } from "../../model/money.js";
import { type PaymentReport } from "../../model/payment-report.js";
import { type Evidence, type Payment } from "../../model/payment.js";
import { readField, signedFields } from "../../model/signed-fields.js";
import { isSameNumber, waysToWrite } from "../../shared/payment-number.js";
import { describeUnknown, type NamesOf } from "../../shared/unknown-names.js";
import { type PaymentStore, type ResolutionRecord, type WebhookRecord } from "../../store/index.js";
import { decodeStrict } from "../../webhook/message/decode-strict.js";
import { fieldRules } from "../../webhook/message/field-rules.js";
import { readMessage } from "../../webhook/message/read-message.js";
import { readEveryPage } from "../reading/history-page.js";
import { type DecisionParts, Decisions } from "../../webhook/recording/decisions.js";
import { type EventDraft } from "../../webhook/recording/payment-events.js";

const kinds: readonly string[] = ["statement", "lookup", "letter", "webhook"] satisfies Evidence["kind"][];
const names = { kind: 1, document: 1, total: 1, serviceId: 1, providerId: 1 } satisfies NamesOf<Evidence>;

/** Throws `evidence_invalid` unless the evidence has the form of {@link Evidence}. */
export function checkEvidence(evidence: Evidence, receiptId: string | undefined): void {
  if (typeof evidence !== "object" || evidence === null) throw invalid("It must be an object.");
  const unknown = describeUnknown(evidence, names);
  if (unknown !== undefined) throw invalid(unknown);
  const { kind, document, total, serviceId, providerId } = evidence;
  if (!kinds.includes(kind)) throw invalid(`kind must be one of ${kinds.join(", ")}.`);
  if (kind === "webhook" && receiptId === undefined)
    throw invalid(
      "A webhook is named by its receiptId. A refused webhook has none: record the file with tillkit replay.",
    );
  if (typeof document !== "string" || document.trim() === "" || document.length > 500)
    throw invalid("document must say in 1 to 500 characters where the evidence is.");
  const problem = checkAmount(total);
  if (problem) throw invalid(problem.message);
  for (const [field, id] of [
    ["id", serviceId],
    ["providerId", providerId],
  ] as const)
    if (id !== undefined && (typeof id !== "string" || !fieldRules[field].schema.safeParse(id).success))
      throw invalid(`${field === "id" ? "serviceId" : field} must be ${fieldRules[field].expected}.`);
}

/** Returns the clientId in a signed webhook, even if the kit cannot read the rest of the webhook. */
export function clientIdIn({ rawBody }: WebhookRecord): string | undefined {
  const decoded = decodeStrict(rawBody);
  return decoded.ok
    ? fieldRules.clientId.schema.safeParse(readField(decoded.payload, "clientId")).data
    : undefined;
}

/**
 * Decides the evidence like a webhook with the same content, so a second completion of a reference raises
 * `payment.paid_twice`. Returns the completed payment and the events of its completion.
 *
 * @throws TillkitError `evidence_missing`, `evidence_invalid`, `evidence_mismatch`
 */
export function decideEvidence(
  { evidence, id: receiptId, at }: ResolutionRecord,
  stored: Payment,
  payments: readonly Payment[],
  parts: Omit<DecisionParts, "now">,
): { payment: Payment; events: EventDraft[] } {
  if (evidence === undefined) throw missing();
  const decisions = new Decisions(payments, { ...parts, now: at });
  const carrier = { receiptId, receivedAt: at, kind: "person", covers: "body" } as const;
  const decided = decisions.decide(reportOf(evidence, stored, at), carrier);
  if (decided.outcome === "applied")
    return { payment: decisions.payments.find(stored.clientId)!, events: decided.events };
  const why = "reason" in decided ? decided.reason : decided.outcome;
  throw mismatch(why);
}

/**
 * Throws `evidence_mismatch` if another completed payment has the provider's number, because a person
 * accepted the number for that payment or the service reported it.
 */
export async function refuseUsedNumber<Tx>(
  store: PaymentStore<Tx>,
  { clientId, action, evidence }: ResolutionRecord,
): Promise<void> {
  const number = evidence?.providerId;
  if (number === undefined || action !== "accepted") return;
  const claimed = (await findClaimed(store, [number]))(number);
  const completed = { state: "completed", newestFirst: true, limit: 2 } as const;
  const ways = waysToWrite(number).map((providerId) => store.list({ ...completed, providerId }));
  const reported = (await Promise.all(ways)).flat();
  for (const other of [...reported, ...claimed]) {
    if (other.clientId === clientId || other.state !== "completed") continue;
    const isUsed =
      reported.includes(other) ||
      (await readEveryPage(store, other.clientId)).resolutions.some(
        (one) => one.action === "accepted" && isSameNumber(number, one.evidence?.providerId),
      );
    if (!isUsed) continue;
    const why = `the provider's number ${number} belongs to ${other.clientId} already`;
    throw mismatch(`${why}. If it shows this payment too, leave providerId out`);
  }
}

/** Returns the evidence as a report. The report has the payment's service id if the evidence has none. */
function reportOf(evidence: Evidence, payment: Payment, at: string): PaymentReport {
  const { total, serviceId = payment.serviceId, providerId } = evidence;
  const { clientId } = payment;
  const data = { id: serviceId, status: "completed", captured: true, total, clientId, providerId };
  const payload = { topic: "payment.completed", timestamp: at, type: "payment", data };
  const covers = signedFields.filter((field) => field !== "submittedAt" && field !== "source");
  // `readMessage` needs the bytes only if it cannot read the decoded payload.
  const message = readMessage({ rawBody: Buffer.alloc(0), payload, covers });
  if (message.kind !== "payment")
    throw invalid(message.kind === "inadmissible" ? `${message.reason}.` : "It is about no payment.");
  return message;
}

function missing(): TillkitError {
  const message =
    "Without a webhook that the kit can read, accept needs the evidence that shows the payment.";
  return new TillkitError("evidence_missing", message);
}

function mismatch(why: string): TillkitError {
  return new TillkitError("evidence_mismatch", `The evidence does not match the payment: ${why}.`);
}

function invalid(why: string): TillkitError {
  return new TillkitError("evidence_invalid", `The evidence cannot be used. ${why}`);
}
