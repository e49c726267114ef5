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
    const from = performance.now();
    limiter.hold(60);
    expect(await limiter.acquire()).toBe(true);
    expect(performance.now() - from).toBeGreaterThanOrEqual(55);
    expect(limiter.isHeld()).toBe(false);
    limiter.hold(60_000);
    expect(limiter.isHeld()).toBe(true);
  });

  it("holds also a call that waits already, and spaces the waiting ones out afterwards", async () => {
    const limiter = new RateLimiter(50, new AbortController().signal);
    const from = performance.now();
    await limiter.acquire();
    const waiting = limiter.acquire();
    limiter.hold(100);
    // A shorter hold does not end a longer one.
    limiter.hold(1);
    const ends = [waiting, limiter.acquire(), limiter.acquire(), limiter.acquire()].map((call) =>
      call.then(() => performance.now() - from),
    );
    const times = await Promise.all(ends);
    expect(times[0]).toBeGreaterThanOrEqual(99);
    expect(times[3]).toBeGreaterThanOrEqual(135);
  });

  it("lets no call pass the waiting ones after a short hold", async () => {
    const limiter = new RateLimiter(50, new AbortController().signal);
    const looked = jest.spyOn(performance, "now").mockReturnValue(performance.now());
    const ends: string[] = [];
    const acquire = (name: string) => limiter.acquire().then(() => ends.push(name));
    const calls = ["first", "second", "third"].map(acquire);
    limiter.hold(1);
    calls.push(acquire("later"));
    looked.mockRestore();
    await Promise.all(calls);
    expect(ends).toEqual(["first", "second", "third", "later"]);
  });

  it("waits for the end of a hold with one timer, and does not poll", async () => {
    const limiter = new RateLimiter(50, new AbortController().signal);
    await limiter.acquire();
    const waiting = limiter.acquire();
    limiter.hold(200);
    const looked = jest.spyOn(performance, "now");
    await waiting;
    expect(looked.mock.calls.length).toBeLessThan(20);
    looked.mockRestore();
  });

  it("ends all waiting when its signal aborts", async () => {
    const closing = new AbortController();
    // The second call would wait for more than a quarter of an hour.
    const limiter = new RateLimiter(0.001, closing.signal);
    await limiter.acquire();
    const waiting = limiter.acquire();
    closing.abort();
    expect(await waiting).toBe(false);
    expect(await limiter.acquire()).toBe(false);
  });

  it("does not keep the process alive while a call waits", async () => {
    const closing = new AbortController();
    const limiter = new RateLimiter(0.001, closing.signal);
    // Timers that do not keep the process alive are not listed.
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    await limiter.acquire();
    const before = timers();
    const waiting = limiter.acquire();
    expect(timers()).toBe(before);
    closing.abort();
    await waiting;
  });
});
