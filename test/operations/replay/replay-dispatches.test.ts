import { type DispatchQuery, MemoryStore } from "tillkit";
import { replayDispatches, revivedDispatches } from "../../../src/operations/replay/replay-dispatches.js";
import { event } from "../../../src/store/exam/checks/fixtures.js";
import { saved, until } from "../../../src/store/exam/checks/steps.js";
import { closeAll, testKit } from "../../support/kit.js";

afterEach(closeAll);

let runs = 0;
const newId = () => `run-${++runs}`;
const now = () => new Date();

/** Returns a store with this number of dead dispatches, whose process runs no more. */
async function storeWithDead(count: number, handlers = ["books"]): Promise<MemoryStore> {
  // The process that ends leaves the store open.
  const store = Object.assign(new MemoryStore(), { close: async () => {} });
  const payments = testKit({ store, dispatch: { maxFailures: 1, pollMs: 5 } });
  let dead = 0;
  const died = new Promise<void>((resolve) =>
    payments.on("dispatch.dead", () => {
      if (++dead === count * handlers.length) resolve();
    }),
  );
  for (const name of handlers)
    payments.onPaymentCompleted(() => Promise.reject(new Error("out of paper")), { name });
  await payments.start({ keepAlive: false });
  await saved(store, { events: Array.from({ length: count }, (_, n) => event(`e-${n}`)) });
  await died;
  await payments.close();
  return store;
}

