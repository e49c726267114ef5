import { event, ledger, mailer } from "../../../../src/store/exam/checks/fixtures.js";
import { claimed, pairs, saved } from "../../../../src/store/exam/checks/steps.js";
import { postgresDialect } from "../../../../src/store/sql/postgres/postgres-dialect.js";
import { mysqlDialect } from "../../../../src/store/sql/mysql/mysql-dialect.js";
import { onEachServer, openPlace, type Place } from "../../../promises/processes/databases.js";
import { openPatientStore, untilWaiting } from "../support/waiting-for-locks.js";

const dialects = { postgres: postgresDialect, mysql: mysqlDialect };

// SQLite has one writer, so that an expansion and a registration never run at the same time.
onEachServer("handlers", (kind) => {
  const { forShare, forUpdate } = dialects[kind];
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
  });
  afterEach(() => place.remove());

  /** Takes the lock of the table of handlers, and runs what is to wait for it. */
  const whileLocked = (how: string, run: () => Promise<void>): Promise<void> =>
    place.store.transaction(async (tx) => {
      await tx.query(`select value from ${place.address.prefix}meta where name = 'handlers' ${how}`);
      await run();
    });

  it("a handler is registered only after the expansions that run, which do not know it", async () => {
    const other = openPatientStore(place.address);
    await other.registerHandlers([ledger]);
    let registering: Promise<void> | undefined;
    await whileLocked(forShare, async () => {
      registering = other.registerHandlers([mailer]);
      await untilWaiting(place);
      expect(await place.select("select name from @handlers")).toEqual([{ name: "ledger" }]);
    });
    await registering;
    expect(await place.select("select name from @handlers")).toHaveLength(2);
    await other.close();
  });

  it("a handler is retired only after the expansions that run, which may make dispatches for it", async () => {
    const other = openPatientStore(place.address);
    await other.registerHandlers([ledger]);
    let retiring: Promise<number> | undefined;
    await whileLocked(forShare, async () => {
      retiring = other.retire({ handler: ledger.name, limit: 10 });
      await Promise.race([untilWaiting(place), retiring]);
      expect(await place.select("select name from @handlers")).toEqual([{ name: "ledger" }]);
    });
    await retiring;
    expect(await place.select("select name from @handlers")).toEqual([]);
    await other.close();
  });

  it("a handler that two processes register at the same moment is stored once", async () => {
    const others = [openPatientStore(place.address), openPatientStore(place.address)];
    let registering: Promise<void[]> | undefined;
    await whileLocked(forUpdate, async () => {
      registering = Promise.all(others.map((other) => other.registerHandlers([ledger])));
      await untilWaiting(place, 2);
    });
    await registering;
    expect(await place.select("select name from @handlers")).toEqual([{ name: "ledger" }]);
    await Promise.all(others.map((other) => other.close()));
  });

  it("a handler that another server of a cluster registers at the same moment is stored once", async () => {
    const other = openPatientStore(place.address);
    await other.registerHandlers([ledger]);
    let registering: Promise<void> | undefined;
    await place.store.transaction(async (tx) => {
      // Galera shows a lock of one server to no other one.
      const row = `('${mailer.event}', '${mailer.name}', 0)`;
      await tx.query(`insert into ${place.address.prefix}handlers (event, name, after_seq) values ${row}`);
      registering = other.registerHandlers([mailer]);
      await untilWaiting(place);
    });
    await registering;
    expect(await place.select("select name from @handlers")).toHaveLength(2);
    await other.close();
  });

  it("a new handler gets the events whose transactions commit after its registration, and no others", async () => {
    const other = openPatientStore(place.address);
    await other.registerHandlers([ledger]);
    // More than the kit looks at, with numbers of which the number of the late event contains many.
    const earlier = Array.from({ length: 1100 }, (_, n) => event(`before ${n}`));
    await saved(other, { events: earlier });
    await place.store.transaction(async (tx) => {
      await place.store.save(tx, { events: [event("late")] });
      // This event has a higher number, and is committed before the registration.
      await saved(other, { events: [event("between")] });
      await other.registerHandlers([mailer]);
      await saved(other, { events: [event("after")] });
    });
    expect(pairs(await claimed(other, [mailer])).toSorted()).toEqual(["after mailer", "late mailer"]);
    await other.close();
  });

  it("a new handler gets the events of several open transactions, also those with the first numbers of all", async () => {
    const other = openPatientStore(place.address);
    await other.registerHandlers([ledger]);
    await place.store.transaction(async (tx) => {
      await place.store.save(tx, { events: [event("first"), event("second")] });
      await saved(other, { events: [event("between")] });
      await place.store.save(tx, { events: [event("third")] });
      await saved(other, { events: [event("newest")] });
      await other.registerHandlers([mailer]);
    });
    expect(pairs(await claimed(other, [mailer])).toSorted()).toEqual([
      "first mailer",
      "second mailer",
      "third mailer",
    ]);
    await other.close();
  });

  it("events are expanded only after the registrations that run, of which they may need a dispatch", async () => {
    const other = openPatientStore(place.address);
    await place.store.registerHandlers([ledger]);
    await saved(place.store, { events: [event("e1")] });
    let claiming: ReturnType<typeof claimed> | undefined;
    await whileLocked(forUpdate, async () => {
      claiming = claimed(other, [ledger, mailer]);
      await untilWaiting(place);
      expect(await place.select("select handler from @dispatches")).toEqual([]);
    });
    expect(pairs((await claiming)!)).toEqual(["e1 ledger"]);
    await other.close();
  });
});
