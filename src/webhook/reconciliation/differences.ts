import { type Difference } from "../../model/event-map.js";
import { type PaymentReport } from "../../model/payment-report.js";
import { type Payment } from "../../model/payment.js";
import { sameValue } from "../../model/money.js";
import { capturedFor, isKnownStatus } from "../../model/status-order.js";

/** Returns the fields in which the report differs from the stored payment. */
export function differencesFromPayment(
  payment: Payment,
  report: PaymentReport,
  serviceIdIsTaken: boolean,
): Difference[] {
  const differences: Difference[] = [];
  if (payment.serviceId !== undefined && payment.serviceId !== report.serviceId) {
    differences.push({ field: "id", expected: payment.serviceId, got: report.serviceId });
  } else if (serviceIdIsTaken) {
    differences.push({ field: "id", expected: "an id bound to no other payment", got: report.serviceId });
  }
  if (!sameValue(payment.total.value, report.value)) {
    differences.push({ field: "total.value", expected: payment.total.value, got: report.value });
  }
  if (payment.total.currency !== report.currency) {
    differences.push({ field: "total.currency", expected: payment.total.currency, got: report.currency });
  }
  return differences;
}

/**
 * Returns the fields in which the report contradicts itself (interface document, 6.2). `topic` and `captured` are present
 * only where the signature covers them, so an unsigned field is never compared.
 */
export function differencesWithin(report: PaymentReport): Difference[] {
  const differences: Difference[] = [];
  const captured = capturedFor(report.status);
  if (report.captured !== undefined && captured !== undefined && report.captured !== captured) {
    differences.push({ field: "captured", expected: String(captured), got: String(report.captured) });
  }
  // Only a topic that names a known status can contradict it: the document shows no other topics.
  const named = report.topic?.startsWith("payment.") ? report.topic.slice("payment.".length) : undefined;
  if (named !== undefined && isKnownStatus(named) && named !== report.status) {
    differences.push({ field: "topic", expected: `payment.${report.status}`, got: `payment.${named}` });
  }
  return differences;
}
