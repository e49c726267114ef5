import { setImmediate as nextIteration } from "node:timers/promises";
import { createSandbox } from "tillkit/sandbox";

/** Returns the number of listening servers that keep this process alive. */
const listening = () => process.getActiveResourcesInfo().filter((name) => name === "TCPServerWrap").length;

describe("a sandbox that listens", () => {
  it.each([
    ["keeps its process alive if nothing else is said", undefined, 1],
    ["keeps its process alive if an option says so", { keepAlive: true }, 1],
    ["does not keep its process alive with keepAlive: false", { keepAlive: false }, 0],
  ])("%s", async (_sentence, options, count) => {
    const before = listening();
    const sandbox = createSandbox();
    await sandbox.start(options);
    expect(listening() - before).toBe(count);
    await sandbox.close();
    // The closed server must not count in the next test.
    while (listening() > before) await nextIteration();
  });
});
