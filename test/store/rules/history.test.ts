import { MemoryStore, type PaymentStore, storeOver } from "tillkit";
import { event, ledger } from "../../../src/store/exam/checks/fixtures.js";
import { claimed, saved, settled } from "../../../src/store/exam/checks/steps.js";
import { memoryAdapter } from "../over/memory-adapter.js";

const stores: [name: string, open: () => PaymentStore][] = [
  ["a MemoryStore", () => new MemoryStore()],
  ["a storeOver", () => storeOver(memoryAdapter())],
];
const page = { before: "2999-01-01T00:00:00.000Z", limit: 1 };

describe.each(stores)("the history of %s", (_, open) => {
  it("has no events on a page that follows an event that was pruned meanwhile", async () => {
    const store = open();
    await saved(store, { events: ["e1", "e2", "e3"].map((id) => event(id, { clientId: "p1" })) });
    expect(await store.prune({ ...page, limit: 2 })).toMatchObject({ events: 2 });
    const after = (id: string) => store.history("p1", { limit: 10, before: { event: { id } } });
    expect((await after("e1")).events).toEqual([]);
    expect((await after("e2")).events).toEqual([]);
    expect((await store.history("p1")).events).toMatchObject([{ id: "e3" }]);
  });

  it("has no dispatch of an event that was pruned, also where it was revived before", async () => {
    const store = open();
    await store.registerHandlers([ledger]);
    await saved(store, { events: [event("e1", { clientId: "p1" })] });
    for (const state of ["dead", "done"] as const) {
      const [claim] = await claimed(store, [ledger]);
      await settled(store, claim!, { state });
      await store.dead({ revive: true, limit: 1, run: "run-1" });
    }
    expect(await store.revived({ run: "run-1", limit: 9 })).toHaveLength(1);
    await store.prune(page);
    expect(await store.revived({ run: "run-1", limit: 9 })).toEqual([]);
  });

  it("shows the last 20 ends of a dispatch, and no error while a revived one waits", async () => {
    const store = open();
    await store.registerHandlers([ledger]);
    await saved(store, { events: [event("e1", { clientId: "p1" })] });
    for (let n = 1; n <= 22; n++) {
      const [claim] = await claimed(store, [ledger]);
      await settled(store, claim!, { state: "dead", error: `no ${n}` });
      await store.dead({ revive: true, limit: 1, run: `run-${n}` });
    }
    const [dispatch] = (await store.history("p1")).dispatches;
    const past = Array.from({ length: 20 }, (_, index) => `no ${index + 3}`);
    expect(dispatch!.past!.map(({ error }) => error)).toEqual(past);
    const { past: _past, ...waiting } = dispatch!;
    expect(waiting).toEqual({
      eventId: "e1",
      type: "payment.completed",
      clientId: "p1",
      handler: "ledger",
      state: "pending",
      attempt: 0,
      failures: 0,
      run: "run-22",
    });
  });
});
