import { type Claim, type MemoryTx, TillkitError } from "tillkit";
import { type DispatcherOptions } from "../../src/dispatch/dispatcher.js";
import { auditor, event } from "../../src/store/exam/checks/fixtures.js";
import { until } from "../../src/store/exam/checks/steps.js";
import {
  endDispatchers,
  ends,
  hangs,
  held,
  holdClaims,
  ids,
  iterations,
  reaches,
  setUp,
  untilHanging,
} from "./dispatcher-set-up.js";

endDispatchers();

describe("the loop of the dispatcher", () => {
  it("claims as many as it has slots, and says only for how long it leases them", async () => {
    const { claims, dispatcher, handlers } = setUp();
    handlers.add("payment.completed", () => undefined);
    dispatcher.start({ keepAlive: false });
    await reaches(claims, 1);
    expect(claims[0]).toEqual({ handlers: handlers.keys(), limit: 4, leaseMs: 60_000 });
  });

  it("claims again when it is woken, and not before", async () => {
    const { claims, dispatcher, handlers } = setUp();
    handlers.add("payment.completed", () => undefined);
    dispatcher.wake();
    dispatcher.start({ keepAlive: false });
    await reaches(claims, 1);
    for (const count of [2, 3]) {
      await iterations();
      expect(claims).toHaveLength(count - 1);
      dispatcher.wake();
      await reaches(claims, count);
    }
  });

  it("claims again after a wake during a claim, because that claim may not have seen the new event", async () => {
    const { claims, dispatcher, handlers, store } = setUp();
    handlers.add("payment.completed", () => undefined);
    const end = holdClaims({ store, claims });
    dispatcher.start({ keepAlive: false });
    await reaches(claims, 1);
    dispatcher.wake();
    end();
    await reaches(claims, 2);
    end();
    await iterations();
    expect(claims).toHaveLength(2);
    await ends.pop()?.();
  });

  it("claims again at each poll, also after the store or its start failed", async () => {
    const error = new Error("away");
    let starts = 0;
    const ready = () => (++starts === 1 ? Promise.reject(error) : Promise.resolve());
    const { claims, dispatcher, handlers, notices, save, store } = setUp({ pollMs: 1, ready });
    const seen: string[] = [];
    handlers.add("payment.completed", ({ id }) => seen.push(id));
    const claim = store.claim.bind(store);
    store.claim = (options) => ((store.claim = claim), claims.push(options), Promise.reject(error));
    await save(event("e1"));
    dispatcher.start({ keepAlive: false });
    await reaches(seen, 1);
    const unavailable = ["store.unavailable", { during: "claim", error }];
    expect(notices).toEqual([unavailable, unavailable]);
  });

  it("claims nothing without a handler, and waits for a wake", async () => {
    const { claims, dispatcher, handlers } = setUp();
    const keys = jest.spyOn(handlers, "keys");
    dispatcher.start({ keepAlive: false });
    for (const count of [1, 2]) {
      await iterations();
      expect(keys).toHaveBeenCalledTimes(count);
      dispatcher.wake();
    }
    expect(claims).toEqual([]);
  });

  it("is one loop, however often it is started, and none after it was stopped", async () => {
    const { claims, dispatcher, handlers } = setUp();
    handlers.add("payment.completed", () => undefined);
    dispatcher.start({ keepAlive: false });
    dispatcher.start({ keepAlive: false });
    await reaches(claims, 1);
    dispatcher.wake();
    await reaches(claims, 2);
    await dispatcher.stop(0);
    dispatcher.start({ keepAlive: false });
    dispatcher.wake();
    await iterations();
    expect(claims).toHaveLength(2);
  });

  it("leaves a dispatch alone whose handler this process does not have", async () => {
    const { dispatcher, handlers, notices, save, store } = setUp();
    handlers.add("payment.completed", () => undefined);
    await store.registerHandlers([auditor]);
    await save(event("e1"));
    const [other] = await store.claim({ handlers: [auditor], limit: 1, leaseMs: 60_000 });
    let isGiven = false;
    store.claim = async () => (isGiven ? [] : ((isGiven = true), [other!]));
    dispatcher.start({ keepAlive: false });
    await until(async () => isGiven || undefined);
    await dispatcher.stop(1000);
    expect(notices).toEqual([]);
    const run = { eventId: "e1", handler: "auditor", fence: 1 };
    expect(await store.renew(run, 1000)).toBe(true);
  });
});

