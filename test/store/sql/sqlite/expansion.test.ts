import { claimed, saved } from "../../../../src/store/exam/checks/steps.js";
import { event, ledger, mailer } from "../../../../src/store/exam/checks/fixtures.js";
import { type Claim } from "../../../../src/store/index.js";
import { openPlace, type Place } from "../../../promises/processes/databases.js";

const later = "2099-01-01T00:00:00.000Z";

/** Returns events with these numbers, oldest first. */
const eventsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => event(`e${first + index}`));

const idsOf = (claims: readonly Claim[]): string[] => claims.map((claim) => claim.event.id);

// On SQLite one number tells which events have their dispatches: that of the newest one.
describe("the events that get their dispatches on SQLite", () => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace("sqlite");
  });
  afterEach(() => place.remove());

  const lastExpanded = async (): Promise<number> => {
    const [row] = await place.select<{ value: string }>("select value from @meta where name = 'expanded'");
    return Number(row!.value);
  };
  const remember = (...handlers: (typeof ledger)[]): Promise<void> => place.store.registerHandlers(handlers);

  it.each([
    ["oldest first", [1, 2, 3, 4, 5]],
    ["newest first", [5, 4, 3, 2, 1]],
    ["in another order", [3, 5, 1, 4, 2]],
  ])("include all events that get the numbers of deleted ones, %s", async (_, order) => {
    await remember(ledger);
    await saved(place.store, { events: eventsFrom(1, 3) });
    expect(await claimed(place.store, [ledger])).toHaveLength(3);
    await saved(place.store, { events: eventsFrom(4, 2) });
    for (const seq of order) await place.select(`delete from @events where seq = ${seq}`);
    expect(await lastExpanded()).toBe(0);

    await saved(place.store, { events: eventsFrom(6, 4) });
    expect(idsOf(await claimed(place.store, [ledger]))).toEqual(["e6", "e7", "e8", "e9"]);
  });

  it("are not those that got theirs from a process of the previous version", async () => {
    await remember(ledger);
    await saved(place.store, { events: eventsFrom(1, 2) });
    await place.select(
      `insert into @dispatches (event_id, handler, event_type, event_seq, state, open_handler, due_at, attempt, failures, fence)
        values ('e1', 'ledger', 'payment.completed', 1, 'pending', 'ledger', 0, 0, 0, 0)`,
    );
    expect(idsOf(await claimed(place.store, [ledger]))).toEqual(["e1", "e2"]);
    expect(await place.select("select 1 from @dispatches")).toHaveLength(2);
  });

  it("are pruned without dispatches where there is no handler", async () => {
    await saved(place.store, { events: eventsFrom(1, 3) });
    expect(await place.store.prune({ before: later, limit: 10 })).toMatchObject({ events: 3 });
    await remember(ledger);
    await saved(place.store, { events: eventsFrom(4, 1) });
    expect(await place.store.prune({ before: later, limit: 10 })).toMatchObject({ events: 0 });
    expect(idsOf(await claimed(place.store, [ledger]))).toEqual(["e4"]);
  });

  it("include those that get the numbers of deleted ones, also for a handler that was registered after these", async () => {
    await remember(mailer);
    await saved(place.store, { events: eventsFrom(1, 5) });
    await remember(ledger);
    expect(await claimed(place.store, [mailer])).toHaveLength(5);
    await place.select("delete from @events where seq > 2");
    await saved(place.store, { events: eventsFrom(6, 2) });
    expect(idsOf(await claimed(place.store, [ledger]))).toEqual(["e6", "e7"]);
  });

  it("do not include events that were saved before there was a handler", async () => {
    await saved(place.store, { events: eventsFrom(1, 1300) });
    expect(await place.store.counts()).not.toHaveProperty("oldestUndoneAt");
    await remember(ledger);
    expect(await lastExpanded()).toBe(1300);
    expect(await claimed(place.store, [ledger])).toEqual([]);
  });

  it("are counted without being read, however many wait and whether there is a handler or not", async () => {
    const medianMs = async (): Promise<number> => {
      const times: number[] = [];
      for (let n = 0; n < 15; n++) {
        const from = performance.now();
        await place.store.counts();
        times.push(performance.now() - from);
      }
      return times.toSorted((a, b) => a - b)[7]!;
    };
    const ofNone = await medianMs();
    await saved(place.store, { events: eventsFrom(1, 30_000) });
    const unwanted = await medianMs();
    await remember(ledger);
    await saved(place.store, { events: eventsFrom(30_001, 30_000) });
    const wanted = await medianMs();
    // To read them takes more than a hundred times as long.
    expect(Math.max(unwanted, wanted)).toBeLessThan(20 * ofNone);
  });

  it("get them for the earlier handlers, however many there are, and not for a new one", async () => {
    await remember(ledger);
    await saved(place.store, { events: eventsFrom(1, 1300) });
    expect(await place.store.counts()).toMatchObject({ oldestUndoneAt: event("e1").recordedAt });
    await remember(mailer);
    await saved(place.store, { events: eventsFrom(1301, 1) });
    expect(idsOf(await claimed(place.store, [mailer]))).toEqual(["e1301"]);
    expect(await claimed(place.store, [ledger], { limit: 2000 })).toHaveLength(1301);
  });
});
