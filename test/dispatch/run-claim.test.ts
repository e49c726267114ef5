import { getEventListeners } from "node:events";
import { type Claim, MemoryStore, type MemoryTx, TillkitError } from "tillkit";
import { handlerEvent, runClaim, type RunOptions } from "../../src/dispatch/run-claim.js";
import { type AnyHandler } from "../../src/dispatch/handlers.js";
import { hmacSignature } from "../../src/webhook/signature/index.js";

const handlers = [{ event: "payment.completed", name: "books" }] as const;
const open = new AbortController().signal;

/** Leases one dispatch of a store, and returns how to run it. */
async function leasedRun(over: Partial<RunOptions<MemoryTx>> = {}, leaseMs = 60_000) {
  const store = over.store ?? new MemoryStore();
  const event = {
    id: "e-1",
    type: "payment.completed",
    recordedAt: "2026-11-20T10:00:06.000Z",
    payload: {},
  } as const;
  await store.registerHandlers(handlers);
  await store.transaction((tx) => store.save(tx, { events: [event] }));
  const [claim] = await store.claim({ handlers, limit: 1, leaseMs });
  const options: RunOptions<MemoryTx> = {
    store,
    leaseMs,
    handlerTimeoutMs: 60_000,
    maxLostLeases: 3,
    retry: { maxFailures: 5, firstDelayMs: 1000, maxDelayMs: 60_000 },
    losses: new Map(),
    onHanging: () => {},
    ...over,
  };
  const run = (
    handler: AnyHandler<MemoryTx>,
    { closing = open, ...as }: Partial<Claim> & { closing?: AbortSignal } = {},
  ) => runClaim(options, { ...claim!, ...as }, handler, closing);
  return { store, claim: claim!, run };
}

const fails = (): never => {
  throw new Error("it failed");
};

describe("the counts of a claim", () => {
  it.each([
    ["failures alone are no crashes", { attempt: 4, failures: 3 }, "failed"],
    ["crashes alone are no failures", { attempt: 3, failures: 0 }, "failed"],
    [
      "the last failure is the last run, however many crashes came before",
      { attempt: 6, failures: 4 },
      "dead",
    ],
    ["too many crashes are the end, however few failures came before", { attempt: 5, failures: 1 }, "dead"],
  ])("%s", async (_, counts, state) => {
    const { run } = await leasedRun();
    const result = await run(fails, counts);
    const failures = state === "failed" ? { failures: counts.failures + 1 } : {};
    expect(result).toMatchObject({ state, ...failures });
  });

  it("does not run a handler during whose runs the process ended too often", async () => {
    const { run } = await leasedRun();
    let runs = 0;
    const result = await run(() => void (runs += 1), { attempt: 4, failures: 0 });
    expect(result).toMatchObject({ state: "dead", error: { code: "handler_crashed_often" } });
    expect(runs).toBe(0);
  });
});

describe("a store that hangs", () => {
  beforeEach(
    () =>
      void jest.useFakeTimers({ doNotFake: ["performance", "nextTick", "setImmediate", "queueMicrotask"] }),
  );
  afterEach(() => void jest.useRealTimers());

  it.each([
    ["a failed run", fails, {}],
    ["a dispatch during whose runs the process ended too often", () => undefined, { attempt: 4 }],
  ])("keeps the end of %s for no longer than a lease and five seconds", async (_, handler, counts) => {
    const onHanging = jest.fn();
    const { run, store } = await leasedRun({ onHanging });
    store.settle = () => new Promise(() => {});
    const ended = run(handler, counts);
    await jest.advanceTimersByTimeAsync(64_999);
    expect(onHanging).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(await ended).toMatchObject({ state: "lost" });
    expect(onHanging).toHaveBeenCalledTimes(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it("delays the end of a run by no more than a third of its lease", async () => {
    // The limit of the handler is measured by `performance.now()`.
    jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "queueMicrotask"] });
    const onHanging = jest.fn();
    const { run, store } = await leasedRun({ onHanging, handlerTimeoutMs: 10, leaseMs: 300 });
    store.runHandler = () => new Promise(() => {});
    const ended = run(() => undefined);
    await jest.advanceTimersByTimeAsync(109);
    expect(onHanging).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(await ended).toMatchObject({ state: "failed", error: { code: "handler_timeout" } });
    expect(onHanging).toHaveBeenCalledTimes(1);
  });
});

