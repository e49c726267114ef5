import { type Claim, type PaymentStore, TillkitError } from "tillkit";
import { runGroups } from "../../../src/dispatch/group/run-group.js";
import { type AnyHandler } from "../../../src/dispatch/handlers.js";
import { type RunResult } from "../../../src/dispatch/run-claim.js";
import { event } from "../../../src/store/exam/checks/fixtures.js";
import { type RunKey, type RunPart } from "../../../src/store/index.js";
import { sharedRunOptions } from "./shared-run-options.js";

afterEach(() => jest.restoreAllMocks());

const open = new AbortController().signal;
const forever = new Promise<never>(() => {});

/** Stops the clock, so that no group ends because the machine is slow. */
const stopClock = () => jest.spyOn(performance, "now").mockReturnValue(1000);

/** A store whose shared transactions have one row, and the runs of each that was committed. */
function groupStore() {
  const groups: string[][] = [];
  const renewed: string[] = [];
  const released: string[] = [];
  const settle = async (_: object, { eventId }: RunKey) => released.push(eventId) > 0;
  const runShared = async (work: (part: RunPart<object>) => Promise<readonly RunKey[]>): Promise<void> => {
    const runs = await work(async (run) => void (await run({})));
    groups.push(runs.map(({ eventId }) => eventId));
  };
  const store = {
    transaction: async (run: (tx: object) => Promise<unknown>) => run({}),
    runShared,
    renew: async ({ eventId }: RunKey) => renewed.push(eventId) > 0,
    settle,
  };
  return { store: store as typeof store & PaymentStore<object>, groups, renewed, released };
}

/** Returns claims of the events `e0`, `e1`, … with the handler and the options of their runs. */
function claimed(
  options: ReturnType<typeof sharedRunOptions<object>>,
  claims: Partial<Claim>[],
  handler: AnyHandler<object>,
) {
  return claims.map((over, n) => ({
    claim: { event: event(`e${n}`), handler: "books", fence: 1, attempt: 1, failures: 0, ...over },
    handler,
    options,
  }));
}

/** Runs the claims, and returns the size of the next group and each result. */
async function results(runs: ReturnType<typeof claimed>) {
  const ends: [string, RunResult["state"]][] = [];
  const next = await runGroups(runs, runs.length, open, ({ event: { id } }, { state }) =>
    ends.push([id, state]),
  );
  return { next, ends };
}

describe("a group of runs", () => {
  it("makes the next group no larger than the runs that ended within a lease", async () => {
    const { store, released } = groupStore();
    const options = sharedRunOptions(store, 100);
    const handler = () => new Promise((resolve) => setTimeout(resolve, 60));
    // Each has failed before, so each runs in its own transaction.
    const again = { fence: 2, attempt: 2, failures: 1 };
    const next = await runGroups(
      claimed(
        options,
        Array.from({ length: 10 }, () => again),
        handler,
      ),
      10,
      open,
      () => {},
    );
    expect(next).toBe(10 - released.length);
    expect(next).toBeLessThan(5);
  });

  it.each<[string, Partial<Claim>, [string, number][]]>([
    ["ran before", { attempt: 2 }, []],
    ["was released because the store failed", {}, [["e1:books", 1]]],
  ])("has no run of a dispatch that %s, because it may break the transaction", async (_, suspect, losses) => {
    stopClock();
    const { store, groups } = groupStore();
    const options = { ...sharedRunOptions(store), losses: new Map(losses) };
    await results(claimed(options, [{}, suspect, {}, {}], () => undefined));
    expect(groups).toEqual([["e0"], ["e1"], ["e2", "e3"]]);
  });

  it("ends after 50 ms, and leaves the other runs to the next transaction", async () => {
    let ms = 1000;
    jest.spyOn(performance, "now").mockImplementation(() => ms);
    const { store, groups } = groupStore();
    const runs = claimed(sharedRunOptions(store), [{}, {}, {}, {}], () => void (ms += 26));
    const { next, ends } = await results(runs);
    expect(groups).toEqual([
      ["e0", "e1"],
      ["e2", "e3"],
    ]);
    expect(ends).toEqual(["e0", "e1", "e2", "e3"].map((id) => [id, "done"]));
    expect(next).toBe(2);
  });

  it("whose transaction rolls back is followed by a run alone", async () => {
    stopClock();
    const { store, groups } = groupStore();
    const lost = new TillkitError("store_unavailable", "The connection was lost.");
    jest.spyOn(store, "runShared").mockImplementationOnce(async (work) => {
      await work(async (run) => void (await run({})));
      throw lost;
    });
    const runs: string[] = [];
    const handler: AnyHandler<object> = ({ id }) => runs.push(id);
    const { next, ends } = await results(claimed(sharedRunOptions(store), [{}, {}], handler));
    expect(runs).toEqual(["e0", "e1", "e0", "e1"]);
    expect(ends).toEqual([
      ["e0", "done"],
      ["e1", "done"],
    ]);
    expect([next, groups.length]).toEqual([1, 2]);
  });

  it("keeps the order of the events, also where a run is left before one that failed before", async () => {
    let ms = 1000;
    jest.spyOn(performance, "now").mockImplementation(() => ms);
    const { store, groups } = groupStore();
    const again = { attempt: 2, failures: 1 };
    const runs = claimed(sharedRunOptions(store), [{}, {}, again, {}], () => void (ms += 51));
    const { ends } = await results(runs);
    expect(ends.map(([id]) => id)).toEqual(["e0", "e1", "e2", "e3"]);
    expect(groups).toEqual([["e0"], ["e1"], ["e2"], ["e3"]]);
  });

  it("is followed by a group of one where it rolled back after its leases had ended", async () => {
    let ms = 1000;
    jest.spyOn(performance, "now").mockImplementation(() => ms);
    const { store, released } = groupStore();
    jest.spyOn(store, "runShared").mockImplementationOnce(async () => {
      ms += 60_001;
      throw new TillkitError("store_unavailable", "The connection was lost.");
    });
    const { next, ends } = await results(claimed(sharedRunOptions(store), [{}, {}], () => undefined));
    expect([next, ends, released]).toEqual([1, [], ["e0", "e1"]]);
  });

  it("of one run commits nothing where the run was aborted before its handler resolved", async () => {
    const { store, groups, released } = groupStore();
    const closing = new AbortController();
    const runs = claimed(sharedRunOptions(store), [{}], () => closing.abort(new Error("closing")));
    const ends: RunResult[] = [];
    await runGroups(runs, 1, closing.signal, (_, result) => ends.push(result));
    expect([ends, groups, released]).toEqual([[{ state: "released" }], [], ["e0"]]);
  });
});

