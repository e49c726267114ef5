import { type PaymentStore } from "tillkit";
import { runGroups } from "../../../src/dispatch/group/run-group.js";
import { event } from "../../../src/store/exam/checks/fixtures.js";
import { sharedRunOptions } from "./shared-run-options.js";

describe("a group of runs", () => {
  it("makes the next group no larger than the runs that ended within a lease", async () => {
    const released: string[] = [];
    const store = {
      transaction: async (run: (tx: object) => Promise<unknown>) => run({}),
      runShared: async (work: (part: (run: (tx: object) => unknown) => unknown) => Promise<unknown>) =>
        void (await work(async (run) => run({}))),
      renew: async () => true,
      settle: async (_: object, { eventId }: { eventId: string }) => released.push(eventId) > 0,
    } as unknown as PaymentStore;
    const options = sharedRunOptions(store, 100);
    const handler = () => new Promise((resolve) => setTimeout(resolve, 60));
    // Each has failed before, so each runs in its own transaction.
    const claimed = Array.from({ length: 10 }, (_, n) => ({
      claim: { event: event(`e${n}`), handler: "books", fence: 2, attempt: 2, failures: 1 },
      handler,
      options,
    }));
    const next = await runGroups(claimed, 10, new AbortController().signal, () => {});
    expect(next).toBe(10 - released.length);
    expect(next).toBeLessThan(5);
  });
});
