import { DispatchesTable } from "../../../src/store/memory/dispatches-table.js";
import { event, ledger } from "../../../src/store/exam/checks/fixtures.js";

const handlers = [ledger];
let now = 0;

beforeEach(() => {
  // A process that has run for a day.
  now = 86_400_000;
  jest.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());

/** A table with one event, whose dispatch is claimed for this time. */
function leased(leaseMs: number) {
  const table = new DispatchesTable();
  table.register(handlers);
  table.insert(event("e1"));
  table.commit();
  const claim = () => table.claim({ handlers, limit: 10, leaseMs });
  const [first] = claim();
  const run = (fence: number) => ({ eventId: "e1", handler: "ledger", fence });
  return { table, claim, first, run };
}

describe("a lease in memory", () => {
  it("lasts from the claim on, however long the dispatch was due", () => {
    const { claim, first } = leased(1000);
    expect(first).toMatchObject({ fence: 1, attempt: 1, failures: 0 });
    now += 999;
    expect(claim()).toEqual([]);
    now += 1;
    expect(claim()).toMatchObject([{ fence: 2, attempt: 2, failures: 0 }]);
    now += 999;
    expect(claim()).toEqual([]);
  });

  it("that is renewed lasts from the renewal on", () => {
    const { table, claim, run } = leased(60_000);
    expect(table.renew(run(1), 500)).toBe(true);
    now += 499;
    expect(claim()).toEqual([]);
    now += 1;
    expect(claim()).toHaveLength(1);
    expect(table.renew(run(1), 500)).toBe(false);
  });

  it("counts no failure where it ended without a settlement, however often", () => {
    const { claim } = leased(1000);
    for (let attempt = 2; attempt < 6; attempt++) {
      now += 1000;
      expect(claim()).toMatchObject([{ attempt, fence: attempt, failures: 0 }]);
    }
  });

  it("that is settled as failed ends after its wait, from the failure on", () => {
    const { table, claim, run } = leased(60_000);
    expect(table.settle({ ...run(1), state: "failed", retryInMs: 300, error: "no" })).toBe(true);
    table.commit();
    now += 299;
    expect(claim()).toEqual([]);
    now += 1;
    expect(claim()).toMatchObject([{ attempt: 2, failures: 1 }]);
  });
});
