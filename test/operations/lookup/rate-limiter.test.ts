import { RateLimiter } from "../../../src/operations/lookup/rate-limiter.js";

describe("a rate limiter", () => {
  it("allows only the given number of calls per second", async () => {
    const limiter = new RateLimiter(100, new AbortController().signal);
    const from = performance.now();
    await Promise.all(Array.from({ length: 21 }, () => limiter.acquire()));
    expect(performance.now() - from).toBeGreaterThanOrEqual(195);
  });

  it("holds all calls for the given time, and reports it", async () => {
    const limiter = new RateLimiter(1000, new AbortController().signal);
    expect(limiter.isHeld()).toBe(false);
    limiter.hold(60);
    expect(limiter.isHeld()).toBe(true);
    const from = performance.now();
    expect(await limiter.acquire()).toBe(true);
    expect(performance.now() - from).toBeGreaterThanOrEqual(55);
    expect(limiter.isHeld()).toBe(false);
  });

  it("ends all waiting when its signal aborts", async () => {
    const closing = new AbortController();
    const limiter = new RateLimiter(1, closing.signal);
    await limiter.acquire();
    const waiting = limiter.acquire();
    closing.abort();
    expect(await waiting).toBe(false);
    expect(await limiter.acquire()).toBe(false);
  });
});
