import { type Reported } from "../../model/event-map.js";
import { type PaymentReport } from "../../model/payment-report.js";
import { type LastReport, lastReportFields, type Payment } from "../../model/payment.js";
import { fieldRules } from "../message/field-rules.js";

/** Writes into the payment what the service said in the report, and returns the payment. Nothing may be decided by it. */
export function noteReport(
  payment: Payment,
  report: PaymentReport,
  { receivedAt, kind }: { receivedAt: string; kind?: Reported["reportedBy"] },
): Payment {
  // A person's evidence is not the service's word. It stays with the resolution.
  if (kind === "person") return payment;
  const { verified, untrusted } = report;
  const said: Record<string, unknown> = {};
  const proven: LastReport["verified"][number][] = [];
  for (const field of lastReportFields) {
    const isProven = verified[field] !== undefined;
    const given = isProven ? verified[field] : untrusted[field];
    // What is not verified may be anything. It is kept only in the form of the interface.
    const value = isProven || given === undefined ? given : fieldRules[field].schema.safeParse(given).data;
    if (value === undefined || value === "") continue;
    said[field] = value;
    // The kit asked the service itself, so the whole answer is the service's.
    if (isProven || kind === "lookup") proven.push(field);
  }
  payment.reported = { ...said, status: verified.status, at: receivedAt, verified: proven };
  // A lookup's timestamp is the kit's own.
  const reportedAt = kind === "lookup" ? undefined : verified.timestamp;
  const { createdAt } = report;
  if (createdAt !== undefined || reportedAt !== undefined)
    payment.service = {
      ...payment.service,
      ...(createdAt !== undefined && { createdAt }),
      ...(reportedAt !== undefined && { reportedAt }),
    };
  return payment;
}
