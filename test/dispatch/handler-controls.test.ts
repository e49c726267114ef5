import { MemoryStore, TillkitError } from "tillkit";
import { HandlerControls, handlerNotes } from "../../src/dispatch/handler-controls.js";

const books = { event: "*", name: "books" } as const;
const mail = { event: "payment.completed", name: "mail" } as const;
const paused = { reason: "the accounts are down", by: "Amina", at: "" };

afterEach(() => jest.restoreAllMocks());

/** Stores a decision about the handler. */
async function decide(store: MemoryStore, value: Record<string, unknown>, id = "books"): Promise<void> {
  const [before] = await store.notes({ kind: handlerNotes, ids: [id] });
  const notes = [{ kind: handlerNotes, id, version: before?.version ?? 0, value }];
  await store.transaction((tx) => store.save(tx, { notes }));
}

/** Returns a clock that the test moves, and the controls of processes over one store with a limit. */
async function limited(perSecond: number) {
  const store = new MemoryStore();
  await decide(store, { perSecond });
  const clock = { ms: Date.parse("2024-05-01T10:00:00Z") };
  const controls = () => new HandlerControls({ store, now: () => new Date(clock.ms), pollMs: 0 });
  const count = async (limit = 1000) => (await controls().permit([books], limit))[0]?.limit ?? 0;
  const charge = async (runs: number) => (await controls().permit([books], 1000))[0]!.charge!(runs);
  return { store, clock, controls, count, charge };
}

describe("the permits of handlers", () => {
  it("follow a decision that was made while the earlier decisions were read", async () => {
    const store = new MemoryStore();
    const controls = new HandlerControls({ store, now: () => new Date(), pollMs: 60_000 });
    const read = store.notes.bind(store);
    jest.spyOn(store, "notes").mockImplementationOnce(async (options) => {
      const found = await read(options);
      await decide(store, { paused });
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

  it("follow the decisions of other processes after pollMs, and not before", async () => {
    const store = new MemoryStore();
    const now = jest.spyOn(performance, "now").mockReturnValue(1000);
    const controls = new HandlerControls({ store, now: () => new Date(), pollMs: 500 });
    const all = [{ handlers: [books, mail], limit: 10 }];
    expect(await controls.permit([books, mail], 10)).toEqual(all);
    await decide(store, { paused });
    now.mockReturnValue(1499);
    expect(await controls.permit([books, mail], 10)).toEqual(all);
    now.mockReturnValue(1500);
    expect(await controls.permit([books, mail], 10)).toEqual([{ handlers: [mail], limit: 10 }]);
    await decide(store, {});
    now.mockReturnValue(2000);
    expect(await controls.permit([books, mail], 10)).toEqual(all);
  });

  it("are given by no decision that could not be read", async () => {
    const store = new MemoryStore();
    await decide(store, { paused });
    const controls = new HandlerControls({ store, now: () => new Date(), pollMs: 60_000 });
    jest.spyOn(store, "notes").mockRejectedValueOnce(new Error("away"));
    await expect(controls.permit([books], 10)).rejects.toThrow("away");
    expect(await controls.permit([books], 10)).toEqual([]);
  });

  it("are for all events of a limited name, and for no name that is paused too", async () => {
    const { store, controls } = await limited(5);
    const overdue = { event: "payment.overdue", name: "mail" } as const;
    await decide(store, { perSecond: 5, paused });
    await decide(store, { perSecond: 5 }, "mail");
    expect(await controls().permit([books, mail, overdue], 10)).toEqual([
      { handlers: [mail, overdue], limit: 5, charge: expect.any(Function) },
    ]);
  });
});

describe("the limit of a handler", () => {
  it("allows the runs of one second at one moment, and no more after a quiet hour", async () => {
    const { clock, count, charge } = await limited(10);
    expect(await count()).toBe(10);
    await charge(10);
    expect(await count()).toBe(0);
    clock.ms += 60 * 60 * 1000;
    expect(await count()).toBe(10);
  });

  it("never allows more runs than there are free slots", async () => {
    const { count } = await limited(10);
    expect(await count(3)).toBe(3);
  });

  it("counts each claimed run, in every process", async () => {
    const { clock, count, charge } = await limited(10);
    await charge(7);
    expect(await count()).toBe(3);
    clock.ms += 200;
    expect(await count()).toBe(5);
  });

  it("lets a handler wait for 100 ms at least, so that a high limit needs few claims", async () => {
    const { controls, count, charge } = await limited(500);
    await charge(await count());
    const one = controls();
    expect(await one.permit([books], 10)).toEqual([]);
    expect(one.waitMs).toBe(100);
  });

  it.each([0.3, 0.6, 0.7, 0.9, 1.1])(
    "of %d a second allows a run as soon as its time has passed",
    async (perSecond) => {
      const { clock, controls, count, charge } = await limited(perSecond);
      for (let runs = 0; runs < 3; runs++) {
        expect(await count()).toBe(1);
        await charge(1);
        const one = controls();
        expect(await one.permit([books], 10)).toEqual([]);
        clock.ms += Math.ceil(one.waitMs);
      }
    },
  );

  it("counts the runs of two processes that claim at the same moment", async () => {
    const { count, charge } = await limited(10);
    await Promise.all([charge(1), charge(2), charge(3)]);
    expect(await count()).toBe(4);
  });

  it("counts the runs of many processes that claim at the same moment", async () => {
    const { clock, count, charge } = await limited(10);
    await Promise.all(Array.from({ length: 40 }, () => charge(1)));
    // At the start, 10 of the 40 runs were allowed. The other 30 runs use up the next three seconds.
    clock.ms += 2999;
    expect(await count()).toBe(0);
    clock.ms += 101;
    expect(await count()).toBe(1);
  });

  it("reports that the runs could not be counted, because the note changed at each try", async () => {
    const { store, charge } = await limited(10);
    const conflict = new TillkitError("store_conflict", "another version");
    jest.spyOn(store, "save").mockRejectedValue(conflict);
    await expect(charge(1)).rejects.toBe(conflict);
  });

  it("reports that the runs could not be counted, because the store failed", async () => {
    const { store, charge } = await limited(10);
    const save = jest.spyOn(store, "save").mockRejectedValue(new Error("away"));
    await expect(charge(1)).rejects.toThrow("away");
    expect(save).toHaveBeenCalledTimes(1);
  });

  it("makes the process wait until the first of several handlers may run again", async () => {
    const { store, controls } = await limited(2);
    await decide(store, { perSecond: 0.1 }, "mail");
    const one = controls();
    for (const { limit, charge } of await one.permit([books, mail], 10)) await charge!(limit);
    for (const handlers of [
      [books, mail],
      [mail, books],
    ]) {
      expect(await one.permit(handlers, 10)).toEqual([]);
      expect(one.waitMs).toBe(500);
    }
    await decide(store, {});
    await decide(store, {}, "mail");
    await one.permit([books, mail], 10);
    expect(one.waitMs).toBe(Infinity);
  });
});
