import { fc } from "../../support/property.js";
import { applyReport, reconcile, type Situation } from "../../../src/webhook/reconciliation/reconcile.js";
import { type Payment } from "tillkit";
import { reportOf, withFields } from "../../support/reports.js";
import { pendingPayment } from "../../support/webhooks.js";

const now = "2026-11-20T10:00:06.000Z";
const situation = (payment: Payment | undefined, more: Partial<Situation> = {}): Situation => ({
  payment,
  siblings: payment ? [payment] : [],
  serviceIdIsTaken: false,
  known: false,
  ours: true,
  sufficient: true,
  now,
  ...more,
});

describe("reconciliation", () => {
  it("applies a completion that agrees with the stored payment", () => {
    expect(reconcile(situation(pendingPayment()), reportOf("completed"))).toEqual({
      outcome: "applied",
      payment: pendingPayment({
        state: "completed",
        status: "completed",
        open: false,
        updatedAt: now,
        completedAt: now,
      }),
      facts: [{ type: "payment.completed" }],
    });
  });

  it("keeps an entry settled only while the payment stays in its state", () => {
    const payment = pendingPayment({ attention: "settled" });
    const after = (status: string) => applyReport({ now, siblings: [payment] }, payment, { status }).payment;
    expect(after("pending")).toHaveProperty("attention", "settled");
    for (const status of ["failed", "canceled", "completed"])
      expect(after(status)).not.toHaveProperty("attention");
  });

  it("calls a recorded event a duplicate, whatever else holds", () => {
    expect(reconcile(situation(undefined, { known: true }), reportOf("completed"))).toEqual({
      outcome: "duplicate",
    });
  });

  it("calls an unknown clientId unmatched", () => {
    expect(reconcile(situation(undefined), reportOf("completed"))).toEqual({ outcome: "unmatched" });
  });

  it.each([
    ["amount", { total: { value: "1476", currency: "KMF" } }, "total.value", "1475", "1476"],
    ["currency", { total: { value: "1475", currency: "EUR" } }, "total.currency", "KMF", "EUR"],
    ["service id", { id: "other" }, "id", "64f0c0ffee64f0c0ffee64f0", "other"],
    ["captured flag", { captured: false }, "captured", "true", "false"],
  ])("calls another %s a mismatch and says what was expected", (_, data, field, expected, got) => {
    expect(reconcile(situation(pendingPayment()), reportOf("completed", data))).toEqual({
      outcome: "mismatch",
      differences: [{ field, expected, got }],
    });
  });

  it("calls a topic that contradicts the status a mismatch, where the signature covers both", () => {
    const report = withFields(reportOf("completed"), { topic: "payment.failed" });
    expect(reconcile(situation(pendingPayment()), report)).toMatchObject({
      outcome: "mismatch",
      differences: [{ field: "topic", expected: "payment.completed", got: "payment.failed" }],
    });
  });

  it("ignores an unsigned topic and an unsigned flag", () => {
    const { topic: _, captured: __, ...verified } = reportOf("completed").verified;
    expect(reconcile(situation(pendingPayment()), { verified }).outcome).toBe("applied");
  });

  it("treats 1475.00 as 1475", () => {
    const report = reportOf("completed", { total: { value: "1475.00", currency: "KMF" } });
    expect(reconcile(situation(pendingPayment()), report).outcome).toBe("applied");
  });

  it("does not bind one service id to a second payment", () => {
    const { serviceId: _, ...unbound } = pendingPayment();
    expect(reconcile(situation(unbound, { serviceIdIsTaken: true }), reportOf("completed")).outcome).toBe(
      "mismatch",
    );
  });

  it("binds the service id of a webhook that overtook the creation's answer", () => {
    const { serviceId: _, ...unbound } = pendingPayment({ state: "creating" });
    expect(reconcile(situation(unbound), reportOf("completed"))).toMatchObject({
      payment: { serviceId: "64f0c0ffee64f0c0ffee64f0", state: "completed" },
    });
  });

  it.each([
    ["expired", "failed"],
    ["cancelled", "canceled"],
    ["captured", "pending"],
  ])("understands %s as what it says", (status, state) => {
    const decision = reconcile(
      situation(pendingPayment()),
      reportOf(status, { captured: status === "captured" }),
    );
    const open = state === "pending";
    expect(decision).toMatchObject({ outcome: "applied", payment: { status, state, open } });
    const later = decision.outcome === "applied" ? decision.payment : undefined;
    expect(reconcile(situation(later), reportOf("completed"))).toMatchObject({
      payment: { state: "completed" },
    });
  });

  it("does not open an attempt again that the customer gave up, where a webhook says that it goes on", () => {
    const left = pendingPayment({ open: false, cancelReturnedAt: "2026-11-20T10:00:02.000Z" });
    expect(reconcile(situation(left), reportOf("approved"))).toMatchObject({
      outcome: "applied",
      payment: { status: "approved", state: "pending", open: false },
    });
  });

  it.each([
    "pending",
    "failed",
    "expired",
    "cancelled",
    "canceled",
    "submitted",
    "never_seen_before",
    "completed",
  ])("leaves a completed payment as it is when %s is reported later", (status) => {
    const completed = pendingPayment({ state: "completed", status: "completed", open: false });
    expect(reconcile(situation(completed), reportOf(status)).outcome).toBe("stale");
  });

  it("reports a second completed payment of one reference instead of fulfilling it again", () => {
    const first = pendingPayment({ clientId: "c-0", serviceId: "s-0", state: "completed", open: false });
    const second = pendingPayment();
    const decision = reconcile(situation(second, { siblings: [first, second] }), reportOf("completed"));
    expect(decision).toMatchObject({ facts: [{ type: "payment.paid_twice", firstClientId: "c-0" }] });
  });

  it.each([
    ["canceled", { state: "canceled", status: "canceled" }],
    ["canceled", { cancelReturnedAt: now }],
    ["failed", { state: "failed", status: "failed" }],
    ["replaced", { replacedBy: "c-2" }],
    ["given_up", { state: "uncertain" }],
    ["given_up", { overdueAt: now }],
  ] as const)("tells of a completion that comes late because the attempt was %s", (because, state) => {
    const decision = reconcile(situation(pendingPayment({ ...state, open: false })), reportOf("completed"));
    expect(decision).toMatchObject({
      facts: [{ type: "payment.completed" }, { type: "payment.paid_late", because }],
    });
  });

  it.each([
    ["a completed payment of another order", { reference: "order-2", clientId: "c-0", state: "completed" }],
    ["an open attempt", { clientId: "c-0" }],
    ["a canceled attempt", { clientId: "c-0", state: "canceled" }],
    ["the payment itself", { state: "completed" }],
  ] as const)("fulfils an order that besides has only %s", (_, sibling) => {
    const siblings = [pendingPayment({ ...sibling, open: false })];
    expect(reconcile(situation(pendingPayment(), { siblings }), reportOf("completed"))).toMatchObject({
      facts: [{ type: "payment.completed" }],
    });
  });

  it.each(["submitted", "failed", "canceled"])("raises an update when %s is reported", (status) => {
    const updated = (payment: Payment) => reconcile(situation(payment), reportOf(status));
    const { status: previousStatus, ...unreported } = pendingPayment();
    expect(updated(pendingPayment())).toHaveProperty("facts", [{ type: "payment.updated", previousStatus }]);
    const decision = updated(unreported);
    expect(decision.outcome === "applied" && decision.facts).toStrictEqual([{ type: "payment.updated" }]);
  });

  it("keeps the time of the next lookup until the payment is completed", () => {
    const nextLookupAt = "2026-11-20T10:01:00.000Z";
    const applied = (status: string, payment: Payment) =>
      applyReport({ now, siblings: [] }, payment, reportOf(status).verified).payment;
    for (const status of ["submitted", "failed", "canceled"]) {
      expect(applied(status, pendingPayment({ nextLookupAt }))).toMatchObject({ nextLookupAt });
      expect(applied(status, pendingPayment())).not.toHaveProperty("nextLookupAt");
      expect(applied(status, pendingPayment())).not.toHaveProperty("completedAt");
    }
    expect(applied("completed", pendingPayment({ nextLookupAt }))).not.toHaveProperty("nextLookupAt");
  });

  it("keeps the service id where a person's evidence names none", () => {
    const evidence = { status: "completed" };
    const { serviceId, ...unbound } = pendingPayment();
    const accepted = (payment: Payment) => applyReport({ now, siblings: [] }, payment, evidence).payment;
    expect(accepted(pendingPayment())).toMatchObject({ serviceId, state: "completed" });
    expect(accepted(unbound)).not.toHaveProperty("serviceId");
  });

  it("ends in one state for any order and number of statuses", () => {
    const status = fc.constantFrom(
      "init",
      "pending",
      "submitted",
      "approved",
      "captured",
      "completed",
      "canceled",
      "cancelled",
      "expired",
      "failed",
      "zz",
      "aa",
    );
    fc.assert(
      fc.property(fc.array(status, { minLength: 1, maxLength: 8 }), fc.nat(), (statuses, seed) => {
        expect(run(shuffled(statuses, seed))).toEqual(run(statuses));
      }),
      { numRuns: 500 },
    );
  });

  it("completes once, and stays completed, whatever statuses come before and after", () => {
    const status = fc.constantFrom("init", "pending", "captured", "canceled", "failed", "completed", "held");
    fc.assert(
      fc.property(fc.array(status, { maxLength: 8 }), fc.array(status, { maxLength: 8 }), (before, after) => {
        const { payment, completions } = fold([...before, "completed", ...after]);
        expect([payment.state, completions]).toEqual(["completed", 1]);
      }),
      { numRuns: 500 },
    );
  });
});

function fold(statuses: readonly string[]) {
  let payment = pendingPayment({ status: "init" });
  let completions = 0;
  for (const status of statuses) {
    const decision = reconcile(situation(payment), reportOf(status));
    if (decision.outcome !== "applied") continue;
    payment = decision.payment;
    completions += decision.facts.filter(({ type }) => type === "payment.completed").length;
  }
  return { payment, completions };
}

function run(statuses: readonly string[]) {
  const { state, status, open } = fold(statuses).payment;
  return { state, status, open };
}

/** A permutation that depends on the seed alone. */
function shuffled<T>(values: readonly T[], seed: number): T[] {
  const rest = [...values];
  const result: T[] = [];
  for (let state = seed + 1; rest.length > 0; state = (state * 48271) % 2147483647) {
    result.push(...rest.splice(state % rest.length, 1));
  }
  return result;
}
