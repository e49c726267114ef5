import { setImmediate as nextIteration } from "node:timers/promises";
import { CallWatch } from "../../../src/store/exam/call-watch.js";

let time = 0;
beforeEach(() => {
  time = 0;
  jest.spyOn(performance, "now").mockImplementation(() => time);
});
afterEach(() => jest.restoreAllMocks());

describe("the calls of a check", () => {
  it("stand from the end of the last call on, however long the check runs", async () => {
    const watch = new CallWatch();
    const end = watch.begin("store.find()");
    time = 40;
    end();
    time = 50;
    let isStanding = false;
    const standing = watch.stands(50, new AbortController().signal).then(() => (isStanding = true));
    await nextIteration();
    expect(isStanding).toBe(false);
    time = 90;
    await standing;
  });

  it("are described by those that have ended and the oldest that has not", () => {
    const watch = new CallWatch();
    const ends = ["a", "b", "c", "d"].map((name) => watch.begin(name));
    for (const [index, ms] of [1, 2, 30].entries()) {
      time = ms;
      ends[index === 0 ? 0 : index + 1]!();
    }
    time = 5000;
    expect(watch.describe()).toBe(
      "3 calls took 2 ms in the median, 30 ms at most; b has not ended for 5 s. It may wait for a connection or a lock that an earlier call has not released.",
    );
    watch.begin("e");
    expect(watch.describe()).toContain("; b has not ended for 5 s, nor has one other call. Each of them may");
  });

  it("are described with the step that runs, and not with one that has ended", async () => {
    const watch = new CallWatch();
    await watch.during("create", async () => {
      expect(watch.describe()).toContain("; create has not ended.");
    });
    expect(watch.describe()).toContain("; no call is running, and the check has not ended.");
  });
});