describe("the slots of a dispatcher", () => {
  it("are all taken at most, and claims go on when one is free", async () => {
    const { claims, dispatcher, handlers, save } = setUp({ concurrency: 1 });
    const { releases, run } = held();
    handlers.add("payment.completed", run);
    await save(...ids(2));
    dispatcher.start({ keepAlive: false });
    await reaches(releases, 1);
    dispatcher.wake();
    await iterations();
    expect(claims).toHaveLength(1);
    releases[0]!();
    await reaches(releases, 2);
    expect(claims.map(({ limit }) => limit)).toEqual([1, 1]);
    releases[1]!();
  });

  it.each([
    [4, ["books"], 4],
    [20, ["books"], 20],
    [5, ["books", "mail"], 2],
    [1, ["books", "mail"], 1],
  ])(
    "of %i handlers at the same time, for the names %j, are %i for each name",
    async (concurrency, names, limit) => {
      const { claims, dispatcher, handlers } = setUp({ concurrency });
      for (const name of names) {
        handlers.add("payment.completed", () => undefined, { name });
        handlers.add("payment.overdue", () => undefined, { name });
      }
      dispatcher.start({ keepAlive: false });
      await reaches(claims, 1);
      expect(claims[0]).toMatchObject({ handlers: handlers.keys(), limit });
    },
  );

  it("cause no warning of Node, however many they are", async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error) => void warnings.push(name);
    process.on("warning", note);
    const { dispatcher, handlers, save } = setUp({ concurrency: 20 });
    const { releases, run } = held();
    handlers.add("payment.completed", run);
    await save(...ids(20));
    dispatcher.start({ keepAlive: false });
    await reaches(releases, 20);
    await iterations();
    process.off("warning", note);
    expect(warnings).toEqual([]);
    for (const release of releases) release();
  });

  it("that are left after a full claim are claimed for, without a wake", async () => {
    const { claims, dispatcher, handlers, save } = setUp();
    const { releases, run } = held();
    handlers.add("payment.overdue", run, { name: "slow" });
    handlers.add("payment.completed", run, { name: "books" });
    await save(event("e1", { type: "payment.overdue" }), event("e2"), event("e3"), event("e4"));
    dispatcher.start({ keepAlive: false });
    await reaches(releases, 3);
    await reaches(claims, 3);
    expect(claims.map(({ limit }) => limit)).toEqual([2, 1, 1]);
    expect(claims.at(-1)?.handlers).toEqual([{ event: "payment.overdue", name: "slow" }]);
    for (const release of releases) release();
  });

  it("wait for further free ones while more than half are taken, because one claim can take several", async () => {
    jest.spyOn(performance, "now").mockReturnValue(1000);
    const { claims, dispatcher, handlers, save } = setUp();
    const { releases, run } = held();
    handlers.add("payment.completed", run);
    await save(...ids(6));
    dispatcher.start({ keepAlive: false });
    await reaches(releases, 4);
    releases[0]!();
    await iterations();
    expect(claims).toHaveLength(1);
    releases[1]!();
    await reaches(releases, 6);
    expect(claims.map(({ limit }) => limit)).toEqual([4, 2]);
    for (const release of releases) release();
  });

  it("wait for further free ones no longer than 5 ms", async () => {
    const now = jest.spyOn(performance, "now").mockReturnValue(1000);
    const { claims, dispatcher, handlers, save } = setUp();
    const { releases, run } = held();
    handlers.add("payment.completed", run);
    await save(...ids(5));
    dispatcher.start({ keepAlive: false });
    await reaches(releases, 4);
    releases[0]!();
    await iterations();
    expect(claims).toHaveLength(1);
    now.mockReturnValue(1005);
    await reaches(releases, 5);
    expect(claims.map(({ limit }) => limit)).toEqual([4, 1]);
    for (const release of releases) release();
  });

  it("that run and that hang are no more than the maximum, because each keeps a connection", async () => {
    const retry = { maxFailures: 1, firstDelayMs: 1000, maxDelayMs: 2000 };
    const { claims, dispatcher, handlers, save, store } = setUp({ concurrency: 8, retry });
    const { releases, run } = held();
    let [failing, hanging] = [5, 5];
    handlers.add("payment.completed", () => (failing-- > 0 ? Promise.reject(new Error("it failed")) : run()));
    const runHandler = store.runHandler.bind(store);
    store.runHandler = (call, finish) =>
      hanging-- > 0 ? hangs(runHandler(call, finish)) : runHandler(call, finish);
    await save(...ids(20));
    dispatcher.start({ keepAlive: false });
    await untilHanging(dispatcher, 5);
    expect(releases).toHaveLength(3);
    releases[0]!();
    await reaches(releases, 4);
    expect(claims.map(({ limit }) => limit)).toEqual([8, 1]);
    for (const release of releases) release();
  });

  it("have each name's transactions that hang in the number of all", async () => {
    const { dispatcher, handlers, notices, save, store } = setUp();
    const fails = () => Promise.reject(new Error("it failed"));
    for (const name of ["books", "mail"]) handlers.add("payment.completed", fails, { name });
    const runHandler = store.runHandler.bind(store);
    store.runHandler = (call, finish) => hangs(runHandler(call, finish));
    await save(event("e1"));
    dispatcher.start({ keepAlive: false });
    while (notices.filter(([type]) => type === "store.unavailable").length < 2) await iterations(1);
    expect(dispatcher.hanging).toBe(2);
  });
});

