import { setTimeout as delay } from "node:timers/promises";
import { withTimeout } from "../../src/shared/with-timeout.js";

const never = new Promise<never>(() => undefined);
const makeError = (): Error => new Error("too late");
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

describe("withTimeout", () => {
  it("settles as the work does, and clears its timer", async () => {
    const before = timers();
    await expect(withTimeout(Promise.resolve("done"), 60_000)).resolves.toBe("done");
    await expect(withTimeout(Promise.reject(new Error("failed")), 60_000, makeError)).rejects.toThrow(
      "failed",
    );
    expect(timers()).toBe(before);
  });

  it("rejects with the given error at the deadline", async () => {
    await expect(withTimeout(never, 5, makeError)).rejects.toThrow("too late");
  });

  it("resolves with undefined at the deadline where no error is given", async () => {
    await expect(withTimeout(never, 5)).resolves.toBeUndefined();
  });

  it("ignores a rejection of the work after the deadline", async () => {
    const failsLater = delay(20).then(() => Promise.reject(new Error("failed later")));
    await expect(withTimeout(failsLater, 1)).resolves.toBeUndefined();
    // An unhandled rejection would fail this test.
    await delay(40);
  });

  it("lets the process end while it waits, if asked", async () => {
    const before = timers();
    const waiting = withTimeout(delay(30), 60_000, undefined, { unref: true });
    // Node lists only timers that keep the process alive: here the one of `delay`.
    expect(timers()).toBe(before + 1);
    await waiting;
  });
});
