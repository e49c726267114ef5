import { type Payment } from "tillkit";
import { type PaymentReport } from "../../../src/model/payment-report.js";
import { reportOf, withFields } from "../../support/reports.js";
import { pendingPayment } from "../../support/webhooks.js";
import { decide } from "./reconciliation-table.js";

const payment = pendingPayment();

function differencesOf(of: Payment, report: PaymentReport, serviceIdIsTaken = false) {
  const decision = decide(of, report, { serviceIdIsTaken });
  return decision.outcome === "mismatch" ? decision.differences : [];
}

const differencesWithin = (report: PaymentReport) => differencesOf(payment, report);

describe("the differences of a report from its payment", () => {
  it.each([
    ["9007199254740992", "9007199254740993"],
    ["9999999999999998", "9999999999999999"],
    ["900719925474099.3", "900719925474099.31"],
    ["9999999999999999.0001", "9999999999999999"],
  ])("are found between %s and %s, which are one number as floats or nearly one", (value, got) => {
    const total = { value, currency: "KMF" };
    const report = withFields(reportOf("completed"), { "total.value": got });
    expect(differencesOf({ ...payment, total }, report, false)).toEqual([
      { field: "total.value", expected: value, got },
    ]);
  });

  it("do not include another way to write the same amount", () => {
    const report = withFields(reportOf("completed"), { "total.value": "1475.00" });
    expect(differencesOf(payment, report, false)).toEqual([]);
  });

  it("name another currency", () => {
    const report = withFields(reportOf("completed"), { "total.currency": "EUR" });
    expect(differencesOf(payment, report, false)).toEqual([
      { field: "total.currency", expected: "KMF", got: "EUR" },
    ]);
  });

  it("name the whole amount of a completion where a person accepted another amount: more money came", () => {
    const received = { value: "1470", currency: "KMF" };
    const accepted: Payment = { ...payment, state: "completed", status: "completed", open: false, received };
    const differs = { field: "total.value", expected: "1470", got: "1475" };
    expect(differencesOf(accepted, reportOf("completed"))).toEqual([differs]);
    expect(differencesOf(accepted, reportOf("submitted"))).toEqual([]);
    const inEuros = { ...accepted, received: { value: "3", currency: "EUR" } };
    expect(differencesOf(inEuros, reportOf("completed"))).toEqual([
      { ...differs, expected: "3" },
      { field: "total.currency", expected: "EUR", got: "KMF" },
    ]);
  });

  describe("of a second completion, which may be a second transfer,", () => {
    const first = { providerId: "MVK-778", submittedAt: "2026-11-20T10:00:00.000Z" };
    const completedBy = (verified: (keyof typeof first)[]): Payment => ({
      ...payment,
      state: "completed",
      status: "completed",
      open: false,
      reported: { status: "completed", at: "2026-11-20T10:00:06.000Z", verified, ...first },
    });
    const both = completedBy(["providerId", "submittedAt"]);
    const second = (data: Record<string, unknown>) => reportOf("completed", data);

    it("name another number of the provider", () => {
      const differs = { field: "providerId", expected: "MVK-778", got: "MVK-779" };
      expect(differencesOf(both, second({ providerId: "MVK-779" }))).toEqual([differs]);
      expect(differencesOf(both, reportOf("submitted", { providerId: "MVK-779" }))).toEqual([]);
      expect(differencesOf(completedBy([]), second({ providerId: "MVK-779" }))).toEqual([]);
    });

    it("name no number that is written otherwise, and no other time of the same number", () => {
      const submittedAt = "2026-11-20T11:00:00.000Z";
      for (const data of [{ providerId: "mvk 778" }, { submittedAt }, { providerId: "mvk778", submittedAt }])
        expect(differencesOf(both, second(data))).toEqual([]);
      const short = { ...both, reported: { ...both.reported!, providerId: "7" } };
      expect(differencesOf(short, second({ providerId: "7" }))).toEqual([]);
    });

    it("name another time where a number is not signed or missing", () => {
      const submittedAt = "2026-11-20T11:00:00.000Z";
      const differs = { field: "submittedAt", expected: first.submittedAt, got: submittedAt };
      expect(differencesOf(completedBy(["submittedAt"]), second({ submittedAt }))).toEqual([differs]);
      expect(differencesOf(both, second({ providerId: "", submittedAt }))).toEqual([differs]);
      const sameTime = { providerId: null, submittedAt: "2026-11-20T11:00:00+01:00" };
      expect(differencesOf(both, second(sameTime))).toEqual([]);
    });
  });

  it("name a service id that another payment has, also where the payment has none", () => {
    const { serviceId: _, ...unbound } = payment;
    const report = reportOf("completed");
    expect(differencesOf(unbound, report, true)).toMatchObject([{ field: "id", got: report.verified.id }]);
    expect(differencesOf(unbound, report, false)).toEqual([]);
    expect(differencesOf(payment, withFields(report, { id: "other" }), true)).toEqual([
      { field: "id", expected: payment.serviceId, got: "other" },
    ]);
  });
});

describe("the differences within a report", () => {
  it("are those between the status and captured, where the kit knows the status", () => {
    const captured = (status: string, value: boolean) =>
      differencesWithin(withFields(reportOf(status), { captured: value }));
    expect(captured("completed", false)).toEqual([{ field: "captured", expected: "true", got: "false" }]);
    expect(captured("pending", true)).toEqual([{ field: "captured", expected: "false", got: "true" }]);
    expect([captured("completed", true), captured("pending", false)]).toEqual([[], []]);
    for (const unknown of ["under_review", "constructor", "toString"])
      expect([captured(unknown, true), captured(unknown, false)]).toEqual([[], []]);
  });

  it("are those between the status and a topic that names a known status", () => {
    const topics = (topic: string) => differencesWithin(withFields(reportOf("completed"), { topic }));
    expect(topics("payment.failed")).toEqual([
      { field: "topic", expected: "payment.completed", got: "payment.failed" },
    ]);
    const others = ["payment.constructor", "payment.", "payout.failed", "invoice.failed", "failed"];
    for (const topic of ["payment.completed", ...others]) expect(topics(topic)).toEqual([]);
  });

  it("are none where the signature covers neither field", () => {
    const report = reportOf("completed");
    const { topic: _, captured: __, ...verified } = report.verified;
    expect(differencesWithin({ ...report, verified })).toEqual([]);
  });
});