describe("the end of a run is noticed", () => {
  const error = new Error("no");
  const lost = new TillkitError("store_unavailable", "The store is away.");

  /** Runs one handler that throws. Returns the notices about it. */
  async function noticesOf(thrown: unknown, over: Partial<DispatcherOptions<MemoryTx>> = {}) {
    const { dispatcher, handlers, notices, save, store } = setUp(over);
    const settled: string[] = [];
    const settle = store.settle.bind(store);
    store.settle = (tx, settlement) => {
      settled.push(settlement.state);
      return settle(tx, settlement);
    };
    handlers.add("payment.completed", () => Promise.reject(thrown), { name: "books" });
    await save(event("e1"));
    dispatcher.start({ keepAlive: false });
    if (thrown !== leaseLost) await reaches(settled, 1);
    else await iterations();
    await dispatcher.stop(1000);
    return notices;
  }
  const leaseLost = new TillkitError("lease_lost", "The lease was lost.");
  const { payload, ...about } = event("e1");
  const named = { event: { ...payload, ...about }, handler: "books" };

  it("as a failure that is tried again", async () => {
    expect(await noticesOf(error)).toEqual([["dispatch.failed", { ...named, failures: 1, error }]]);
  });

  it("as a dispatch that is dead, with the error as its text", async () => {
    const retry = { maxFailures: 1, firstDelayMs: 1, maxDelayMs: 2 };
    expect(await noticesOf(error, { retry })).toEqual([["dispatch.dead", { ...named, error: "Error: no" }]]);
  });

  it("as a store that was not available", async () => {
    expect(await noticesOf(lost)).toEqual([["store.unavailable", { during: "handler", error: lost }]]);
  });

  it("as a store that was not available where the end could not be stored", async () => {
    const { dispatcher, handlers, notices, save, store } = setUp();
    store.settle = () => Promise.reject(lost);
    handlers.add("payment.completed", () => Promise.reject(error), { name: "books" });
    await save(event("e1"));
    dispatcher.start({ keepAlive: false });
    await reaches(notices, 1);
    expect(notices).toEqual([["store.unavailable", { during: "handler", error: lost }]]);
  });

  it("not where another process has the dispatch now", async () => {
    expect(await noticesOf(leaseLost)).toEqual([]);
  });
});