describe("the wait before the next run", () => {
  it.each([
    [0, 1000],
    [1, 2000],
    [3, 8000],
  ])("after %i earlier failures is between half and all of %i ms", async (failures, fullMs) => {
    for (const [random, expected] of [
      [0, fullMs / 2],
      [1, fullMs],
    ] as const) {
      jest.spyOn(Math, "random").mockReturnValue(random);
      const { store, run } = await leasedRun();
      const settle = jest.spyOn(store, "settle");
      await run(fails, { attempt: failures + 1, failures });
      expect(settle.mock.calls[0]![1]).toMatchObject({ state: "failed", retryInMs: expected });
    }
    jest.restoreAllMocks();
  });

  it("is never longer than its limit", async () => {
    jest.spyOn(Math, "random").mockReturnValue(1);
    const retry = { maxFailures: 5000, firstDelayMs: 1000, maxDelayMs: 60_000 };
    const { store, run } = await leasedRun({ retry });
    const settle = jest.spyOn(store, "settle");
    await run(fails, { attempt: 2001, failures: 2000 });
    expect(settle.mock.calls[0]![1]).toMatchObject({ retryInMs: 60_000 });
    jest.restoreAllMocks();
  });
});

describe("the lease of a run", () => {
  beforeEach(
    () =>
      void jest.useFakeTimers({ doNotFake: ["performance", "nextTick", "setImmediate", "queueMicrotask"] }),
  );
  afterEach(() => void jest.useRealTimers());

  /** Runs a handler that ends when the test says so, with a store that notes renewals. */
  async function running(renew: () => Promise<boolean>, over: Partial<RunOptions<MemoryTx>> = {}) {
    const store = new MemoryStore();
    let renewals = 0;
    store.renew = () => ((renewals += 1), renew());
    const { run } = await leasedRun({ store, ...over }, 3000);
    let end!: () => void;
    const result = run(() => new Promise<void>((resolve) => (end = resolve)));
    await new Promise(setImmediate);
    return { result, end: () => end(), renewals: () => renewals };
  }

  it("is renewed each third of it, so that two renewals can fail before it ends", async () => {
    const { result, end, renewals } = await running(() => Promise.resolve(true));
    await jest.advanceTimersByTimeAsync(2999);
    expect(renewals()).toBe(2);
    await jest.advanceTimersByTimeAsync(1);
    expect(renewals()).toBe(3);
    end();
    expect(await result).toEqual({ state: "done" });
    await jest.advanceTimersByTimeAsync(10_000);
    expect(renewals()).toBe(3);
  });

  it("leaves no timer when the handler has failed", async () => {
    const { run } = await leasedRun();
    expect(await run(fails)).toMatchObject({ state: "failed" });
    expect(jest.getTimerCount()).toBe(0);
  });

  it("that is lost ends the run, whose result is not settled", async () => {
    const { result } = await running(() => Promise.resolve(false));
    await jest.advanceTimersByTimeAsync(1001);
    expect(await result).toMatchObject({ state: "lost", error: { code: "lease_lost" } });
  });

  it("is not taken for lost where its renewal rejects", async () => {
    const { result, end } = await running(() => Promise.reject(new Error("the database is restarting")));
    await jest.advanceTimersByTimeAsync(2500);
    end();
    expect(await result).toEqual({ state: "done" });
  });
});

