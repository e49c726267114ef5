import { failureThrottle } from "../../src/http/failure-throttle.js";

/** A throttle over a clock that stands until it is moved. */
function throttled(budget: { perMinute: number; burst: number }) {
  const clock = { ms: 0 };
  const spend = failureThrottle(budget, () => clock.ms);
  const spendTimes = (times: number, address = "192.0.2.1") =>
    Array.from({ length: times }, () => spend(address));
  return { clock, spend, spendTimes };
}

describe("the budget of failures of one address", () => {
  it("is its burst first, and then one for each part of the minute", () => {
    const { clock, spendTimes } = throttled({ perMinute: 60, burst: 3 });
    expect(spendTimes(5)).toEqual([undefined, undefined, undefined, 1, 1]);
    clock.ms = 1000;
    expect(spendTimes(2)).toEqual([undefined, 1]);
  });

  it("fills up to its burst again, and not beyond", () => {
    const { clock, spendTimes } = throttled({ perMinute: 60, burst: 2 });
    spendTimes(2);
    clock.ms = 60 * 60 * 1000;
    expect(spendTimes(3)).toEqual([undefined, undefined, 1]);
  });

  it("names the seconds until it has some again, which are a minute at most", () => {
    const { clock, spendTimes } = throttled({ perMinute: 1, burst: 1 });
    expect(spendTimes(2)).toEqual([undefined, 60]);
    clock.ms = 45_500;
    expect(spendTimes(1)).toEqual([15]);
  });

  it("is not lengthened by failing on and on", () => {
    const { clock, spendTimes } = throttled({ perMinute: 6, burst: 1 });
    spendTimes(1);
    for (clock.ms = 1; clock.ms < 10_000; clock.ms += 999) expect(spendTimes(1)).not.toEqual([undefined]);
    clock.ms = 10_001;
    expect(spendTimes(1)).toEqual([undefined]);
  });

  it("is its own: no other address spends it", () => {
    const { spend, spendTimes } = throttled({ perMinute: 1, burst: 1 });
    spendTimes(9, "192.0.2.1");
    expect(spend("192.0.2.2")).toBeUndefined();
  });
});

describe("the table of addresses", () => {
  it("holds 10,000, and forgets the one that failed longest ago", () => {
    const { spend, spendTimes } = throttled({ perMinute: 1, burst: 1 });
    spendTimes(1, "early");
    spendTimes(1, "early but failing on");
    for (let n = 0; n < 9_998; n += 1) spend(`n-${n}`);
    expect(spend("early but failing on")).toBe(60);
    // The table is full; one more, and the first has its budget again.
    spend("one more");
    expect(spend("early but failing on")).toBe(60);
    expect(spend("early")).toBeUndefined();
  });
});