describe("the stop of a dispatcher", () => {
  /** Returns what counts the timers that were set since, have not ended, and keep the process alive. */
  function countTimers(): () => number {
    const running = new Set<NodeJS.Timeout>();
    const { setTimeout: set, clearTimeout: clear } = globalThis;
    jest.spyOn(globalThis, "setTimeout").mockImplementation((run: () => void, ms?: number) => {
      const timer = set(() => (running.delete(timer), run()), ms);
      running.add(timer);
      return timer;
    });
    jest.spyOn(globalThis, "clearTimeout").mockImplementation((timer) => {
      running.delete(timer as NodeJS.Timeout);
      clear(timer);
    });
    return () => [...running].filter((timer) => timer.hasRef()).length;
  }

  it("claims nothing more, also where the store became ready only after it", async () => {
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    let waits = false;
    const { claims, dispatcher, handlers } = setUp({ ready: () => ((waits = true), opened) });
    handlers.add("payment.completed", () => undefined);
    dispatcher.start({ keepAlive: false });
    await until(async () => waits || undefined);
    const stopped = dispatcher.stop(1000);
    open();
    await stopped;
    await iterations();
    expect(claims).toEqual([]);
  });

  it("aborts runs that are not done in time, gives them back, and notices none of it", async () => {
    const { dispatcher, handlers, notices, save, store } = setUp();
    const signals: AbortSignal[] = [];
    handlers.add("payment.completed", (_, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    await save(event("e1"));
    dispatcher.start({ keepAlive: false });
    await reaches(signals, 1);
    expect(signals[0]?.aborted).toBe(false);
    await dispatcher.stop(1);
    expect(signals[0]).toMatchObject({ aborted: true, reason: expect.any(Error) });
    const again: Claim[] = await store.claim({ handlers: handlers.keys(), limit: 1, leaseMs: 1 });
    expect(again).toMatchObject([{ attempt: 1, failures: 0 }]);
    expect(notices).toEqual([]);
  });

  it("waits until the runs that it aborts are given back", async () => {
    const { dispatcher, handlers, save, store } = setUp();
    const { releases, run } = held();
    handlers.add("payment.completed", run);
    await save(event("e1"));
    const settle = store.settle.bind(store);
    const settled: string[] = [];
    store.settle = async (tx, settlement) => {
      await iterations(20);
      settled.push(settlement.state);
      return settle(tx, settlement);
    };
    dispatcher.start({ keepAlive: false });
    await reaches(releases, 1);
    await dispatcher.stop(1);
    expect(settled).toEqual(["released"]);
  });

  it("leaves no timer and aborts no run that ends in time", async () => {
    const { dispatcher, handlers, save } = setUp();
    const { releases, run } = held();
    const signals: AbortSignal[] = [];
    handlers.add("payment.completed", (_, { signal }) => (signals.push(signal), run()));
    await save(event("e1"));
    const timers = countTimers();
    dispatcher.start({ keepAlive: true });
    await reaches(releases, 1);
    const stopped = dispatcher.stop(60_000);
    await iterations();
    releases[0]!();
    await stopped;
    expect([timers(), signals[0]?.aborted]).toEqual([0, false]);
  });

  it("waits for the runs of a claim that was under way", async () => {
    const { claims, dispatcher, handlers, save, store } = setUp();
    const { releases, run } = held();
    handlers.add("payment.completed", run);
    await save(event("e1"));
    const claim = store.claim.bind(store);
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    store.claim = async (options) => {
      const claimed = await claim(options);
      await answered;
      return claimed;
    };
    dispatcher.start({ keepAlive: false });
    await reaches(claims, 1);
    let isStopped = false;
    const stopped = dispatcher.stop(60_000).then(() => (isStopped = true));
    answer();
    await reaches(releases, 1);
    await iterations();
    expect(isStopped).toBe(false);
    releases[0]!();
    await stopped;
  });

  it("waits for two seconds more than the drain, and then no longer for a store that hangs", async () => {
    const { claims, dispatcher, handlers, store } = setUp();
    handlers.add("payment.completed", () => undefined);
    store.claim = (options) => (claims.push(options), new Promise(() => {}));
    dispatcher.start({ keepAlive: false });
    await reaches(claims, 1);
    ends.pop();
    jest.useFakeTimers({ doNotFake: ["performance", "nextTick", "setImmediate", "queueMicrotask"] });
    try {
      let isStopped = false;
      const stopped = dispatcher.stop(1000).then(() => (isStopped = true));
      await jest.advanceTimersByTimeAsync(2999);
      expect(isStopped).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      await stopped;
    } finally {
      jest.useRealTimers();
    }
  });

  it.each([
    [[false], 0],
    [[true], 1],
    [[false, true], 1],
    [[true, false], 1],
  ])("lets the process end, which starts with keepAlive %j keep alive by %i timers", async (starts, kept) => {
    const { claims, dispatcher, handlers } = setUp();
    handlers.add("payment.completed", () => undefined);
    const timers = countTimers();
    for (const [index, keepAlive] of starts.entries()) {
      dispatcher.start({ keepAlive });
      await reaches(claims, index + 1);
      await iterations();
    }
    expect(timers()).toBe(kept);
    await dispatcher.stop(0);
    expect(timers()).toBe(0);
  });

  it.each([
    [false, 0],
    [true, 1],
  ])("lets the process end during a claim, which starts with keepAlive %j", async (keepAlive, kept) => {
    const { claims, dispatcher, handlers, store } = setUp();
    handlers.add("payment.completed", () => undefined);
    const end = holdClaims({ store, claims });
    const timers = countTimers();
    dispatcher.start({ keepAlive });
    await reaches(claims, 1);
    expect(timers()).toBe(kept);
    end();
    await ends.pop()?.();
  });
});

it("a dispatcher tells that the store does not open, and stops nevertheless", async () => {
  const { dispatcher, notices, handlers } = setUp({ ready: () => new Promise(() => {}), leaseMs: 1000 });
  handlers.add("payment.completed", () => undefined);
  jest.useFakeTimers({ doNotFake: ["nextTick", "performance", "queueMicrotask", "setImmediate"] });
  dispatcher.start({ keepAlive: false });
  await iterations();
  jest.advanceTimersByTime(6000);
  jest.useRealTimers();
  await iterations();
  expect(notices).toMatchObject([
    ["store.unavailable", { during: "claim", error: { code: "store_unavailable" } }],
  ]);
});