describe("the end of a run", () => {
  const settled = { eventId: "e-1", handler: "books", fence: 1 };

  it("commits no write where the fence is old", async () => {
    const { run, claim, store } = await leasedRun();
    const writes: string[] = [];
    const result = await run((_, { tx }) => tx.onCommit(() => writes.push("written")), {
      fence: claim.fence + 1,
    });
    expect(result).toMatchObject({ state: "lost", error: { code: "lease_lost" } });
    expect(writes).toEqual([]);
    expect(
      await store.transaction((tx) =>
        store.settle(tx, { eventId: "e-1", handler: "books", fence: 1, state: "done" }),
      ),
    ).toBe(true);
  });

  it("commits no write where it was aborted before the handler resolved", async () => {
    const closing = new AbortController();
    const { run, store } = await leasedRun();
    const writes: string[] = [];
    const handler: AnyHandler<MemoryTx> = (_, { tx }) => {
      tx.onCommit(() => writes.push("written"));
      closing.abort(new Error("closing"));
    };
    expect(await run(handler, { closing: closing.signal })).toEqual({ state: "released" });
    expect(writes).toEqual([]);
    // A released claim costs neither an attempt nor a failure.
    expect(await store.claim({ handlers, limit: 1, leaseMs: 1000 })).toMatchObject([
      { attempt: 1, failures: 0, fence: 2 },
    ]);
  });

  it("is released, and nothing runs, where the kit was closing before it", async () => {
    const closing = new AbortController();
    closing.abort(new Error("closing"));
    const { run } = await leasedRun();
    expect(await run(() => new Promise(() => {}), { closing: closing.signal })).toEqual({
      state: "released",
    });
  });

  it("is lost where the store cannot settle a failure, so that the lease ends by itself", async () => {
    const { run, store } = await leasedRun();
    const away = new TillkitError("store_unavailable", "The database is restarting.");
    store.settle = () => Promise.reject(away);
    expect(await run(fails)).toEqual({ state: "lost", error: away });
    store.settle = () => Promise.resolve(false);
    expect(await run(fails)).toMatchObject({ state: "lost", error: { code: "lease_lost" } });
  });

  it("does not count five losses of the database in a row, and waits longer after each; further ones are failed runs", async () => {
    jest.spyOn(Math, "random").mockReturnValue(1);
    const { run, store } = await leasedRun();
    const settle = jest.spyOn(store, "settle").mockResolvedValue(true);
    const away = new TillkitError("store_unavailable", "The connection was lost.");
    const loses = () => Promise.reject(away);
    for (const retryInMs of [1000, 2000, 4000, 8000, 16_000])
      expect(await run(loses)).toEqual({ state: "released", retryInMs, error: away });
    for (const failures of [1, 2])
      expect(await run(loses, { failures: failures - 1 })).toEqual({
        state: "failed",
        failures,
        error: away,
      });
    expect(settle.mock.calls.map(([, { state }]) => state)).toEqual([
      ...Array<string>(5).fill("released"),
      "failed",
      "failed",
    ]);
    jest.restoreAllMocks();
  });

  it("counts the losses of the database anew after a run that ended otherwise", async () => {
    const { run, store } = await leasedRun();
    jest.spyOn(store, "settle").mockResolvedValue(true);
    const loses = () => Promise.reject(new TillkitError("store_unavailable", "The connection was lost."));
    for (const end of [() => {}, fails]) {
      for (let loss = 0; loss < 5; loss++) expect(await run(loses)).toMatchObject({ state: "released" });
      await run(end);
      expect(await run(loses)).toMatchObject({ state: "released" });
      await run(end);
    }
    jest.restoreAllMocks();
  });

  it("is no failure where the database failed, and is given back also where that fails at first", async () => {
    const { run, store } = await leasedRun({ retry: { maxFailures: 1, firstDelayMs: 2, maxDelayMs: 2 } });
    const away = new TillkitError("store_unavailable", "The database is restarting.");
    const transaction = store.transaction.bind(store);
    let refusals = 2;
    store.transaction = <T>(work: (tx: MemoryTx) => Promise<T>) =>
      refusals-- > 0 ? Promise.reject<T>(away) : transaction(work);
    expect(await run(() => undefined)).toMatchObject({ state: "released" });
    expect(refusals).toBe(-1);
    let next: Claim | undefined;
    while (!next) [next] = await store.claim({ handlers, limit: 1, leaseMs: 1000 });
    expect(next).toMatchObject({ attempt: 1, failures: 0, fence: 2 });
  });

  it("is not stored again after the kit's close, where the store failed", async () => {
    const closing = new AbortController();
    const { run, store } = await leasedRun();
    const away = new TillkitError("store_unavailable", "The database is restarting.");
    const settle = jest.spyOn(store, "settle").mockImplementation(() => {
      closing.abort(new Error("closing"));
      return Promise.reject(away);
    });
    const end = () => Promise.reject(away);
    expect(await run(end, { closing: closing.signal })).toEqual({ state: "lost", error: away });
    expect(settle).toHaveBeenCalledTimes(1);
  });

  it("that is done is settled as the last call of the handler's transaction, and its dispatch is done", async () => {
    const { run, store } = await leasedRun();
    const settle = jest.spyOn(store, "settle");
    expect(await run(() => undefined)).toEqual({ state: "done" });
    expect(settle.mock.calls.map(([, one]) => one)).toEqual([{ ...settled, state: "done", isLast: true }]);
    expect(await store.counts?.()).toMatchObject({ dead: 0 });
    expect(await store.counts?.()).not.toHaveProperty("oldestUndoneAt");
  });

  it("that the kit's close causes is given back with nothing but its state, and leaves no listener", async () => {
    const closing = new AbortController();
    const { run, store } = await leasedRun();
    const settle = jest.spyOn(store, "settle");
    const hangs = () => {
      closing.abort(new Error("closing"));
      return new Promise(() => {});
    };
    expect(await run(hangs, { closing: closing.signal })).toEqual({ state: "released" });
    expect(settle.mock.calls.map(([, one]) => one)).toStrictEqual([{ ...settled, state: "released" }]);
    expect(getEventListeners(closing.signal, "abort")).toEqual([]);
  });

  it("is a failure where the handler had failed by itself before the kit was closing", async () => {
    const closing = new AbortController();
    const { run, store } = await leasedRun();
    const transaction = store.transaction.bind(store);
    // The rollback takes a while.
    store.transaction = (work) =>
      transaction(work).catch((error: unknown) => {
        closing.abort(new Error("closing"));
        throw error;
      });
    expect(await run(fails, { closing: closing.signal })).toMatchObject({ state: "failed", failures: 1 });
    expect(await store.counts?.()).toHaveProperty("oldestUndoneAt");
  });

  it("is a failure where its time limit had passed before the kit was closing", async () => {
    const closing = new AbortController();
    const { run, store } = await leasedRun({ handlerTimeoutMs: 1 });
    const settle = jest.spyOn(store, "settle");
    const handler: AnyHandler<MemoryTx> = (_event, { signal }) =>
      new Promise(() => signal.addEventListener("abort", () => closing.abort(new Error("closing"))));
    expect(await run(handler, { closing: closing.signal })).toMatchObject({
      state: "failed",
      failures: 1,
      error: { code: "handler_timeout" },
    });
    expect(settle.mock.calls.map(([, { state }]) => state)).toEqual(["failed"]);
  });

  it.each([
    ["synchronously", (signal: AbortSignal) => signal.throwIfAborted()],
    ["with the reason of the abort", (signal: AbortSignal) => Promise.reject(signal.reason as Error)],
    ["with its own error", () => Promise.reject(new Error("I was stopped"))],
    [
      "with an error of the store's",
      () => Promise.reject(new TillkitError("store_closed", "It was closed.")),
    ],
  ])("is no failure where the handler rejects %s after the kit's close has aborted it", async (_, end) => {
    const closing = new AbortController();
    const { run, store } = await leasedRun();
    const settle = jest.spyOn(store, "settle");
    const handler: AnyHandler<MemoryTx> = (_event, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(Promise.resolve().then(() => end(signal))));
        closing.abort(new Error("closing"));
      });
    expect(await run(handler, { closing: closing.signal })).toEqual({ state: "released" });
    expect(settle.mock.calls.map(([, one]) => one)).toStrictEqual([{ ...settled, state: "released" }]);
  });

  it("is no failure where the handler rejects in the listener of the abort, with its own error", async () => {
    const closing = new AbortController();
    const { run } = await leasedRun();
    const handler: AnyHandler<MemoryTx> = (_event, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("I was stopped")));
        closing.abort(new Error("closing"));
      });
    expect(await run(handler, { closing: closing.signal })).toEqual({ state: "released" });
  });

  it("is lost where the handler rejects with its own error after its lease was lost", async () => {
    const { run, store } = await leasedRun({}, 30);
    store.renew = () => Promise.resolve(false);
    const handler: AnyHandler<MemoryTx> = (_event, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("I was stopped")));
      });
    expect(await run(handler)).toMatchObject({ state: "lost", error: { code: "lease_lost" } });
  });

  it.each(["store_unavailable", "adapter_defective"] as const)(
    "is no failure where the store failed with %s, and is given back without an error",
    async (code) => {
      jest.spyOn(Math, "random").mockReturnValue(1);
      const { run, store } = await leasedRun();
      const settle = jest.spyOn(store, "settle");
      const error = new TillkitError(code, "The store failed.");
      const released = { state: "released", retryInMs: 1000 };
      expect(await run(() => Promise.reject(error))).toEqual({ ...released, error });
      expect(settle.mock.calls.map(([, one]) => one)).toStrictEqual([{ ...settled, ...released }]);
      jest.restoreAllMocks();
    },
  );

  it("is no failure where the store refused it before it called the handler, five times at most", async () => {
    const { run, store } = await leasedRun();
    jest.spyOn(store, "settle").mockResolvedValue(true);
    const error = new TillkitError("option_invalid", "The sql_mode must not contain NO_BACKSLASH_ESCAPES.");
    const runHandler = jest.spyOn(store, "runHandler").mockRejectedValue(error);
    const ends = jest.fn();
    for (let loss = 0; loss < 5; loss++)
      expect(await run(ends)).toMatchObject({ state: "released", retryInMs: expect.any(Number) as number });
    expect(await run(ends)).toEqual({ state: "failed", failures: 1, error });
    expect(ends).not.toHaveBeenCalled();
    runHandler.mockRestore();
    // The same error of the handler itself is a failure.
    const { run: another } = await leasedRun();
    expect(await another(() => Promise.reject(error))).toMatchObject({ state: "failed", failures: 1 });
  });

  it("that lost its lease is not settled", async () => {
    const { run, store } = await leasedRun();
    const settle = jest.spyOn(store, "settle");
    const error = new TillkitError("lease_lost", "Another process has it.");
    expect(await run(() => Promise.reject(error))).toEqual({ state: "lost", error });
    expect(settle).not.toHaveBeenCalled();
  });

  it("that failed is settled once, because the lease ends by itself where that fails", async () => {
    const { run, store } = await leasedRun();
    jest.spyOn(performance, "now").mockReturnValue(1000);
    const settle = jest.spyOn(store, "settle").mockRejectedValueOnce(new Error("The database is away."));
    expect(await run(fails)).toMatchObject({ state: "lost" });
    expect(settle).toHaveBeenCalledTimes(1);
    jest.restoreAllMocks();
  });

  it("forgets the losses of a dispatch that is dead", async () => {
    const losses = new Map([["e-1:books", 5]]);
    const { run } = await leasedRun({ losses, retry: { maxFailures: 1, firstDelayMs: 1, maxDelayMs: 2 } });
    const loses = () => Promise.reject(new TillkitError("store_unavailable", "The connection was lost."));
    expect(await run(loses)).toMatchObject({ state: "dead" });
    expect(losses.size).toBe(0);
  });

  it.each([
    [9_999, 10_000],
    [10_000, 0],
  ])(
    "counts the losses of 10,000 dispatches at most: after those of %i and one more, of %i",
    async (others, left) => {
      const losses = new Map(Array.from({ length: others }, (_, index) => [`e-${index}:other`, 1]));
      const { run } = await leasedRun({ losses });
      await run(() => Promise.reject(new TillkitError("store_unavailable", "The connection was lost.")));
      expect(losses.size).toBe(left);
    },
  );

  it("stores the error of the handler, without secrets and limited", async () => {
    const { run, store } = await leasedRun();
    const settle = jest.spyOn(store, "settle");
    const secret = "whsec_9f2c4b7a1d8e3f605c9b2a7d4e1f8c3b";
    hmacSignature({ secret });
    await run(() => {
      throw new TypeError(`${secret} ${"x".repeat(3000)}`);
    });
    const { error } = settle.mock.calls[0]![1];
    expect(error).toMatch(/^TypeError: /);
    expect(error).not.toContain(secret);
    expect(error).toHaveLength(2000);
    settle.mockRestore();
  });

  it("stores an error that is no Error as its text", async () => {
    const { run, store } = await leasedRun();
    const settle = jest.spyOn(store, "settle");
    await run(() => {
      throw "a string" as unknown as Error;
    });
    expect(settle.mock.calls[0]![1]).toMatchObject({ error: "a string" });
    settle.mockRestore();
  });

  it.each<[string, unknown]>([
    ["an object without a prototype", Object.assign(Object.create(null), { code: 7 })],
    ["a list of one", [Object.create(null)]],
    ["an error whose message is one", Object.assign(new Error("x"), { message: Object.create(null) })],
    [
      "an error whose code throws",
      Object.defineProperty(new Error("x"), "code", { get: () => JSON.parse("") as never }),
    ],
  ])("is a failed run also where the handler throws %s, which cannot be read", async (_, thrown) => {
    const { run, store } = await leasedRun();
    const settle = jest.spyOn(store, "settle");
    const result = await run(() => {
      throw thrown;
    });
    expect(result).toMatchObject({ state: "failed", error: expect.any(TypeError) });
    const error = "TypeError: The handler threw a value that cannot be read as text.";
    expect(settle.mock.calls[0]![1]).toMatchObject({ state: "failed", error });
    settle.mockRestore();
  });
});

it("a handler gets one signal, however often it reads it", async () => {
  const { run } = await leasedRun();
  let signals: AbortSignal[] = [];
  await run((_, context) => {
    signals = [context.signal, context.signal];
  });
  expect(signals[0]).toBe(signals[1]);
});

it("a handler gets a frozen event with its id, its type and its time", async () => {
  const { claim, run } = await leasedRun();
  let seen: unknown;
  let key = "";
  await run((event, { idempotencyKey }) => {
    seen = event;
    key = idempotencyKey;
  });
  expect(seen).toEqual(handlerEvent(claim));
  expect(seen).toEqual({ id: "e-1", type: "payment.completed", recordedAt: "2026-11-20T10:00:06.000Z" });
  // What a payload says of itself is not trusted.
  const payload = { id: "e-2", type: "payment.failed", recordedAt: "never", clientId: "c-1" };
  expect(handlerEvent({ ...claim, event: { ...claim.event, payload } })).toEqual({
    ...seen!,
    clientId: "c-1",
  });
  expect(Object.isFrozen(seen)).toBe(true);
  expect(key).toBe("e-1:books");
});
