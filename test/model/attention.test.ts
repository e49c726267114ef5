import { type Payment } from "tillkit";
import { needOfPayment } from "../../src/model/attention.js";
import { pendingPayment } from "../support/webhooks.js";

const overdueAt = "2026-11-20T11:00:00.000Z";

it.each<[Partial<Payment>, string | undefined]>([
  [{}, undefined],
  [{ overdueAt }, "overdue"],
  [{ state: "creating" }, undefined],
  [{ state: "creating", overdueAt }, "creation_uncertain"],
  [{ state: "uncertain" }, "creation_uncertain"],
  [{ state: "failed", overdueAt }, undefined],
  [{ state: "canceled", overdueAt }, undefined],
  [{ state: "completed", overdueAt }, undefined],
  [{ overdueAt, attention: "settled" }, undefined],
  [{ state: "uncertain", attention: "settled" }, undefined],
  [{ state: "completed", overdueAt, attention: "paid_late" }, "paid_late"],
  [{ state: "completed", attention: "paid_twice" }, "paid_twice"],
  [{ state: "completed", withheld: "unsettled", attention: "settled" }, "paid_other_amount"],
  [{ state: "completed", withheld: "refunded" }, undefined],
])("a payment with %j needs a person for %s", (over, need) => {
  expect(needOfPayment(pendingPayment(over))).toBe(need);
});
