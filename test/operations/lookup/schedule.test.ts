import { withNextLookup, canLookUp } from "../../../src/operations/lookup/schedule.js";
import { pendingPayment } from "../../support/webhooks.js";

const times = { afterMs: 120_000, maxDelayMs: 6 * 3_600_000, giveUpAfterMs: 72 * 3_600_000 };
const createdAt = "2026-11-20T10:00:00.000Z";

describe("the times of the lookups of a payment", () => {
  it("double with each lookup, up to the maximum wait, and end at the deadline", () => {
    let payment = pendingPayment({ createdAt, nextLookupAt: "2026-11-20T10:02:00.000Z" });
    const waits: number[] = [];
    while (canLookUp(payment)) {
      const now = new Date(payment.nextLookupAt!);
      payment = withNextLookup(payment, now, times);
      if (payment.nextLookupAt !== undefined)
        waits.push((Date.parse(payment.nextLookupAt) - now.getTime()) / 60_000);
    }
    expect(waits.slice(0, 9)).toEqual([4, 8, 16, 32, 64, 128, 256, 360, 360]);
    expect(waits.reduce((sum, wait) => sum + wait, 2)).toBe(72 * 60);
    expect(payment.lookups).toBe(waits.length + 1);
    expect(waits.length).toBeLessThan(25);
  });

  it("leave one lookup to a payment that is older than the deadline already", () => {
    const old = pendingPayment({ createdAt: "2020-01-01T00:00:00.000Z", nextLookupAt: createdAt });
    const asked = withNextLookup(old, new Date(createdAt), times);
    expect(asked.lookups).toBe(1);
    expect(canLookUp(asked)).toBe(false);
  });

  it("have no last one while the clock may have jumped past the deadline by mistake", () => {
    const payment = pendingPayment({ createdAt, nextLookupAt: createdAt });
    const jumped = new Date("2030-01-01T00:00:00.000Z");
    const asked = withNextLookup(payment, jumped, times, new Date(createdAt));
    expect(asked.nextLookupAt).toBe("2030-01-01T00:04:00.000Z");
    expect(withNextLookup(asked, jumped, times, jumped)).not.toHaveProperty("nextLookupAt");
  });

  it("begin anew with a report that it is paid, also of a payment that is older than the deadline", () => {
    const at = "2026-12-01T10:00:00.000Z";
    let payment = pendingPayment({
      createdAt,
      nextLookupAt: at,
      lookups: 25,
      reported: { status: "completed", at, verified: ["status"] },
    });
    const minutes: number[] = [];
    while (canLookUp(payment)) {
      minutes.push((Date.parse(payment.nextLookupAt!) - Date.parse(at)) / 60_000);
      payment = withNextLookup(payment, new Date(payment.nextLookupAt!), times);
    }
    expect(minutes.slice(0, 6)).toEqual([0, 2, 4, 8, 16, 32]);
    expect(minutes.at(-1)).toBe(72 * 60);
  });

  it("stay finite after any number of lookups", () => {
    const often = pendingPayment({ createdAt, nextLookupAt: createdAt, lookups: 5000 });
    expect(withNextLookup(often, new Date(createdAt), times).nextLookupAt).toBe("2026-11-20T16:00:00.000Z");
  });

  it("are of no use once it is completed", () => {
    expect(canLookUp(pendingPayment({ state: "completed", nextLookupAt: createdAt }))).toBe(false);
    expect(canLookUp(pendingPayment({ state: "canceled", nextLookupAt: createdAt }))).toBe(true);
  });
});
