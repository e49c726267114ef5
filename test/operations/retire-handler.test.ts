import { type DispatchOptions, MemoryStore, type Payments, type SignedField } from "tillkit";
import { type SqlTx } from "tillkit/sql";
import { readControls } from "../../src/dispatch/handler-controls.js";
import { event } from "../../src/store/exam/checks/fixtures.js";
import { saved } from "../../src/store/exam/checks/steps.js";
import {
  onEachDatabase,
  openPlace,
  openStore,
  type Place,
  placeholders,
} from "../promises/processes/databases.js";
import { collectedLog } from "../http/collected-log.js";
import { closeAll, testKit } from "../support/kit.js";

afterEach(closeAll);

describe("retireHandler", () => {
  it("refuses a name that this process has a handler for", async () => {
    const payments = testKit();
    payments.onPaymentCompleted(() => {}, { name: "books" });
    await expect(payments.retireHandler("books")).rejects.toMatchObject({ code: "handler_registered" });
  });

  it("knows each name among several, and retires the others", async () => {
    const payments = testKit();
    for (const name of ["books", "mail"]) payments.onPaymentCompleted(() => {}, { name });
    for (const name of ["books", "mail"])
      await expect(payments.retireHandler(name)).rejects.toMatchObject({ code: "handler_registered" });
    expect(await payments.retireHandler("stock")).toBe(0);
  });

  it("warns about a name that the store does not know, with those that it knows", async () => {
    const store = new MemoryStore();
    await store.registerHandlers([{ event: "*", name: "books" }]);
    const { logger, lines } = collectedLog();
    const payments = testKit({ store, logger });
    const warned = () => lines.filter(({ msg }) => String(msg).startsWith("nothing was retired"));
    expect(await payments.retireHandler("boks")).toBe(0);
    expect(warned()).toMatchObject([{ level: 40, handler: "boks", known: ["books"] }]);
    expect(await payments.retireHandler("books")).toBe(0);
    expect(warned()).toHaveLength(1);
  });

  it("retires one event of a name whose handler now wants another", async () => {
    const store = new MemoryStore();
    await store.registerHandlers([{ event: "*", name: "books" }]);
    const payments = testKit({ store });
    payments.onPaymentCompleted(() => {}, { name: "books" });
    await saved(store, { events: [event("e1", { type: "payment.overdue" })] });
    await expect(payments.retireHandler("books", { event: "payment.completed" })).rejects.toMatchObject({
      code: "handler_registered",
    });
    await expect(payments.retireHandler("books", { event: "paid" as never })).rejects.toMatchObject({
      code: "option_invalid",
    });
    expect(await payments.retireHandler("books", { event: "*" })).toBe(1);
    expect((await store.counts()).oldestUndoneAt).toBeUndefined();
  });

  it("ends the pause and the limit of the name, and of no other event of it", async () => {
    const store = new MemoryStore();
    await store.registerHandlers([
      { event: "payment.completed", name: "books" },
      { event: "payment.updated", name: "books" },
    ]);
    const payments = testKit({ store });
    await payments.pauseHandler("books", { by: "Amina", reason: "the accounts are down" });
    await payments.limitHandler("books", { perSecond: 2 });
    const listed = async () => (await payments.attention({ rule: "handler_paused" })).entries;
    await payments.retireHandler("books", { event: "payment.updated" });
    expect(await listed()).toHaveLength(1);
    await payments.retireHandler("books");
    expect(await listed()).toEqual([]);
    await store.registerHandlers([{ event: "payment.completed", name: "books" }]);
    const [again] = await payments.handlers();
    expect(again).toMatchObject({ changes: [{ did: "paused" }, { did: "limited" }, { did: "retired" }] });
    expect([again!.paused, again!.perSecond]).toEqual([undefined, undefined]);
  });

  it("leaves a pause of an earlier version that can be ended", async () => {
    const store = new MemoryStore();
    const payments = testKit({ store });
    const value = { paused: { by: "Amina", reason: "down", at: "2026-11-20T10:00:00.000Z" } };
    const notes = [{ kind: "handler", id: "books", version: 0, value }];
    await store.transaction((tx) => store.save(tx, { notes }));
    expect(await payments.resumeHandler("books", { by: "Said" })).toMatchObject({ changed: true });
    expect((await payments.attention({ rule: "handler_paused" })).entries).toEqual([]);
  });

  it("retires a long backlog in steps, continues where it broke off, and may be repeated", async () => {
    const store = new MemoryStore();
    await store.registerHandlers([{ event: "*", name: "books" }]);
    await saved(store, { events: Array.from({ length: 1200 }, (_, n) => event(`e${n}`)) });
    const retire = jest.spyOn(store, "retire");
    const payments = testKit({ store });
    retire.mockImplementationOnce((options) =>
      MemoryStore.prototype.retire.call(store, options).then(() => {
        throw new Error("the connection broke");
      }),
    );
    await expect(payments.retireHandler("books")).rejects.toThrow("broke");
    expect(await payments.retireHandler("books", { by: "Amina" })).toBe(700);
    expect(await payments.retireHandler("books", { by: "Amina" })).toBe(0);
    const [{ changes } = { changes: [] }] = await readControls(store);
    expect(changes).toEqual([{ did: "retired", by: "Amina", retired: 700, at: expect.any(String) }]);
    for (const [{ limit }] of retire.mock.calls) expect(limit).toBeLessThanOrEqual(500);
  });

  onEachDatabase("the retirement of a handler", (kind) => {
    let place: Place;
    beforeEach(async () => {
      place = await openPlace(kind);
    });
    afterEach(async () => {
      await closeAll();
      await place.remove();
    });

    /** Makes the kit of another process. */
    function process(dispatch: DispatchOptions | false = false): Payments<SignedField, SqlTx> {
      return testKit<SignedField, SqlTx>({ store: openStore(place.address), dispatch, spool: false });
    }

    const write = (tx: SqlTx, eventId: string, name = "books") =>
      tx.query(`insert into ${place.address.prefix}ledger (name, event_id) values (${placeholders(tx, 2)})`, [
        name,
        eventId,
      ]);
    const states = () =>
      place.select<{ event_id: string; state: string }>(
        "select event_id, state from @dispatches order by event_id",
      );

    it("rolls back a run that has not committed, and its dispatch never runs again", async () => {
      const worker = process({ pollMs: 5, firstDelayMs: 1 });
      const [running, isRunning] = signal();
      const [retired, isRetired] = signal();
      const [over, isOver] = signal();
      let runs = 0;
      worker.onAny(
        async ({ id }, context) => {
          runs += 1;
          isRunning();
          await retired;
          await write(context.tx, id).finally(isOver);
        },
        { name: "books" },
      );
      await worker.start({ keepAlive: false });
      await saved(place.store, { events: [event("e1", { clientId: "c-1" })] });
      await running;
      const other = process();
      expect(await other.retireHandler("books")).toBe(1);
      isRetired();
      await over;
      await worker.close();

      expect(runs).toBe(1);
      const handlers = [{ event: "*", name: "books" }] as const;
      expect(await place.store.claim({ handlers, limit: 1, leaseMs: 1 })).toEqual([]);
      expect(await place.ledger()).toEqual([]);
      expect(await states()).toEqual([{ event_id: "e1", state: "retired" }]);
      const { entries } = await other.history("c-1");
      expect(entries.at(-1)).toMatchObject({ kind: "dispatch", handler: "books", state: "retired" });
      expect((await other.prune({ before: new Date() })).events).toBeGreaterThan(0);
      expect(await states()).toEqual([]);
    });

    it("retires what is dead, so that it is not replayed", async () => {
      const worker = process({ maxFailures: 1, pollMs: 5 });
      const dead = new Promise((resolve) => worker.on("dispatch.dead", resolve));
      worker.onAny(() => Promise.reject(new Error("no")), { name: "books" });
      await worker.start({ keepAlive: false });
      await saved(place.store, { events: [event("e1")] });
      await dead;
      await worker.close();
      const other = process();
      expect(await other.retireHandler("books")).toBe(1);
      expect(await other.replayDispatches({ dryRun: false })).toMatchObject({ dispatches: [] });
      expect(await other.health()).toMatchObject({ counts: { dead: 0 } });
    });

    it("leaves each dispatch done with its writes or retired without them, while handlers run", async () => {
      const worker = process({ pollMs: 5, concurrency: 4 });
      const [some, areSome] = signal();
      const [retirement, isOver] = signal();
      const ids = Array.from({ length: 200 }, (_, n) => `e${n}`);
      let written = 0;
      worker.onAny(
        async ({ id }, { tx }) => {
          // The last one is still there at the end, however fast the machine is.
          if (id === ids.at(-1)) await retirement;
          await write(tx, id);
          if (++written === 20) areSome();
        },
        { name: "books" },
      );
      worker.onAny(({ id }, { tx }) => write(tx, id, "stock"), { name: "stock" });
      await worker.start({ keepAlive: false });
      await saved(place.store, { events: ids.map((id) => event(id)) });
      await some;
      const retired = await process().retireHandler("books");
      isOver();
      expect(await process().retireHandler("books")).toBe(0);
      await worker.close();

      const ledger = (await place.ledger()).filter(({ name }) => name === "books");
      const dispatches = await place.select<{ event_id: string; state: string }>(
        "select event_id, state from @dispatches where handler = 'books'",
      );
      const inState = (state: string) =>
        dispatches.filter((one) => one.state === state).map(({ event_id }) => event_id);
      expect(inState("done").toSorted()).toEqual(ledger.map(({ event_id }) => event_id).toSorted());
      expect(inState("retired")).toHaveLength(retired);
      expect(ledger.length + retired).toBe(200);
      expect(retired).toBeGreaterThan(0);
    });
  });
});

/** Returns a promise with the function that resolves it. */
function signal(): [Promise<void>, () => void] {
  let resolve!: () => void;
  return [new Promise<void>((fulfil) => (resolve = fulfil)), () => resolve()];
}
