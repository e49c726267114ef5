import { sqliteStore } from "tillkit/sql";
import { TillkitError } from "../../../src/errors/index.js";
import { event, ledger, mailer, payment, webhook } from "../../../src/store/exam/checks/fixtures.js";
import {
  claimed,
  deferred,
  eventIds,
  leased,
  runOf,
  saved,
  settled,
  withEvents,
} from "../../../src/store/exam/checks/steps.js";
import { type Claim } from "../../../src/store/index.js";
import { type Driver, type Purpose } from "../../../src/store/sql/driver/driver.js";
import { resolveSqlStoreOptions } from "../../../src/store/sql/options.js";
import { AnswerLimits } from "../../../src/store/sql/pooled/answer-limits.js";
import { SqlStore } from "../../../src/store/sql/sql-store.js";
import { SqliteDriver } from "../../../src/store/sql/sqlite/sqlite-driver.js";
import { tablesUnder } from "../../../src/store/sql/tables/names.js";
import { onEachServer, openPlace, openStore, type Place } from "../../promises/processes/databases.js";
import { temporaryFiles } from "./support/temporary-files.js";

const nextFile = temporaryFiles();
const later = "2099-01-01T00:00:00.000Z";

describe("a transaction that the database ended in favour of another one", () => {
  const conflict = new TillkitError(
    "store_unavailable",
    "The transaction was ended in favour of another one.",
  );

  /** Opens a store with a leased and a dead dispatch. Then every second transaction fails, beginning with the first. */
  async function openConflicting() {
    const tables = tablesUnder("shop_");
    const driver: Driver<unknown> = new SqliteDriver(nextFile(), tables, resolveSqlStoreOptions());
    const isDeadlock = (error: unknown): boolean => error === conflict;
    Object.assign(driver, { dialect: { ...driver.dialect, isDeadlock } });
    const store = new SqlStore(driver, tables);
    await withEvents(store, [ledger], 3);
    const [running, dying] = (await claimed(store, [ledger], { limit: 2 })) as [Claim, Claim];
    await settled(store, dying, { state: "dead", error: "no" });
    let started = 0;
    const begin = driver.begin.bind(driver);
    const commit = (rollback: () => Promise<void>) => async (): Promise<void> => {
      await rollback();
      throw conflict;
    };
    driver.begin = async (purpose) => {
      const open = await begin(purpose);
      return ++started % 2 === 1 ? { ...open, commit: commit(() => open.rollback()) } : open;
    };
    return { store, running, started: () => started };
  }
  type Store = Awaited<ReturnType<typeof openConflicting>>["store"];

  it.each<[string, (store: Store, running: Claim) => Promise<unknown>, unknown]>([
    ["transaction", (store) => saved(store, { created: [payment("p1")] }), { takenClientIds: [] }],
    ["record", (store) => store.record({ eventKeys: ["k1"] }, () => ({ webhooks: [webhook("k1")] })), true],
    ["registerHandlers", (store) => store.registerHandlers([mailer]), undefined],
    ["claim", (store) => claimed(store, [ledger]), [{ event: { id: "e2" }, attempt: 1 }]],
    ["renew", (store, running) => store.renew(runOf(running), 1000), true],
    ["dead", (store) => store.dead({ revive: true, limit: 9 }), [{ eventId: "e1" }]],
    ["prune", (store) => store.prune({ before: later, limit: 9 }), { events: 0 }],
    ["retire", (store) => store.retire({ handler: "ledger", limit: 9 }), 3],
  ])("is repeated by %s", async (_, call, expected) => {
    const { store, running, started } = await openConflicting();
    const [result] = [await call(store, running)];
    expect([result]).toMatchObject([expected]);
    expect(started()).toBeGreaterThanOrEqual(2);
    await store.close();
  });

  it("is not repeated by runHandler, whose handler may have acted upon what it read", async () => {
    const { store } = await openConflicting();
    let runs = 0;
    const running = store.runHandler(
      async (tx) => {
        runs++;
        await tx.query("select 1");
      },
      async () => {},
    );
    await expect(running).rejects.toBe(conflict);
    expect(runs).toBe(1);
    await store.close();
  });
});

it("a store makes its tables after a first try that failed", async () => {
  const tables = tablesUnder("shop_");
  const driver = new SqliteDriver(nextFile(), tables, resolveSqlStoreOptions());
  const migrate = jest.spyOn(driver, "migrate").mockRejectedValueOnce(new Error("not yet"));
  const store = new SqlStore(driver, tables);
  await expect(saved(store, { created: [payment("p1")] })).rejects.toThrow("not yet");
  await saved(store, { created: [payment("p1")] });
  expect(await store.find("p1")).toEqual(payment("p1"));
  expect(migrate).toHaveBeenCalledTimes(2);
  await store.close();
});

