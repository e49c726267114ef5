import { type Payment } from "tillkit";
import { attentionCounts, ruleTable } from "../../../src/operations/attention/rules.js";
import { pendingPayment } from "../../support/webhooks.js";

describe("the reason why a payment is late", () => {
  const completedAt = "2026-11-20T12:00:00.000Z";
  const early = "2026-11-20T11:00:00.000Z";

  it.each<[string, Partial<Payment>]>([
    ["The customer had canceled", { cancelReturnedAt: early }],
    ["Another payment of the order had replaced this payment", { replacedBy: "c-2", overdueAt: early }],
    ["The payment was overdue", { overdueAt: early }],
    ["The creation had ended with service_unavailable", { failure: "service_unavailable" }],
    ["The service had reported the payment as ended", {}],
    ["The service had reported", { cancelReturnedAt: "2026-11-20T12:00:01.000Z" }],
  ])("names one cause: %s", (said, over) => {
    const payment = pendingPayment({ state: "completed", attention: "paid_late", completedAt, ...over });
    const since = completedAt;
    const why = ruleTable.paid_late.why({
      rule: "paid_late",
      subject: "c-1",
      since,
      position: ["", ""],
      payment,
    });
    expect(why.startsWith(said)).toBe(true);
    expect(why.match(/\./g)).toHaveLength(1);
  });
});

describe("the counts of what needs a person", () => {
  it("have each rule of which there is a case, and at most 10,000 dead dispatches", () => {
    const needs = { paid_late: 3 };
    expect(attentionCounts(needs, 2, 10_001, 1)).toEqual({
      attention: { claimed: 2, paid_late: 3, dead_dispatch: 10_000, handler_paused: 1 },
    });
    expect(attentionCounts(needs, 0, 0, 0)).toEqual({ attention: needs });
    expect(attentionCounts({}, 0, 0, 0)).toEqual({});
  });
});
