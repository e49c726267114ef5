import { type Payment } from "../model/payment.js";

/** Fills a configured address in with what belongs to a payment, escaped so that it stays one part of it. */
export function fillAddress(template: string, { reference, clientId }: Payment): string {
  const values: Readonly<Record<string, string>> = { reference, clientId };
  return template.replace(/\{(reference|clientId)\}/g, (_, name: string) =>
    encodeURIComponent(values[name]!),
  );
}
