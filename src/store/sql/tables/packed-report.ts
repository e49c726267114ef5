import {
  lastReportFields,
  type LastReport,
  type Payment,
  type ServiceTimes,
} from "../../../model/payment.js";

const names = ["at", "status", "captured", "submittedAt", "source"] as const;

/**
 * Returns the value of the column for a payment's `reported`, `service` and `firstWebhookAt`: a list without
 * names, with `verified` as digits. A longer row would make SQLite write more pages for each webhook.
 */
export function packReport({ reported, service, firstWebhookAt }: Payment): string | null {
  if (!reported && !service && firstWebhookAt === undefined) return null;
  const verified = lastReportFields.map((field) => (reported?.verified.includes(field) ? 1 : 0)).join("");
  const values = names.map((name) => reported?.[name]);
  // Most payments have one webhook, whose time is also the time of the report. In this case, 1 is stored
  // instead of the time.
  const first = firstWebhookAt !== undefined && firstWebhookAt === reported?.at ? 1 : firstWebhookAt;
  const packed = [verified, service?.createdAt, service?.reportedAt, ...values];
  return JSON.stringify(first === undefined ? packed : [...packed, first]);
}

/** Sets `reported`, `service` and `firstWebhookAt` of a payment from their column. */
export function unpackReport(payment: Payment, column: string): void {
  const [digits, createdAt, reportedAt, ...values] = JSON.parse(column) as [string, ...(string | 1 | null)[]];
  const verified = lastReportFields.filter((_, index) => digits[index] === "1");
  const reported: Record<string, unknown> = { verified };
  for (const [index, name] of names.entries()) if (values[index] !== null) reported[name] = values[index];
  if (reported["at"] !== undefined) payment.reported = reported as unknown as LastReport;
  const service = { ...(createdAt && { createdAt }), ...(reportedAt && { reportedAt }) } as ServiceTimes;
  if (createdAt || reportedAt) payment.service = service;
  const first = values[names.length];
  if (first) payment.firstWebhookAt = first === 1 ? String(reported["at"]) : first;
}
