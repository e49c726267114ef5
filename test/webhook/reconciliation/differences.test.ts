import {
  differencesFromPayment,
  differencesWithin,
} from "../../../src/webhook/reconciliation/differences.js";
import { reportOf } from "../../support/reports.js";
import { pendingPayment } from "../../support/webhooks.js";

const payment = pendingPayment();

describe("the differences of a report from its payment", () => {
  it.each([
    ["9007199254740992", "9007199254740993"],
    ["9999999999999998", "9999999999999999"],
    ["900719925474099.3", "900719925474099.31"],
    ["9999999999999999.0001", "9999999999999999"],
  ])("are found between %s and %s, which are one number as floats or nearly one", (value, got) => {
    const total = { value, currency: "KMF" };
    const report = { ...reportOf("completed"), value: got };
    expect(differencesFromPayment({ ...payment, total }, report, false)).toEqual([
      { field: "total.value", expected: value, got },
    ]);
  });

  it("do not include another way to write the same amount", () => {
    const report = { ...reportOf("completed"), value: "1475.00" };
    expect(differencesFromPayment(payment, report, false)).toEqual([]);
  });

  it("name another currency", () => {
    const report = { ...reportOf("completed"), currency: "EUR" };
    expect(differencesFromPayment(payment, report, false)).toEqual([
      { field: "total.currency", expected: "KMF", got: "EUR" },
    ]);
  });

  it("name a service id that another payment has, also where the payment has none", () => {
    const { serviceId: _, ...unbound } = payment;
    const report = reportOf("completed");
    expect(differencesFromPayment(unbound, report, true)).toMatchObject([
      { field: "id", got: report.serviceId },
    ]);
    expect(differencesFromPayment(unbound, report, false)).toEqual([]);
    expect(differencesFromPayment(payment, { ...report, serviceId: "other" }, true)).toEqual([
      { field: "id", expected: payment.serviceId, got: "other" },
    ]);
  });
});

describe("the differences within a report", () => {
  it("are those between the status and captured, where the kit knows the status", () => {
    const captured = (status: string, value: boolean) =>
      differencesWithin({ ...reportOf(status), captured: value });
    expect(captured("completed", false)).toEqual([{ field: "captured", expected: "true", got: "false" }]);
    expect(captured("pending", true)).toEqual([{ field: "captured", expected: "false", got: "true" }]);
    expect([captured("completed", true), captured("pending", false)]).toEqual([[], []]);
    for (const unknown of ["under_review", "constructor", "toString"])
      expect([captured(unknown, true), captured(unknown, false)]).toEqual([[], []]);
  });

  it("are those between the status and a topic that names a known status", () => {
    const topics = (topic: string) => differencesWithin({ ...reportOf("completed"), topic });
    expect(topics("payment.failed")).toEqual([
      { field: "topic", expected: "payment.completed", got: "payment.failed" },
    ]);
    const others = ["payment.constructor", "payment.", "payout.failed", "invoice.failed", "failed"];
    for (const topic of ["payment.completed", ...others]) expect(topics(topic)).toEqual([]);
  });

  it("are none where the signature covers neither field", () => {
    const { topic: _, captured: __, ...report } = { topic: undefined, ...reportOf("completed") };
    expect(differencesWithin(report)).toEqual([]);
  });
});
