import { startTimeLimit } from "../../src/dispatch/guard-run.js";

describe("the time limit of a run", () => {
  let blockedMs: number;
  let ends: number;
  beforeEach(() => {
    jest.useFakeTimers();
    [blockedMs, ends] = [0, 0];
    const fake = performance.now.bind(performance);
    jest.spyOn(performance, "now").mockImplementation(() => fake() + blockedMs);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  const start = (limitMs: number) => startTimeLimit(limitMs, () => (ends += 1));
  /** Lets time go by as in a process whose event loop is blocked: no timer runs meanwhile. */
  const block = (ms: number): void => void (blockedMs += ms);

  it.each([1, 999, 1000, 1001, 30_000])("ends it once, after %i ms and not before", (limitMs) => {
    start(limitMs);
    jest.advanceTimersByTime(limitMs - 1);
    expect(ends).toBe(0);
    jest.advanceTimersByTime(1);
    expect(ends).toBe(1);
    jest.advanceTimersByTime(limitMs * 20);
    expect(ends).toBe(1);
  });

  it("can be stopped at any time", () => {
    for (const afterMs of [0, 1500]) {
      const stop = start(2000);
      jest.advanceTimersByTime(afterMs);
      stop();
      jest.advanceTimersByTime(10_000);
    }
    expect(ends).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it("does not count the time in which the event loop was blocked", () => {
    start(30_000);
    jest.advanceTimersByTime(10_000);
    block(25_000);
    // A timer that is late by less is nothing special.
    jest.advanceTimersByTime(19_800);
    expect(ends).toBe(0);
    jest.advanceTimersByTime(200);
    expect(ends).toBe(1);
  });

  it("does not count it either where the limit is shorter than the time that was blocked", () => {
    start(500);
    block(3000);
    jest.advanceTimersByTime(500);
    expect(ends).toBe(1);
    start(1500);
    block(5000);
    jest.advanceTimersByTime(1300);
    expect(ends).toBe(1);
  });

  it("counts small delays, so that a busy process ends its runs too", () => {
    start(10_000);
    for (let second = 0; second < 9; second++) {
      block(100);
      jest.advanceTimersByTime(1000);
    }
    expect(ends).toBe(0);
    jest.advanceTimersByTime(100);
    expect(ends).toBe(1);
  });

  it("ends after ten times the limit, however often the event loop is blocked", () => {
    start(3000);
    block(29_000);
    jest.advanceTimersByTime(1200);
    expect(ends).toBe(1);
  });
});

it("a time limit that ends during a block of the event loop is not reached yet after it", async () => {
  let ends = 0;
  const stop = startTimeLimit(1000, () => (ends += 1));
  const blockedUntil = performance.now() + 1500;
  while (performance.now() < blockedUntil);
  // The timers that are due run before this callback.
  await new Promise((resolve) => setTimeout(() => setImmediate(resolve), 1));
  expect(ends).toBe(0);
  stop();
});
