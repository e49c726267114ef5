import { readMessage } from "../../src/webhook/message/read-message.js";
import { type PaymentReport } from "../../src/model/payment-report.js";
import { statusBody } from "./webhooks.js";

/** Returns the report that the kit reads from a verified webhook of this status. */
export function reportOf(status: string, data: Record<string, unknown> = {}): PaymentReport {
  const message = readMessage({
    rawBody: Buffer.from(JSON.stringify(statusBody(status, data))),
    covers: "body",
  });
  if (message.kind !== "payment") throw new Error(JSON.stringify(message));
  return message;
}

/** Returns the report with other verified fields. */
export function withFields(report: PaymentReport, fields: Partial<PaymentReport["verified"]>): PaymentReport {
  return { ...report, verified: { ...report.verified, ...fields } };
}