it("a claim after a full one finds events that were saved meanwhile", async () => {
  const tables = tablesUnder("shop_");
  const store = new SqlStore(new SqliteDriver(nextFile(), tables, resolveSqlStoreOptions()), tables);
  await withEvents(store, [ledger], 1);
  expect(eventIds(await claimed(store, [ledger], { limit: 1 }))).toEqual(["e0"]);
  await saved(store, { events: [event("e1")] });
  expect(eventIds(await claimed(store, [ledger], { limit: 1 }))).toEqual(["e1"]);
  expect(await claimed(store, [ledger], { limit: 1 })).toEqual([]);
  await store.close();
});

it("a claim that is likely to find nothing takes no lock, also after a full claim and an empty one", async () => {
  const tables = tablesUnder("shop_");
  const driver = new SqliteDriver(nextFile(), tables, resolveSqlStoreOptions());
  const store = new SqlStore(driver, tables);
  await withEvents(store, [ledger], 1);
  expect(await claimed(store, [ledger], { limit: 1 })).toHaveLength(1);
  expect(await claimed(store, [ledger], { limit: 1 })).toEqual([]);
  const begin = jest.spyOn(driver, "begin");
  expect(await claimed(store, [ledger], { limit: 1 })).toEqual([]);
  expect(begin).not.toHaveBeenCalled();
  await store.close();
});

it("dispatches that become pending again are announced to other processes", async () => {
  const tables = tablesUnder("shop_");
  const announce = jest.fn();
  const driver = Object.assign(new SqliteDriver(nextFile(), tables, resolveSqlStoreOptions()), { announce });
  const store = new SqlStore(driver, tables);
  await settled(store, await leased(store), { state: "dead", error: "no" });
  announce.mockClear();
  expect(await store.dead({ revive: false, limit: 9 })).toHaveLength(1);
  expect(announce).not.toHaveBeenCalled();
  expect(await store.dead({ revive: true, run: "again", limit: 9 })).toHaveLength(1);
  expect(await store.dead({ revive: true, run: "again", limit: 9 })).toEqual([]);
  expect(announce).toHaveBeenCalledTimes(1);
  await store.close();
});

it("a store is closed after its transactions have ended, which commit", async () => {
  const file = nextFile();
  const store = sqliteStore(file);
  const [wrote, mayEnd] = [deferred(), deferred()];
  const running = store.transaction(async (tx) => {
    await store.save(tx, { created: [payment("p1")] });
    wrote.resolve();
    await mayEnd.promise;
  });
  await wrote.promise;
  const closing = store.close();
  await new Promise(setImmediate);
  mayEnd.resolve();
  await Promise.all([running, closing]);
  const other = sqliteStore(file);
  expect(await other.find("p1")).toEqual(payment("p1"));
  await other.close();
});

onEachServer("the time limits of statements", (kind) => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await place.remove();
  });

  it("are longer for statements that may read or write many rows, and for no others", async () => {
    const seen = new Set<Purpose | undefined>();
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its limits
    const { on } = AnswerLimits.prototype;
    jest.spyOn(AnswerLimits.prototype, "on").mockImplementation(function (this: AnswerLimits, watched) {
      const ask = on.call(this, watched);
      return (send, purpose) => {
        seen.add(purpose);
        return ask(send, purpose);
      };
    });
    const { prefix } = place.address;
    const store = openStore({ ...place.address, prefix: `${prefix.slice(0, -1)}x_` });
    const longerIn = async (run: () => Promise<unknown>): Promise<string[]> => {
      seen.clear();
      await run();
      return ["upkeep", "migration", "application"].filter((purpose) => seen.has(purpose as Purpose));
    };
    const claim = await leased(place.store);
    expect(await longerIn(() => store.migrate())).toEqual(["migration"]);
    const page = { limit: 9, newestFirst: false };
    const { store: read } = place;
    for (const many of [
      () => read.findMany({ clientIds: ["p1"] }),
      () => read.due({ before: later, limit: 9 }),
      () => read.lookupDue({ before: later, limit: 9 }),
      () => read.list(page),
      () => read.history("p1"),
      () => read.revived({ run: "r1", limit: 9 }),
      () => read.webhooks(page),
      () => read.counts(),
      () => read.handlers(),
      () => read.dead({ revive: false, limit: 9 }),
      () => read.dead({ revive: true, limit: 9 }),
      () => read.prune({ before: later, limit: 9 }),
      () => read.registerHandlers([mailer]),
      () => read.retire({ handler: "mailer", limit: 9 }),
    ])
      expect([String(many), await longerIn(many)]).toEqual([String(many), ["upkeep"]]);
    for (const short of [
      () => read.find("p1"),
      () => read.notes({ kind: "handler" }),
      () => read.identify("x"),
      () => read.renew(runOf(claim), 1000),
      () => claimed(read, [ledger]),
      () => read.record({ clientIds: ["p1"] }, () => ({ webhooks: [webhook("k1")] })),
      () => saved(read, { created: [payment("p1")] }),
    ])
      expect([String(short), await longerIn(short)]).toEqual([String(short), []]);
    expect(await longerIn(() => read.query("select 1 as one"))).toEqual(["application"]);
    await store.transaction(async (tx) => {
      for (const table of Object.values(tablesUnder(`${prefix.slice(0, -1)}x_`)).slice(0, -1))
        await tx.query(`drop table ${table}`);
    });
    await store.close();
  });
});
