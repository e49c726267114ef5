import { fc } from "../../support/property.js";
import { readMessage } from "../../../src/webhook/message/read-message.js";
import { indispensableFields, signedFields } from "../../../src/model/signed-fields.js";
import { type Situation } from "../../../src/webhook/reconciliation/reconcile.js";
import { isFarther } from "../../../src/model/status-order.js";
import { type Payment } from "tillkit";
import { reportOf, withFields } from "../../support/reports.js";
import { pendingPayment, statusBody } from "../../support/webhooks.js";
import { decide, disagreements, paymentStates, statuses } from "./reconciliation-table.js";

const flags = [false, true];

describe("the decision", () => {
  it("has one outcome for every combination, by the documented order of questions", () => {
    let count = 0;
    for (const payment of Object.values(paymentStates))
      for (const status of statuses)
        for (const known of flags)
          for (const ours of flags)
            for (const sufficient of flags)
              for (const disagrees of [undefined, ...Object.values(disagreements)]) {
                const { report, situation } = disagrees?.(reportOf(status)) ?? { report: reportOf(status) };
                const { outcome } = decide(payment, report, { known, ours, sufficient, ...situation });
                const differs = disagrees !== undefined && disagreesWith(payment, status, disagrees);
                expect({ payment, status, known, ours, sufficient, outcome }).toMatchObject({
                  outcome: expected({ payment, known, ours, sufficient }, status, differs),
                });
                count += 1;
              }
    expect(count).toBe(Object.keys(paymentStates).length * statuses.length * 8 * 7);
  });

  it("never throws and never changes a completed payment, whatever is reported", () => {
    const completed = paymentStates["completed"]!;
    const report = fc.record({
      "total.value": fc.oneof(fc.constant("1475"), fc.string()),
      "total.currency": fc.oneof(fc.constant("KMF"), fc.string()),
      id: fc.oneof(fc.constant(completed.serviceId!), fc.string()),
      status: fc.oneof(fc.constantFrom(...statuses), fc.string()),
      captured: fc.boolean(),
      topic: fc.oneof(fc.constant("payment.completed"), fc.string()),
    });
    fc.assert(
      fc.property(report, fc.boolean(), fc.boolean(), (over, ours, sufficient) => {
        const decision = decide(completed, withFields(reportOf("completed"), over), { ours, sufficient });
        expect(["stale", "mismatch"]).toContain(decision.outcome);
      }),
      { numRuns: 500 },
    );
  });

  it("does not depend on a field that the signature does not cover", () => {
    const covers = [...indispensableFields];
    const uncovered = signedFields.filter((field) => !covers.includes(field as never));
    const anything = fc.record(Object.fromEntries(uncovered.map((field) => [field, fc.jsonValue()])), {
      requiredKeys: [],
    });
    const decisionOn = (body: unknown, payment: Payment | undefined) => {
      const message = readMessage({ rawBody: Buffer.from(JSON.stringify(body)), covers });
      if (message.kind !== "payment") return message;
      return { key: message.eventKey, decision: decide(payment, message) };
    };
    fc.assert(
      fc.property(
        anything,
        fc.constantFrom(...statuses),
        fc.constantFrom(...Object.values(paymentStates)),
        (forged, status, payment) => {
          const { topic, timestamp, type, ...data } = forged as Record<string, unknown>;
          const honest = statusBody(status);
          const altered = { ...honest, topic, timestamp, type, data: { ...honest.data, ...data } };
          expect(decisionOn(altered, payment)).toEqual(decisionOn(honest, payment));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("reports both payments when an order was paid twice", () => {
    const first = pendingPayment({ clientId: "c-0", serviceId: "s-0", state: "completed", open: false });
    const decision = decide(pendingPayment(), reportOf("completed"), { siblings: [first, pendingPayment()] });
    expect(decision).toMatchObject({
      payment: { clientId: "c-1", state: "completed" },
      facts: [{ type: "payment.paid_twice", firstClientId: "c-0", first: { serviceId: "s-0" } }],
    });
  });

  it("withholds every attempt whose amount is not that of the newest one, however long the chain", () => {
    const attempt = (clientId: string, value: string, over: Partial<Payment> = {}) =>
      pendingPayment({ clientId, serviceId: `s-${clientId}`, total: { value, currency: "KMF" }, ...over });
    const values = fc.array(fc.constantFrom("5", "5.00", "10"), { minLength: 1, maxLength: 6 });
    const settled = fc.constantFrom(undefined, "unsettled", "refunded");
    fc.assert(
      fc.property(values, fc.nat(), settled, (all, at, withheld) => {
        const attempts = all.map((value, index) =>
          attempt(`c-${index}`, value, index + 1 < all.length ? { replacedBy: `c-${index + 1}` } : {}),
        );
        const paid = attempts[at % all.length]!;
        const others = attempts.map((one) =>
          one === paid || !withheld ? one : { ...one, state: "completed" as const, withheld },
        );
        const { clientId, serviceId, total } = paid;
        const fields = { clientId, id: serviceId!, "total.value": total.value };
        const report = withFields(reportOf("completed"), fields);
        const decision = decide(paid, report, { siblings: others.toReversed() });
        const newest = attempts.at(-1)!;
        const isSame = Number(newest.total.value) === Number(total.value);
        expect(decision).toMatchObject({
          payment: isSame ? { state: "completed" } : { state: "completed", withheld: "unsettled" },
          facts: isSame
            ? [{ type: "payment.completed" }, ...(paid === newest ? [] : [{ because: "replaced" }])]
            : [
                {
                  type: "payment.paid_other_amount",
                  lastAsked: { clientId: newest.clientId, total: newest.total },
                },
              ],
        });
      }),
    );
  });

  it("says why a completion is late, the latest reason first", () => {
    const late = (over: Partial<Payment>) => {
      const decision = decide(pendingPayment(over), reportOf("completed"));
      return decision.outcome === "applied" ? decision.facts[1] : undefined;
    };
    const at = "2026-11-20T10:00:00.000Z";
    expect(late({ overdueAt: at })).toEqual({ type: "payment.paid_late", because: "given_up" });
    expect(late({ overdueAt: at, replacedBy: "c-2" })).toMatchObject({ because: "replaced" });
    expect(late({ replacedBy: "c-2", cancelReturnedAt: at })).toMatchObject({ because: "canceled" });
    expect(late({})).toBeUndefined();
  });
});

/** Returns the outcome that the documented order of questions gives. */
function expected(
  { payment, known, ours, sufficient }: Pick<Situation, "payment" | "known" | "ours" | "sufficient">,
  status: string,
  differs: boolean,
): string {
  if (known) return "duplicate";
  if (!payment) return ours ? "unmatched" : "foreign";
  if (differs) return "mismatch";
  if (!isFarther(status, payment.status)) return "stale";
  return status === "completed" && !sufficient ? "unconfirmed" : "applied";
}

/** Returns whether a change really disagrees: some need a bound service id, or a status whose captured flag is known. */
function disagreesWith(
  payment: Payment | undefined,
  status: string,
  disagrees: (typeof disagreements)[string],
): boolean {
  if (disagrees === disagreements["another service id than the payment's"])
    return payment?.serviceId !== undefined;
  if (disagrees === disagreements["a captured flag that contradicts the status"]) return status !== "held";
  return true;
}
