import { MemoryStore } from "tillkit";
import { HandlerControls, handlerNotes } from "../../src/dispatch/handler-controls.js";

const books = { event: "*", name: "books" } as const;

/** Stores a decision about the handler. */
async function decide(store: MemoryStore, value: Record<string, unknown>): Promise<void> {
  const [before] = await store.notes({ kind: handlerNotes, ids: ["books"] });
  const notes = [{ kind: handlerNotes, id: "books", version: before?.version ?? 0, value }];
  await store.transaction((tx) => store.save(tx, { notes }));
}

describe("the permits of handlers", () => {
  it("follow a decision that was made while the earlier decisions were read", async () => {
    const store = new MemoryStore();
    const controls = new HandlerControls({ store, now: () => new Date(), pollMs: 60_000 });
    const read = store.notes.bind(store);
    jest.spyOn(store, "notes").mockImplementationOnce(async (options) => {
      const found = await read(options);
      await decide(store, { paused: { reason: "the accounts are down", by: "Amina", at: "" } });
      controls.forget();
      return found;
    });
    await controls.permit([books], 10);
    expect(await controls.permit([books], 10)).toEqual([]);
  });

  it("keep the limit of a second over many processes that claim at the same moment", async () => {
    const store = new MemoryStore();
    await decide(store, { perSecond: 1 });
    let now = Date.parse("2024-05-01T10:00:00Z");
    const processes = Array.from(
      { length: 24 },
      () => new HandlerControls({ store, now: () => new Date(now), pollMs: 60_000 }),
    );
    let runs = 0;
    for (let second = 0; second < 120; second++, now += 1000) {
      const permits = (await Promise.all(processes.map((one) => one.permit([books], 10)))).flat();
      for (const { limit, charge } of permits) {
        runs += limit;
        await charge!(limit);
      }
    }
    expect(runs).toBeLessThanOrEqual(120 + 24);
    expect(runs).toBeGreaterThan(100);
  });

  it("allow runs shortly after the clock was put back, or the limit was raised", async () => {
    const store = new MemoryStore();
    await decide(store, { perSecond: 1 });
    let now = Date.parse("2024-05-01T10:00:00Z");
    const controls = new HandlerControls({ store, now: () => new Date(now), pollMs: 0 });
    const count = async () => (await controls.permit([books], 10))[0]?.limit ?? 0;
    const charge = async (runs: number) => (await controls.permit([books], 10))[0]!.charge!(runs);
    await charge(1);
    now -= 60 * 60 * 1000;
    expect(await count()).toBe(1);
    await charge(1);
    expect(await count()).toBe(0);

    await decide(store, { perSecond: 0.001 });
    now += 60 * 60 * 1000;
    await charge(12);
    await decide(store, { perSecond: 5 });
    now += 120_000;
    expect(await count()).toBeGreaterThan(0);
  });
});
