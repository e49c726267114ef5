import { type StatementReport } from "tillkit/statement";
import { storeOf, compared, type Outcome, paid, pending } from "./stored.js";

export const everyHeader = "clientId,value,currency,status,source,time,fee,net,payout";

/** Compares a statement that has findings of every kind, and text that tries to inject markup or formulas. */
export async function everything(): Promise<Outcome> {
  const stored = await storeOf(
    paid("same"),
    paid("lost"),
    paid("amount", { total: { value: "1234567.80", currency: "EUR" } }),
    paid("currency"),
    pending("fits", { total: { value: "650", currency: "KMF" }, reference: "<i>A</i>" }),
    pending("too", { total: { value: "650", currency: "KMF" } }),
    pending("open", { reference: '<script>alert("x")</script>' }),
    paid("reversed"),
    paid("first", { reference: "two", completedAt: "2024-05-02T00:00:00.000Z" }),
    paid("second", { reference: "two" }),
  );
  const line = (id: string, over: Partial<Record<string, string>> = {}): string =>
    Object.values({
      id,
      value: "1475",
      currency: "KMF",
      status: "paid",
      source: "MVK",
      time: "",
      fee: "",
      net: "",
      payout: "",
      ...over,
    }).join(",");
  const many = Array.from({ length: 30 }, (_, index) => line(`unknown-${index}`));
  return compared(stored, everyHeader, [
    line("same"),
    line("same"),
    line("=cmd|' /C calc'!A0", { source: "<b onclick=x>" }),
    line("amount", { value: "1234567.50", currency: "EUR" }),
    line("currency", { currency: "EUR" }),
    line("open", { source: "@SUM(1)" }),
    line("reversed", { status: "-2+3" }),
    line("same", { value: "-500" }),
    line("first", { fee: "75", net: "1399", payout: "<i>P1</i>" }),
    line("", { value: "1400", payout: "<i>P1</i>" }),
    line("second"),
    line("", { value: "650", time: "2024-05-10T12:00:00Z" }),
    line("+bad", { value: '"=1+1"' }),
    ...many,
  ]);
}

/** Returns the text of a report about a run. */
export function written(report: StatementReport, { findings, summary }: Outcome): string {
  return findings.map((finding) => report.add(finding)).join("") + report.end(summary);
}
