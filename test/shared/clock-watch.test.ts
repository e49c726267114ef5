import { watchClock } from "../../src/shared/clock-watch.js";

describe("the watch of the clock", () => {
  const hourMs = 60 * 60 * 1000;
  let wallMs: number;
  let monotonicMs: number;
  beforeEach(() => {
    [wallMs, monotonicMs] = [Date.parse("2026-11-20T10:00:00.000Z"), 5000];
    jest.spyOn(Date, "now").mockImplementation(() => wallMs);
    jest.spyOn(performance, "now").mockImplementation(() => monotonicMs);
  });
  afterEach(() => jest.restoreAllMocks());

  /** Lets time go by, and sets the clock forward by `jumpMs` meanwhile. */
  function pass(ms: number, jumpMs = 0): void {
    monotonicMs += ms;
    wallMs += ms + jumpMs;
  }

  it.each([10_000, -10_000])("takes a difference of %d ms for a correction of the clock", (jumpMs) => {
    const { look } = watchClock();
    pass(1000, jumpMs);
    expect(look()).toEqual({ lastMs: 0, sumMs: 0 });
  });

  it.each([10_001, -10_001])("reports a jump by %d ms for an hour", (jumpMs) => {
    const { look } = watchClock();
    pass(1000, jumpMs);
    expect(look()).toMatchObject({ lastMs: jumpMs, sumMs: jumpMs });
    pass(hourMs - 1);
    expect(look()).toMatchObject({ lastMs: jumpMs, sumMs: jumpMs });
    pass(1);
    expect(look()).toEqual({ lastMs: 0, sumMs: 0 });
  });

  it("adds the jumps of one hour, and begins again after an hour without a jump", () => {
    const { look } = watchClock();
    pass(1000, hourMs);
    look();
    pass(1000, 20_000);
    expect(look()).toMatchObject({ lastMs: 20_000, sumMs: hourMs + 20_000 });
    pass(hourMs, 30_000);
    expect(look()).toMatchObject({ lastMs: 30_000, sumMs: 30_000 });
  });

  it("returns a cautious time without the jumps forward, until the clock is corrected", () => {
    const { cautious } = watchClock();
    const aheadMs = () => cautious(new Date(wallMs)).getTime() - wallMs;
    expect(aheadMs()).toBe(0);
    pass(1000, hourMs);
    expect(aheadMs()).toBe(-hourMs);
    pass(1000, 20_000);
    expect(aheadMs()).toBe(-hourMs - 20_000);
    pass(1000, -hourMs - 20_000);
    expect(aheadMs()).toBe(0);
    pass(1000, -hourMs);
    expect(aheadMs()).toBe(0);
  });
});
