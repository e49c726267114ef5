import { event, ledger } from "../../../src/store/exam/checks/fixtures.js";
import { claimed, saved, settled } from "../../../src/store/exam/checks/steps.js";
import { keptInMemory } from "./kept-in-memory.js";

describe.each(keptInMemory)("a dispatch of %s", (_, open) => {
  it("counts a failed run as an attempt with a failure, and a released run as neither", async () => {
    const store = open();
    await store.registerHandlers([ledger]);
    await saved(store, { events: [event("e1")] });
    const counts: object[] = [];
    for (const state of ["released", "released", "failed", "released", "done"] as const) {
      const [claim] = await claimed(store, [ledger]);
      const { attempt, failures } = claim!;
      counts.push({ attempt, failures });
      expect(await settled(store, claim!, { state })).toBe(true);
    }
    expect(counts).toEqual([
      { attempt: 1, failures: 0 },
      { attempt: 1, failures: 0 },
      { attempt: 1, failures: 0 },
      { attempt: 2, failures: 1 },
      { attempt: 2, failures: 1 },
    ]);
    expect(await claimed(store, [ledger])).toEqual([]);
  });
});
