import { type MemoryStore, type MemoryTx } from "tillkit";
import { type DispatcherOptions } from "../../src/dispatch/dispatcher.js";
import { handlerNotes } from "../../src/dispatch/handler-controls.js";
import { event } from "../../src/store/exam/checks/fixtures.js";
import { until } from "../../src/store/exam/checks/steps.js";
import { type RunKey, type RunPart } from "../../src/store/index.js";
import { endDispatchers, held, holdClaims, ids, iterations, reaches, setUp } from "./dispatcher-set-up.js";

endDispatchers();

/** Stores a decision about the handler "books". */
async function decide(store: MemoryStore, value: Record<string, unknown>): Promise<void> {
  const [before] = await store.notes({ kind: handlerNotes, ids: ["books"] });
  const notes = [{ kind: handlerNotes, id: "books", version: before?.version ?? 0, value }];
  await store.transaction((tx) => store.save(tx, { notes }));
}

describe("the decisions about handlers", () => {
  /** A dispatcher of a limited handler, and the ids of the events that ran. */
  async function limited(perSecond: number, over: Partial<DispatcherOptions<MemoryTx>> = {}) {
    const now = new Date("2024-05-01T10:00:00Z");
    const all = setUp({ concurrency: 50, now: () => now, ...over });
    const seen: string[] = [];
    all.handlers.add("payment.completed", ({ id }) => seen.push(id), { name: "books" });
    await decide(all.store, { perSecond });
    return { ...all, seen };
  }

  it("are followed as soon as they change, without a poll", async () => {
    const { claims, dispatcher, handlers, store } = setUp();
    handlers.add("payment.completed", () => undefined, { name: "books" });
    const notes = jest.spyOn(store, "notes");
    await decide(store, { paused: { reason: "slow", by: "Amina", at: "" } });
    notes.mockClear();
    dispatcher.start({ keepAlive: false });
    await reaches(notes.mock.calls, 1);
    await iterations();
    expect(claims).toEqual([]);
    await decide(store, {});
    dispatcher.controlsChanged();
    await reaches(claims, 1);
  });

  it("let no more run than the limit allows, although the runs are counted slowly", async () => {
    const { dispatcher, save, seen, store } = await limited(3);
    const saveChanges = store.save.bind(store);
    store.save = async (tx, changes) => {
      if (changes.notes) await iterations(10);
      return saveChanges(tx, changes);
    };
    await save(...ids(9));
    dispatcher.start({ keepAlive: false });
    await reaches(seen, 3);
    await iterations(60);
    expect(seen).toHaveLength(3);
  });

  it("count only the runs that were claimed", async () => {
    const { dispatcher, save, seen } = await limited(3);
    await save(event("e1"));
    dispatcher.start({ keepAlive: false });
    await reaches(seen, 1);
    await save(event("e2"), event("e3"), event("e4"));
    dispatcher.wake();
    await reaches(seen, 3);
    await iterations();
    expect(seen).toEqual(["e1", "e2", "e3"]);
  });

  it("let a limited handler run again when its time has come, without a poll", async () => {
    const { dispatcher, save, seen } = await limited(10, { now: () => new Date() });
    await save(...ids(12));
    dispatcher.start({ keepAlive: false });
    await until(async () => (seen.length === 12 ? true : undefined));
    expect(seen).toEqual(ids(12).map(({ id }) => id));
  });

  it("let a limited handler run again when its time has come, although its runs take longer", async () => {
    const { handlers, dispatcher, save, store } = setUp({ concurrency: 50 });
    const { releases, run } = held();
    handlers.add("payment.completed", run, { name: "books" });
    await decide(store, { perSecond: 10 });
    await save(...ids(12));
    dispatcher.start({ keepAlive: false });
    // No run ends, and the next poll is a minute away.
    await reaches(releases, 10);
    expect(await until(async () => releases[11])).toBeDefined();
    for (const release of releases) release();
  });

  it("no longer shorten the pause between claims when the limit was removed", async () => {
    const { dispatcher, save, seen, store } = await limited(1);
    await save(...ids(3));
    dispatcher.start({ keepAlive: false });
    await reaches(seen, 1);
    await iterations();
    const timers = jest.spyOn(globalThis, "setTimeout");
    await decide(store, {});
    dispatcher.controlsChanged();
    await reaches(seen, 3);
    const isPause = ([, ms]: unknown[]) => ms === 60_000;
    expect(await until(async () => timers.mock.calls.find(isPause))).toBeDefined();
  });

  it("let claimed dispatches run although they could not be counted", async () => {
    const { dispatcher, notices, save, seen, store } = await limited(3);
    const error = new Error("away");
    const saveChanges = store.save.bind(store);
    store.save = (tx, changes) => (changes.notes ? Promise.reject(error) : saveChanges(tx, changes));
    await save(event("e1"));
    dispatcher.start({ keepAlive: false });
    await reaches(seen, 1);
    expect(notices).toEqual([["store.unavailable", { during: "claim", error }]]);
  });
});

