import { MemoryStore } from "tillkit";
import { DispatchesTable } from "../../../src/store/memory/dispatches-table.js";
import { event, ledger, mailer } from "../../../src/store/exam/checks/fixtures.js";
import { deferred } from "../../../src/store/exam/checks/steps.js";

const handlers = [ledger];
let now = 0;

beforeEach(() => {
  // A process that has run for a day.
  now = 86_400_000;
  jest.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());

/** A table with one event, whose dispatch is claimed for this time. */
function leased(leaseMs: number, ofEvent: { clientId?: string } = {}) {
  const table = new DispatchesTable();
  table.register(handlers);
  table.insert(event("e1", ofEvent));
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

  it("that is settled twice in one transaction ends as the first settlement says", () => {
    const { table, claim, run } = leased(60_000);
    expect(table.settle({ ...run(1), state: "done" })).toBe(true);
    table.settle({ ...run(1), state: "failed", retryInMs: 0 });
    table.commit();
    expect(claim()).toEqual([]);
    expect(table.counts()).toEqual({ dead: 0 });
  });

  it("that is settled twice in one transaction is counted once", () => {
    const { table, claim, run } = leased(60_000);
    table.settle({ ...run(1), state: "failed", retryInMs: 0 });
    table.settle({ ...run(1), state: "failed", retryInMs: 0 });
    table.commit();
    expect(claim()).toMatchObject([{ attempt: 2, failures: 1 }]);
  });
});

describe("a dispatch in memory", () => {
  const settledAt = expect.any(String);
  const shown = { eventId: "e1", type: "payment.completed", handler: "ledger" };

  it("shows the error of its last failure, also after a run that is done", () => {
    const { table, claim, run } = leased(60_000, { clientId: "p1" });
    table.settle({ ...run(1), state: "failed", error: "no" });
    table.commit();
    claim();
    table.settle({ ...run(2), state: "done" });
    table.commit();
    const done = { clientId: "p1", state: "done", attempt: 2, failures: 1, error: "no", settledAt };
    expect(table.history("p1", { limit: 10 }).dispatches).toStrictEqual([{ ...shown, ...done }]);
  });

  it("has no key for a clientId or an error that it does not have", () => {
    const { table, run } = leased(60_000);
    table.settle({ ...run(1), state: "dead" });
    table.commit();
    const dead = { ...shown, state: "dead", attempt: 1, failures: 0, settledAt };
    expect(table.dead({ revive: false, limit: 10 })).toStrictEqual([dead]);
  });
});

describe("an event in memory", () => {
  const later = "2099-01-01T00:00:00.000Z";

  it("has no dispatch, and can be pruned, where no handler was registered", () => {
    const table = new DispatchesTable();
    table.insert(event("e1", { clientId: "p1" }));
    table.commit();
    expect(table.history("p1", { limit: 10 }).dispatches).toEqual([]);
    expect(table.prune(later, 10)).toBe(1);
  });

  it("is refused the second time, also in the transaction that has saved it first", () => {
    const table = new DispatchesTable();
    const insert = () => table.insert(event("e1"));
    insert();
    expect(insert).toThrow(expect.objectContaining({ code: "store_conflict" }));
    table.commit();
    expect(insert).toThrow(expect.objectContaining({ code: "store_conflict" }));
  });

  it("has one dispatch of a name, also after the name was registered for more events since an earlier time", () => {
    const { table, claim } = leased(1000);
    table.register([{ event: "*", name: ledger.name, since: "2024-01-01T00:00:00.000Z" }]);
    now += 1000;
    expect(claim()).toMatchObject([{ handler: "ledger", fence: 2 }]);
  });

  it("is not in a history after it was pruned, and the younger ones are", () => {
    const table = new DispatchesTable();
    for (const [index, id] of ["e1", "e2"].entries())
      table.insert(event(id, { clientId: "p1", recordedAt: `2026-03-0${index + 1}T10:00:00.000Z` }));
    table.commit();
    expect(table.prune("2026-03-02T00:00:00.000Z", 10)).toBe(1);
    expect(table.history("p1", { limit: 10 }).events).toMatchObject([{ id: "e2" }]);
  });
});

