import { type Claim } from "../../../../src/store/index.js";
import { event, ledger } from "../../../../src/store/exam/checks/fixtures.js";
import { claimed, saved } from "../../../../src/store/exam/checks/steps.js";
import { onEachDatabase, openPlace, type Place } from "../../../promises/processes/databases.js";

onEachDatabase("a claim of new events", (kind) => {
  const mails = { event: "payment.completed", name: "mails" } as const;
  const late = { event: "payment.overdue", name: "ledger" } as const;
  const ids = Array.from({ length: 6 }, (_, index) => `e${index}`);
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
    await place.store.registerHandlers([ledger, mails]);
    await saved(place.store, { events: ids.map((id) => event(id)) });
  });
  afterEach(() => place.remove());

  const claim = (handlers: readonly (typeof ledger | typeof mails | typeof late)[], limit: number) =>
    place.store.claim({ handlers, limit, leaseMs: 60_000 });
  const named = (claims: readonly Claim[]) => claims.map(({ event: { id }, handler }) => `${id} ${handler}`);
  const rows = async (): Promise<string[]> => {
    const all = await place.select(
      "select event_id, handler, state, attempt, fence from @dispatches order by event_seq, handler",
    );
    return all.map((row) => Object.values(row).join(" "));
  };

  it("leases the oldest of the handler that asks, and leaves those of others", async () => {
    const claims = await claim([ledger], 2);
    expect(named(claims)).toEqual(["e0 ledger", "e1 ledger"]);
    expect(claims).toMatchObject([1, 1].map(() => ({ fence: 1, attempt: 1, failures: 0 })));
    expect(await rows()).toEqual(
      expect.arrayContaining([
        "e0 ledger leased 1 1",
        "e0 mails pending 0 0",
        "e1 ledger leased 1 1",
        "e1 mails pending 0 0",
      ]),
    );
    expect((await rows()).filter((row) => row.includes("leased"))).toHaveLength(2);
    expect(named(await claim([ledger], 9))).toEqual(["e2", "e3", "e4", "e5"].map((id) => `${id} ledger`));
    expect(named(await claim([mails], 9))).toEqual(ids.map((id) => `${id} mails`));
  });

  it("takes no more than its limit, also for several names, and everything in the end", async () => {
    const taken: string[] = [];
    for (const limit of [1, 3, 2, 4]) {
      const claims = await claim([ledger, mails], limit);
      expect(claims).toHaveLength(limit);
      taken.push(...named(claims));
    }
    taken.push(...named(await claim([ledger, mails], 9)));
    expect(taken.toSorted()).toEqual(ids.flatMap((id) => [`${id} ledger`, `${id} mails`]));
  });

  it("finds its events behind those that others want", async () => {
    await place.store.registerHandlers([late]);
    await saved(place.store, { events: [event("e6", { type: "payment.overdue" })] });
    expect(named(await claim([late], 2))).toEqual(["e6 ledger"]);
    expect(named(await claim([ledger], 9))).toEqual(ids.map((id) => `${id} ledger`));
  });

  it("rows of a first claim wait as long as those of a later one", async () => {
    await claim([ledger], 1);
    const waits = async () => {
      const [row] = await place.select(
        "select due_at - waits_from as span from @dispatches where state = 'leased'",
      );
      return Number(row!["span"]);
    };
    expect(await waits()).toBe(120_000);
    await place.select("update @dispatches set due_at = 0 where state = 'leased'");
    expect(await claim([ledger], 1)).toMatchObject([{ fence: 2, attempt: 2 }]);
  });
});

const url = process.env["TILLKIT_TEST_POSTGRES_URL"];

if (url !== undefined && url !== "none")
  it("PostgreSQL writes each dispatch of a first claim once", async () => {
    const place = await openPlace("postgres");
    await place.store.registerHandlers([ledger]);
    await saved(place.store, { events: [event("e0")] });
    expect(await claimed(place.store, [ledger])).toHaveLength(1);
    // A row that was written again has left a version behind.
    const [row] = await place.select<{ at: string }>("select ctid::text as at from @dispatches");
    expect(row!.at).toBe("(0,1)");
    await place.remove();
  });