describe("the runs that share a transaction", () => {
  /** A dispatcher of a handler for two events, over a store that has groups. */
  function shared(over: Partial<DispatcherOptions<MemoryTx>> = {}) {
    const all = setUp(over);
    const groups: Promise<void>[] = [];
    const { store } = all;
    Object.assign(store, {
      runShared: (work: (part: RunPart<MemoryTx>) => Promise<readonly RunKey[]>) => {
        const group = store.transaction(async (tx) => {
          const part = async (run: (tx: MemoryTx) => Promise<unknown>) => void (await run(tx));
          for (const key of await work(part)) await store.settle(tx, { ...key, state: "done" });
        });
        groups.push(group);
        return group;
      },
    });
    return { ...all, groups };
  }

  it("are those of all events of the name, and of one group at a time", async () => {
    const { claims, dispatcher, groups, handlers, save } = shared();
    const { releases, run } = held();
    for (const type of ["payment.completed", "payment.overdue"] as const)
      handlers.add(type, run, { name: "books", transaction: "shared" });
    await save(event("e1", { type: "payment.overdue" }), event("e2"));
    dispatcher.start({ keepAlive: false });
    await reaches(releases, 1);
    for (let wakes = 0; wakes < 3; wakes++) {
      dispatcher.wake();
      await iterations();
    }
    expect([claims.length, groups.length]).toEqual([1, 1]);
    expect(claims[0]).toMatchObject({ handlers: handlers.keys(), limit: 1 });
    releases[0]!();
    await reaches(releases, 2);
    releases[1]!();
    await reaches(groups, 2);
  });

  it("are claimed in larger groups after each group that succeeded", async () => {
    const { claims, dispatcher, handlers, save } = shared();
    const seen: string[] = [];
    handlers.add("payment.completed", ({ id }) => seen.push(id), { name: "books", transaction: "shared" });
    await save(...ids(7));
    dispatcher.start({ keepAlive: false });
    await reaches(seen, 7);
    expect(claims.slice(0, 3).map(({ limit }) => limit)).toEqual([1, 2, 4]);
  });

  it("do not delay a limited handler beside them, which runs again when its time has come", async () => {
    const { dispatcher, handlers, save, store } = shared({ concurrency: 50 });
    const seen: string[] = [];
    handlers.add("payment.completed", ({ id }) => seen.push(id), { name: "books" });
    handlers.add("payment.completed", () => undefined, { name: "mail", transaction: "shared" });
    await decide(store, { perSecond: 10 });
    await save(...ids(12));
    dispatcher.start({ keepAlive: false });
    // The next poll is a minute away.
    await until(async () => (seen.length === 12 ? true : undefined));
    expect(seen).toEqual(ids(12).map(({ id }) => id));
  });

  it("are awaited by a stop", async () => {
    const { dispatcher, handlers, save } = shared();
    const { releases, run } = held();
    handlers.add("payment.completed", run, { name: "books", transaction: "shared" });
    await save(event("e1"));
    dispatcher.start({ keepAlive: false });
    await reaches(releases, 1);
    let isStopped = false;
    const stopped = dispatcher.stop(60_000).then(() => (isStopped = true));
    await iterations();
    expect(isStopped).toBe(false);
    releases[0]!();
    await stopped;
  });

  it("are awaited by a stop from their claim on", async () => {
    const { claims, dispatcher, handlers, store } = shared();
    handlers.add("payment.completed", () => undefined, { name: "books", transaction: "shared" });
    const end = holdClaims({ store, claims });
    dispatcher.start({ keepAlive: false });
    await reaches(claims, 1);
    let isStopped = false;
    const stopped = dispatcher.stop(60_000).then(() => (isStopped = true));
    await iterations();
    expect(isStopped).toBe(false);
    end();
    await stopped;
  });

  it("are no longer claimed in a process in which eight transactions of the name hang", async () => {
    const retry = { maxFailures: 100, firstDelayMs: 1, maxDelayMs: 1 };
    const { claims, dispatcher, handlers, save, store } = shared({
      retry,
      pollMs: 1,
      leaseMs: 90,
      handlerTimeoutMs: 1,
    });
    Object.assign(store, { runShared: () => new Promise(() => {}) });
    handlers.add("payment.completed", () => undefined, { name: "books", transaction: "shared" });
    await save(event("e1"));
    dispatcher.start({ keepAlive: false });
    await until(async () => (dispatcher.hanging === 8 ? true : undefined));
    const claimed = claims.length;
    await save(event("e2"));
    dispatcher.wake();
    await iterations();
    expect([claims.length, dispatcher.hanging]).toEqual([claimed, 8]);
  });

  it("have their own transactions in a store without groups", async () => {
    const { dispatcher, handlers, save } = setUp();
    const seen: string[] = [];
    handlers.add("payment.completed", ({ id }) => seen.push(id), { transaction: "shared" });
    await save(...ids(10));
    dispatcher.start({ keepAlive: false });
    await reaches(seen, 10);
    expect(seen).toEqual(ids(10).map(({ id }) => id));
  });
});