it("what a handler changes in its event is seen by no other handler, and not by the next run", () => {
  const table = new DispatchesTable();
  const all = [ledger, mailer];
  table.register(all);
  table.insert(event("e1", { payload: { payment: { reference: "order-1" } } }));
  table.commit();
  const claim = (names: typeof all) => table.claim({ handlers: names, limit: 10, leaseMs: 10 });
  const [first] = claim([ledger]);
  Object.assign(first!.event.payload["payment"] as object, { reference: "changed" });
  now += 10;
  const references = claim(all).map((one) => one.event.payload["payment"]);
  expect(references).toEqual([{ reference: "order-1" }, { reference: "order-1" }]);
});

describe("a dispatch in memory that was revived", () => {
  it("is claimed before those of younger events", () => {
    const { table, claim, run } = leased(60_000);
    table.settle({ ...run(1), state: "dead" });
    const recordedAt = "2024-05-01T10:00:02.000Z";
    table.insert(event("e2", { recordedAt }));
    table.commit();
    table.dead({ revive: true, limit: 1, run: "again" });
    expect(table.counts().oldestUndoneAt).not.toBe(recordedAt);
    expect(claim().map((one) => one.event.id)).toEqual(["e1", "e2"]);
  });

  it("has its end and its error only among its past ends", () => {
    const { table, run } = leased(60_000);
    table.settle({ ...run(1), state: "dead", error: "no" });
    table.commit();
    table.dead({ revive: true, limit: 1, run: "again" });
    const past = [{ attempt: 1, failures: 0, error: "no", settledAt: expect.any(String) as string }];
    const revived = { eventId: "e1", type: "payment.completed", handler: "ledger", state: "pending" };
    expect(table.revived({ run: "again", limit: 10 })).toStrictEqual([
      { ...revived, attempt: 0, failures: 0, run: "again", past },
    ]);
  });

  it("is gone after its run is done and its event is pruned", () => {
    const { table, claim, run } = leased(60_000);
    table.settle({ ...run(1), state: "dead" });
    table.commit();
    table.dead({ revive: true, limit: 1, run: "again" });
    claim();
    table.settle({ ...run(2), state: "done" });
    table.commit();
    expect(table.revived({ run: "again", limit: 10 })).toMatchObject([{ state: "done" }]);
    expect(table.prune("9999", 10)).toBe(1);
    expect(table.revived({ run: "again", limit: 10 })).toEqual([]);
  });
});

it("events that are recorded after a prune come after the older ones that stayed", () => {
  const { table, claim, run } = leased(1000);
  for (const id of ["e2", "e3"]) table.insert(event(id));
  table.commit();
  claim();
  for (const eventId of ["e1", "e2"]) table.settle({ ...run(1), eventId, state: "done" });
  table.commit();
  expect(table.prune("9999", 10)).toBe(2);
  table.insert(event("e4"));
  table.commit();
  claim();
  for (const eventId of ["e4", "e3"]) table.settle({ ...run(1), eventId, state: "dead", error: "no" });
  table.commit();
  expect(table.dead({ revive: false, limit: 10 }).map(({ eventId }) => eventId)).toEqual(["e3", "e4"]);
});

it.each<[string, (store: MemoryStore) => Promise<unknown>]>([
  ["registration", (store) => store.registerHandlers([mailer])],
  ["claim", (store) => store.claim({ handlers, limit: 1, leaseMs: 1000 })],
  ["revival", (store) => store.dead({ revive: true, run: "again", limit: 1 })],
  ["retirement", (store) => store.retire({ handler: ledger.name, limit: 1 })],
  ["prune", (store) => store.prune({ before: "9999", limit: 1 })],
])("a %s in memory waits for the transaction that runs", async (_, call) => {
  const store = new MemoryStore();
  await store.registerHandlers(handlers);
  const { promise, resolve } = deferred();
  const order: string[] = [];
  const running = store.transaction(() => promise).then(() => order.push("transaction"));
  const calling = call(store).then(() => order.push("call"));
  await new Promise(setImmediate);
  expect(order).toEqual([]);
  resolve();
  await Promise.all([running, calling]);
  expect(order).toEqual(["transaction", "call"]);
});
