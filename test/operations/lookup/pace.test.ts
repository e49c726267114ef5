import { Pace } from "../../../src/operations/lookup/pace.js";

describe("a pace", () => {
  it("lets no more through than so many in a second", async () => {
    const pace = new Pace(100, new AbortController().signal);
    const from = performance.now();
    await Promise.all(Array.from({ length: 21 }, () => pace.turn()));
    expect(performance.now() - from).toBeGreaterThanOrEqual(195);
  });

  it("holds everybody back for as long as it is told, and says so", async () => {
    const pace = new Pace(1000, new AbortController().signal);
    expect(pace.isHeld()).toBe(false);
    pace.hold(60);
    expect(pace.isHeld()).toBe(true);
    const from = performance.now();
    expect(await pace.turn()).toBe(true);
    expect(performance.now() - from).toBeGreaterThanOrEqual(55);
    expect(pace.isHeld()).toBe(false);
  });

  it("lets whoever waits go without a turn when it ends", async () => {
    const closing = new AbortController();
    const pace = new Pace(1, closing.signal);
    await pace.turn();
    const waiting = pace.turn();
    closing.abort();
    expect(await waiting).toBe(false);
    expect(await pace.turn()).toBe(false);
  });
});