describe("a group of runs over a slow store", () => {
  beforeEach(
    () =>
      void jest.useFakeTimers({ doNotFake: ["performance", "nextTick", "setImmediate", "queueMicrotask"] }),
  );
  beforeEach(() => void stopClock());
  afterEach(() => void jest.useRealTimers());

  it("renews the leases of the runs that wait, and leaves no timer", async () => {
    const { store, renewed } = groupStore();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const ended = results(claimed(sharedRunOptions(store, 3000), [{}, {}], () => held));
    await jest.advanceTimersByTimeAsync(1000);
    expect(new Set(renewed)).toEqual(new Set(["e0", "e1"]));
    release();
    expect((await ended).ends.map(([, state]) => state)).toEqual(["done", "done"]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it("whose commit has no answer is told once, and its runs are not repeated", async () => {
    const { store, renewed } = groupStore();
    jest.spyOn(store, "runShared").mockImplementation(async (work) => {
      await work(async (run) => void (await run({})));
      await forever;
    });
    const runs: string[] = [];
    const onHanging = jest.fn();
    const handler: AnyHandler<object> = ({ id }) => runs.push(id);
    const options = { ...sharedRunOptions(store), onHanging };
    const ended = results(claimed(options, [{}, {}], handler));
    await jest.advanceTimersByTimeAsync(10_000);
    const { ends } = await ended;
    expect(runs).toEqual(["e0", "e1"]);
    expect(ends).toEqual([
      ["e0", "lost"],
      ["e1", "lost"],
    ]);
    expect(onHanging.mock.calls).toEqual([
      [expect.objectContaining({ event: event("e0") }), expect.anything()],
    ]);
    expect(renewed).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it("whose transaction does not open is told, and its runs have their own transactions", async () => {
    const { store, groups } = groupStore();
    const runShared = store.runShared.bind(store);
    let openLate = (): void => {};
    jest.spyOn(store, "runShared").mockImplementationOnce(async (work) => {
      await new Promise<void>((resolve) => (openLate = resolve));
      await runShared(work);
    });
    const runs: string[] = [];
    const onHanging = jest.fn();
    const handler: AnyHandler<object> = ({ id }) => runs.push(id);
    const options = { ...sharedRunOptions(store), onHanging };
    const ended = results(claimed(options, [{}, {}], handler));
    await jest.advanceTimersByTimeAsync(9999);
    expect(onHanging).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    const { next, ends } = await ended;
    expect(onHanging).toHaveBeenCalledTimes(1);
    expect([next, ends.map(([, state]) => state)]).toEqual([1, ["done", "done"]]);
    openLate();
    await jest.advanceTimersByTimeAsync(1);
    expect(groups).toEqual([["e0"], ["e1"], []]);
    expect(runs).toEqual(["e0", "e1"]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
