import { joinCalls } from "../../src/shared/join-calls.js";

describe("joinCalls", () => {
  it("starts one run for the calls during it, and a new run for the next call", async () => {
    let runs = 0;
    const join = joinCalls(async () => ++runs);
    expect(await Promise.all([join(), join(), join()])).toEqual([1, 1, 1]);
    expect(await join()).toBe(2);
  });

  it("rejects each joined call as its run does, and then runs again", async () => {
    let runs = 0;
    const join = joinCalls(async () => {
      runs += 1;
      if (runs === 1) throw new Error("The first run fails.");
    });
    const ended = await Promise.allSettled([join(), join()]);
    expect(ended.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(join()).resolves.toBeUndefined();
  });
});
