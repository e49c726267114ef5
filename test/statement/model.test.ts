import { fc } from "../support/property.js";
import { type Payment, type PaymentState } from "tillkit";
import { type StatementSummary } from "tillkit/statement";
import { storeOf, compared, may, paid } from "./support/stored.js";

// A simple model of the comparison: it holds everything in memory, and answers each question over all of it.

interface Line {
  id: string;
  value: string;
  status: string;
}

const states: PaymentState[] = ["pending", "failed", "completed", "completed", "completed"];
const id = fc.constantFrom("a", "b", "c", "d", "e", "f");
const payment = fc
  .record({
    id,
    reference: fc.constantFrom("r1", "r2", "r3"),
    state: fc.constantFrom(...states),
    day: fc.integer({ min: 1, max: 60 }),
    withheld: fc.constantFrom(undefined, undefined, "unsettled", "refunded"),
    refunded: fc.constantFrom(undefined, undefined, "500", "1475"),
  })
  .map(({ id, reference, state, day, withheld, refunded }): Payment => {
    const completedAt = new Date(Date.UTC(2024, 3, 15 + day)).toISOString();
    const { completedAt: _, ...open } = paid(id, { reference, state, createdAt: "2024-04-01T00:00:00.000Z" });
    if (state !== "completed") return open;
    return { ...open, completedAt, ...(withheld && { withheld }), ...(refunded && { refunded }) };
  });
const line = fc.record({
  id: fc.oneof(id, fc.constantFrom("x", "y")),
  value: fc.constantFrom("1475", "1475.0", "9"),
  status: fc.constantFrom("paid", "", "failed"),
});

function expectedCounts(payments: readonly Payment[], lines: readonly Line[]) {
  const of = (id: string) => payments.find(({ clientId }) => clientId === id);
  const isPaid = ({ status }: Line) => status !== "failed";
  const isCompleted = (one?: Payment) => one?.state === "completed";
  const [from, to] = [may.from, may.to].map((time) => new Date(time).toISOString()) as [string, string];
  const inPeriod = payments.filter(
    (one) => isCompleted(one) && one.completedAt! >= from && one.completedAt! < to,
  );
  const lost = inPeriod.filter(({ clientId }) => !lines.some(({ id }) => id === clientId));
  const paidLines = lines.filter(isPaid);
  const touched = (one: Payment): boolean =>
    lost.includes(one) || lines.some((row) => row.id === one.clientId && (isPaid(row) || isCompleted(one)));
  const references = new Set(payments.filter(touched).map(({ reference }) => reference));
  const paidOf = (reference: string) =>
    payments.filter(
      (one) =>
        one.reference === reference &&
        one.withheld === undefined &&
        one.refunded !== "1475" &&
        (isCompleted(one) || paidLines.some((row) => row.id === one.clientId)),
    );
  return {
    missing_here: lines.filter(({ id }) => !of(id)).length,
    missing_there: lost.length,
    amount_differs: lines.filter(({ id, value }) => of(id) && value === "9").length,
    unpaid_here: paidLines.filter(({ id }) => of(id) && !isCompleted(of(id))).length,
    unpaid_there: lines.filter((row) => !isPaid(row) && isCompleted(of(row.id))).length,
    withheld: paidLines.filter(({ id }) => of(id)?.withheld === "unsettled").length,
    listed_twice: paidLines.length - new Set(paidLines.map(({ id }) => id)).size,
    paid_twice: [...references].reduce((sum, one) => sum + Math.max(0, paidOf(one).length - 1), 0),
    stored: inPeriod.length,
  };
}

function countsOf({ counts, stored }: StatementSummary) {
  const { id_differs: _, currency_differs: __, bad_row: ___, at_edge: ____, ...others } = counts;
  // The statements of the model have no refunds, fees and payouts.
  const { refund_missing_here: _____, fee_differs: ______, payout_differs: _______, ...rest } = others;
  // Nor rows without ids, nor decisions of people.
  const { unmatched_row: ________, accepted_here: _________, ...compared } = rest;
  return { ...compared, stored };
}

describe("the comparison in bounded memory", () => {
  it("finds what the simple model finds, for any payments and any statement", async () => {
    const payments = fc.uniqueArray(payment, { selector: ({ clientId }) => clientId, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(payments, fc.array(line, { maxLength: 12 }), async (all, lines) => {
        const rows = lines.map(({ id, value, status }) => `${id},${value},KMF,${status}`);
        const { summary } = await compared(await storeOf(...all), "clientId,value,currency,status", rows);
        expect(countsOf(summary)).toEqual(expectedCounts(all, lines));
        const [totals] = summary.currencies;
        const parts = Object.values(totals?.rows ?? {}).reduce((sum, { count }) => sum + count, 0);
        expect(parts).toBe(lines.filter(({ status }) => status !== "failed").length);
      }),
      { numRuns: 400 },
    );
  });
});
