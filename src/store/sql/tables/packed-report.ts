import { lastReportFields, type LastReport, type Payment } from "../../../model/payment.js";

const names = ["at", "status", "captured", "submittedAt", "source"] as const;

/**
 * Returns `reported` and `service` of a payment for their column: a list without names, and `verified` as digits, because a longer
 * row makes SQLite write more pages for each webhook.
 */
export function packReport({ reported, service }: Payment): string | null {
  if (!reported && !service) return null;
  const verified = lastReportFields.map((field) => (reported?.verified.includes(field) ? 1 : 0)).join("");
  const values = names.map((name) => reported?.[name]);
  return JSON.stringify([verified, service?.createdAt, service?.reportedAt, ...values]);
}

/** Sets `reported` and `service` of a payment. */
export function unpackReport(payment: Payment, column: string): void {
  const [digits, createdAt, reportedAt, ...values] = JSON.parse(column) as [string, ...(string | null)[]];
  const verified = lastReportFields.filter((_, index) => digits[index] === "1");
  const reported: Record<string, unknown> = { verified };
  for (const [index, name] of names.entries()) if (values[index] !== null) reported[name] = values[index];
  if (reported["at"] !== undefined) payment.reported = reported as unknown as LastReport;
  if (createdAt) payment.service = { ...payment.service, createdAt };
  if (reportedAt) payment.service = { ...payment.service, reportedAt };
}
