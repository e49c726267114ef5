import {
  claimed,
  firstClaim,
  leased,
  runOf,
  saved,
  settled,
} from "../../../../src/store/exam/checks/steps.js";
import { event, ledger } from "../../../../src/store/exam/checks/fixtures.js";
import {
  onEachDatabase,
  onEachServer,
  openPlace,
  type Place,
} from "../../../promises/processes/databases.js";
import { openPatientStore, untilWaiting } from "../support/waiting-for-locks.js";

/** The clock of each database, in milliseconds. */
const clocks = {
  sqlite: "cast(unixepoch('subsec') * 1000 as integer)",
  postgres: "floor(extract(epoch from clock_timestamp()) * 1000)",
  mysql: "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) div 1000",
};
const hourMs = 3_600_000;

onEachDatabase("leases", (kind) => {
  const now = clocks[kind];
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
  });
  afterEach(() => place.remove());

  /** Returns in how many milliseconds the dispatch is due, by the clock of the database. */
  const dueInMs = async (): Promise<number> => {
    const [row] = await place.select<{ due: unknown }>(`select due_at - ${now} as due from @dispatches`);
    return Number(row!.due);
  };

  it("a lease lasts from the claim on, however long its dispatch was due", async () => {
    const { store } = place;
    await settled(store, await leased(store), { state: "failed", retryInMs: 0 });
    await place.select(`update @dispatches set due_at = due_at - ${hourMs}`);
    await firstClaim(store, [ledger]);
    expect(await dueInMs()).toBeGreaterThan(0);
    expect(await claimed(store, [ledger])).toEqual([]);
  });

  it("the lease of a first claim lasts from the claim on, however old its event is", async () => {
    const { store } = place;
    const other = { event: "payment.overdue", name: "other" } as const;
    await store.registerHandlers([ledger, other]);
    await saved(store, { events: [event("e0")] });
    // A claim of another handler gives the event its dispatch.
    expect(await claimed(store, [other])).toEqual([]);
    await place.select(`update @dispatches set due_at = due_at - ${hourMs}`);
    expect(await claimed(store, [ledger])).toHaveLength(1);
    expect(await dueInMs()).toBeGreaterThan(0);
  });

  it("a renewed lease lasts from the renewal on, and not from its old end", async () => {
    const { store } = place;
    const run = runOf(await leased(store, hourMs));
    expect(await store.renew(run, 1000)).toBe(true);
    expect(await dueInMs()).toBeLessThanOrEqual(1000);
    await place.select(`update @dispatches set due_at = due_at - ${hourMs}`);
    expect(await store.renew(run, 60_000)).toBe(true);
    expect(await dueInMs()).toBeGreaterThan(0);
  });

  it("a wait counts from the failure, also at the end of a transaction that took long", async () => {
    const { store } = place;
    const claim = await leased(store, hourMs);
    const settledAt = await store.transaction(async (tx) => {
      const pause = {
        sqlite: "select 1 as one",
        postgres: "select pg_sleep(0.3)",
        mysql: "select sleep(0.3)",
      };
      await tx.query(pause[kind]);
      const { rows } = await tx.query<{ now: unknown }>(`select ${now} as now`);
      await store.settle(tx, { ...runOf(claim), state: "failed", retryInMs: hourMs });
      return Number(rows[0]!.now);
    });
    const [row] = await place.select<{ due: unknown }>("select due_at as due from @dispatches");
    expect(Number(row!.due) - hourMs).toBeGreaterThanOrEqual(settledAt - 1);
  });

  // SQLite has one writer, so that no claim meets the rows of another one.
  if (kind !== "sqlite")
    it("a claim takes what no other claim has locked, and does not wait for the rest", async () => {
      const { store, address } = place;
      await settled(store, await leased(store), { state: "failed", retryInMs: 0 });
      await store.transaction(async (tx) => {
        await tx.query(`select event_id from ${address.prefix}dispatches for update`);
        expect(await claimed(store, [ledger])).toEqual([]);
      });
      expect(await firstClaim(store, [ledger])).toMatchObject({ attempt: 2 });
    });
});

// SQLite has one writer.
onEachServer("dispatches that another transaction changes", (kind) => {
  it("a dispatch that another process revives at the same moment is not revived again", async () => {
    const place = await openPlace(kind);
    const other = openPatientStore(place.address);
    await settled(place.store, await leased(place.store), { state: "dead", error: "no" });
    let reviving: Promise<unknown[]> | undefined;
    await place.store.transaction(async (tx) => {
      await tx.query(`update ${place.address.prefix}dispatches set state = 'done', dead = null`);
      reviving = other.dead({ revive: true, limit: 10 });
      await untilWaiting(place);
    });
    expect(await reviving).toEqual([]);
    expect(await place.select("select state from @dispatches")).toEqual([{ state: "done" }]);
    await other.close();
    await place.remove();
  });

  it("a run that commits at the moment of a retirement stays done, and is not counted as retired", async () => {
    const place = await openPlace(kind);
    const other = openPatientStore(place.address);
    const claim = await leased(place.store);
    let retiring: Promise<number> | undefined;
    await place.store.transaction(async (tx) => {
      await place.store.settle(tx, { ...runOf(claim), state: "done" });
      retiring = other.retire({ handler: ledger.name, limit: 10 });
      await untilWaiting(place);
    });
    expect(await retiring).toBe(0);
    expect(await place.select("select state from @dispatches")).toEqual([{ state: "done" }]);
    await other.close();
    await place.remove();
  });
});
