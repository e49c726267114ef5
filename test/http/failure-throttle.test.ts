import { failureThrottle } from "../../src/http/failure-throttle.js";

/** A throttle with a clock that the test moves. */
function throttled(budget: { perMinute: number; burst: number }) {
  const clock = { ms: 0 };
  const spend = failureThrottle(budget, () => clock.ms);
  const spendTimes = (times: number, address = "192.0.2.1") =>
    Array.from({ length: times }, () => spend(address));
  return { clock, spend, spendTimes };
}

describe("the budget of failures of one address", () => {
  it("starts with the burst, and then allows one failure for each part of the minute", () => {
    const { clock, spendTimes } = throttled({ perMinute: 60, burst: 3 });
    expect(spendTimes(5)).toEqual([undefined, undefined, undefined, 1, 1]);
    clock.ms = 1000;
    expect(spendTimes(2)).toEqual([undefined, 1]);
  });

  it("refills up to the burst, and no further", () => {
    const { clock, spendTimes } = throttled({ perMinute: 60, burst: 2 });
    spendTimes(2);
    clock.ms = 60 * 60 * 1000;
    expect(spendTimes(3)).toEqual([undefined, undefined, 1]);
  });

  it("names the seconds until it allows a failure again, a minute at most", () => {
    const { clock, spendTimes } = throttled({ perMinute: 1, burst: 1 });
    expect(spendTimes(2)).toEqual([undefined, 60]);
    clock.ms = 45_500;
    expect(spendTimes(1)).toEqual([15]);
  });

  it("is not delayed by further failures", () => {
    const { clock, spendTimes } = throttled({ perMinute: 6, burst: 1 });
    spendTimes(1);
    for (clock.ms = 1; clock.ms < 10_000; clock.ms += 999) expect(spendTimes(1)).not.toEqual([undefined]);
    clock.ms = 10_001;
    expect(spendTimes(1)).toEqual([undefined]);
  });

  it("belongs to one address alone", () => {
    const { spend, spendTimes } = throttled({ perMinute: 1, burst: 1 });
    spendTimes(9, "192.0.2.1");
    expect(spend("192.0.2.2")).toBeUndefined();
  });
});

describe("the table of addresses", () => {
  it("holds 10,000 addresses, and drops the one that failed longest ago", () => {
    const { spend, spendTimes } = throttled({ perMinute: 1, burst: 1 });
    spendTimes(1, "early");
    spendTimes(1, "early but failing on");
    for (let n = 0; n < 9_998; n += 1) spend(`n-${n}`);
    expect(spend("early but failing on")).toBe(60);
    // The table is full: one address more, and the first one has a full budget again.
    spend("one more");
    expect(spend("early but failing on")).toBe(60);
    expect(spend("early")).toBeUndefined();
  });
});