describe("a replay of dead dispatches", () => {
  it("says whether more than the limit match, before it runs them and afterwards", async () => {
    const store = await storeWithDead(3);
    const announceEvents = jest.fn();
    const replay = async (dryRun: boolean, limit: number) => {
      const { dispatches, more } = await replayDispatches(
        { store, announceEvents, newId, now },
        { dryRun, limit },
      );
      return [dispatches.length, more];
    };
    expect(await replay(true, 2)).toEqual([2, true]);
    expect(await replay(true, 3)).toEqual([3, false]);
    expect(announceEvents).not.toHaveBeenCalled();
    expect(await replay(false, 1)).toEqual([1, true]);
    expect(announceEvents).toHaveBeenCalledTimes(1);
    expect(await replay(true, 9)).toEqual([2, false]);
    expect(await replay(false, 2)).toEqual([2, false]);
    expect((await store.counts()).dead).toBe(0);
  });

  it("takes one handler's dispatches, and no others are left where those of another are", async () => {
    const store = await storeWithDead(1, ["books", "mail"]);
    const query = { handler: "books", limit: 1 };
    const announceEvents = () => {};
    expect(await replayDispatches({ store, announceEvents, newId, now }, query)).toMatchObject({
      dryRun: true,
      dispatches: [{ handler: "books" }],
      more: false,
    });
    const again = await replayDispatches({ store, announceEvents, newId, now }, { ...query, dryRun: false });
    expect(again).toMatchObject({ dispatches: [{ handler: "books" }], more: false });
    expect(await replayDispatches({ store, announceEvents, newId, now }, { dryRun: false })).toMatchObject({
      dispatches: [{ handler: "mail" }],
      more: false,
    });
  });

  it("goes on with a run only with the conditions that the run started with", async () => {
    const store = await storeWithDead(2);
    const payments = testKit({ store, dispatch: false });
    const replay = (query: DispatchQuery) =>
      payments.replayDispatches({ dryRun: false, by: "Amina", run: "run-a", limit: 1, ...query });
    expect(await replay({ eventId: "e-0" })).toMatchObject({ dispatches: [{ eventId: "e-0" }] });
    await expect(replay({})).rejects.toMatchObject({
      code: "query_invalid",
      message: expect.stringContaining('{"eventId":"e-0"}'),
    });
    expect(await replay({ eventId: "e-0" })).toMatchObject({ dispatches: [], more: false });
    expect(await replay({ run: "run-b" })).toMatchObject({ dispatches: [{ eventId: "e-1" }] });
  });

  it("takes those whose error and time match, goes on where a run broke off, and says what became of each", async () => {
    const store = await storeWithDead(3);
    const payments = testKit({ store, dispatch: { maxFailures: 1, pollMs: 5 } });
    const replay = (query: DispatchQuery) => payments.replayDispatches({ dryRun: false, ...query });
    expect(await replay({ error: "toner" })).toMatchObject({ dispatches: [], more: false });
    expect(await replay({ since: new Date(Date.now() + 60_000) })).toMatchObject({ dispatches: [] });
    const { run, more } = await replay({ error: "OUT OF", since: new Date(0), limit: 2 });
    expect(more).toBe(true);
    expect(await payments.revivedDispatches(run)).toMatchObject({ waiting: 2, done: 0, dead: 0 });

    let failing = 1;
    const ended = new Promise<void>((resolve) => payments.on("dispatch.dead", () => resolve()));
    payments.onPaymentCompleted(() => (failing-- > 0 ? Promise.reject(new Error("again")) : undefined), {
      name: "books",
    });
    await payments.start({ keepAlive: false });
    await ended;
    // The one that is dead again is not revived for ever.
    expect(await replay({ run })).toMatchObject({ run, dispatches: [{ eventId: "e-2" }], more: false });
    await until(async () => ((await payments.revivedDispatches(run)).done === 2 ? true : undefined));
    const past = [{ attempt: 1, failures: 0, error: "Error: out of paper", settledAt: expect.any(String) }];
    expect(await payments.revivedDispatches(run)).toMatchObject({
      waiting: 0,
      done: 2,
      dead: 1,
      retired: 0,
      dispatches: [{ eventId: "e-0", state: "dead", error: "Error: again", past }],
    });
  });

  it("keeps who made it, and why", async () => {
    const store = await storeWithDead(1);
    const payments = testKit({ store, dispatch: false });
    const why = { by: "Amina", reason: "the printer has paper" };
    const { run } = await payments.replayDispatches({ dryRun: false, ...why });
    expect(await store.notes({ kind: "retry", ids: [run] })).toMatchObject([{ value: why }]);
  });

  it("counts all of its dispatches afterwards, and lists the first thousand that are not done", async () => {
    const states = ["done", "dead", "pending", "leased", "retired"] as const;
    const all = Array.from({ length: 1500 }, (_, n) => ({
      eventId: `e-${String(n).padStart(4, "0")}`,
      state: states[n % 5]!,
    }));
    const revived = async ({ after, limit }: { after?: { eventId: string }; limit: number }) =>
      all.filter(({ eventId }) => !after || eventId > after.eventId).slice(0, limit);
    const { dispatches, ...counts } = await revivedDispatches({ revived } as never, "run-a");
    expect(counts).toEqual({ done: 300, dead: 300, waiting: 600, retired: 300 });
    expect(dispatches).toEqual(all.filter(({ state }) => state !== "done").slice(0, 1000));
  });

  it("wakes the handlers, and does not leave them to the next poll", async () => {
    const store = await storeWithDead(1);
    const claim = store.claim.bind(store);
    const polled = new Promise<void>((resolve) => {
      store.claim = (options) => claim(options).finally(resolve);
    });
    const payments = testKit({ store, dispatch: { pollMs: 3_600_000 } });
    const handled = new Promise<string>((resolve) =>
      payments.onPaymentCompleted((_, { idempotencyKey }) => resolve(idempotencyKey), { name: "books" }),
    );
    await payments.start({ keepAlive: false });
    await polled;
    await payments.replayDispatches({ dryRun: false });
    expect(await handled).toContain("books");
  });

  it.each([
    ["limit must be", { limit: 0 }],
    ["limit must be", { limit: 1001 }],
    ["error must be", { error: "" }],
    ["since must be", { since: "2026-11-01" }],
    ["run must have", { run: "a run" }],
    ["handlr", { handlr: "books" }],
    ["type must be one of payment.completed, payment.updated, ", { type: "payment.complete" }],
    ["type must be one of", { type: "payment.complete", dryRun: false }],
    ["type must be one of", { type: 7 }],
  ])("is refused with the name of the wrong condition: %s", async (message, query) => {
    await expect(testKit().replayDispatches(query as DispatchQuery)).rejects.toMatchObject({
      code: "query_invalid",
      message: expect.stringContaining(message) as string,
    });
  });
});
