import { firstPaid, receivedOf } from "../../model/attempts.js";
import { type Payment } from "../../model/payment.js";
import { type EventRecord } from "../../store/index.js";
import {
  type EventDraft,
  type EventFields,
  eventsOfApplied,
} from "../../webhook/recording/payment-events.js";

/** Returns why the order cannot be fulfilled with this completed payment, or `undefined` if it can. */
export function whyNotAcceptable(
  { clientId, reference, withheld }: Payment,
  payments: readonly Payment[],
): string | undefined {
  if (withheld === "refunded") return `the money of ${clientId} was returned`;
  const other = firstPaid(payments.filter((payment) => payment.reference === reference));
  return other && `${reference} is paid by ${other.clientId} already; refund ${clientId}`;
}

/** Returns the payment without `withheld`, so that it pays its order, and the event `payment.completed`. */
export function acceptWithheld(
  stored: Payment,
  known: readonly EventRecord[],
  at: string,
): { payment: Payment; events: EventDraft[] } {
  const { withheld: _, ...payment } = stored;
  payment.updatedAt = at;
  const events = eventsOfApplied(
    { payment, facts: [{ type: "payment.completed" }] },
    reportedIn(known, stored),
  );
  return { payment, events };
}

/** Returns the order's other pending attempts with `settled`, so that they do not need a person later. */
export function settleAttempts(accepted: Payment, payments: readonly Payment[], at: string): Payment[] {
  return payments
    .filter(({ clientId, reference }) => clientId !== accepted.clientId && reference === accepted.reference)
    .filter(({ state, attention }) => state === "pending" && attention === undefined)
    .map((one) => ({ ...one, attention: "settled", updatedAt: at }));
}

/** Returns the fields that the service reported with the completion, from its event or the payment. */
function reportedIn(known: readonly EventRecord[], payment: Payment): EventFields {
  const raised = known.find(({ type }) => type === "payment.paid_other_amount");
  if (raised) return raised.payload as unknown as EventFields;
  const { clientId, serviceId, status } = payment;
  const { value, currency } = receivedOf(payment);
  const verified = {
    clientId,
    "total.value": value,
    "total.currency": currency,
    ...(serviceId !== undefined && { id: serviceId }),
    ...(status !== undefined && { status }),
  };
  return { verified, untrusted: {}, reportedBy: "person" };
}
