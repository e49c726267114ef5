import { type Changes, type Health, MemoryStore, type MemoryTx, type Saved, type StoreCounts } from "tillkit";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, signed } from "../support/webhooks.js";
import { type NoticeMap } from "../../src/model/notice-map.js";
import { checkHealth, createHealthCheck, type HealthParts } from "../../src/operations/health.js";
import { type Keeping } from "../../src/webhook/recording/webhook-keeper.js";

afterEach(async () => {
  jest.restoreAllMocks();
  await closeAll();
});

const now = Date.parse("2026-11-20T10:00:00.000Z");
const timeAt = (ms: number) => new Date(now + ms).toISOString();
const keeperIn = (keeping: Keeping) => ({ keeping, retryRefused: async () => {} });
const healthy: Omit<HealthParts<MemoryTx>, "store"> = {
  spool: undefined,
  recorder: { isStuck: () => false },
  now: () => new Date(now),
  timeoutMs: 5000,
  lateMs: 60_000,
  rejections: () => ({ byCode: {}, throttled: 0 }),
  foreign: () => 0,
  keeper: keeperIn({}),
  clock: { look: () => ({ lastMs: 0, sumMs: 0 }) },
  unopened: () => undefined,
  runs: () => true,
  hanging: () => 0,
  sweepFailure: () => undefined,
  wentBack: () => undefined,
  silence: () => undefined,
  mismatches: () => ({ count: 0, spanMs: 0 }),
  unmatchedAfterMs: 900_000,
  spoolingDownAfterMs: 1000,
};

const check = (parts: Partial<HealthParts<MemoryTx>>) =>
  checkHealth({ ...healthy, store: new MemoryStore(), ...parts });
const codesOf = ({ reasons }: Health) => reasons.map(({ code }) => code);
const messagesOf = ({ reasons }: Health) => Object.fromEntries(reasons.map((one) => [one.code, one.message]));

/** Returns a store whose counts are these. */
const counting = (counts: Partial<StoreCounts>) =>
  Object.assign(new MemoryStore(), { counts: async () => ({ dead: 0, parked: 0, ...counts }) });
const spoolOf = (records: number, setAside = 0) => ({
  stats: async () => ({ records, bytes: 900 * records, setAside }),
});

describe("the reasons of the health", () => {
  it("are all named, the gravest first, with their numbers", async () => {
    jest.spyOn(performance, "now").mockReturnValue(10_000);
    const store = Object.assign(
      counting({
        dead: 3,
        oldestUndoneAt: timeAt(-60_001),
        waiting: [
          { handler: "books", since: timeAt(-90_000) },
          { handler: "mail", since: timeAt(-90_000) },
          { handler: "mine", since: timeAt(-90_000) },
          { handler: "new", since: timeAt(-1000) },
        ],
      }),
      { warnings: async () => ["fsync is off", "the disk is remote"] },
    );
    const health = await check({
      store,
      spool: spoolOf(2, 4),
      recorder: { isStuck: () => true },
      keeper: keeperIn({ failingSince: 8_000, refused: "store" }),
      clock: { look: () => ({ lastMs: -7, sumMs: -7 }) },
      runs: (handler) => handler === "mine",
      mismatches: () => ({ count: 12, spanMs: 60_001 }),
    });
    expect(health.status).toBe("down");
    expect(health.store).toEqual({
      reachable: true,
      stuck: true,
      warnings: ["fsync is off", "the disk is remote"],
    });
    expect(health.reasons.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      "webhooks_refused: Neither the store nor a spool could keep the last webhook.",
      "spooling_too_long: The store has accepted no webhook for 2000 ms.",
      "store_stuck: So many commits hang that webhooks do not wait for the store.",
      "spool_waiting: 2 webhooks wait in the spool.",
      "spool_set_aside: 4 webhooks were set aside.",
      "dispatches_dead: 3 dispatches are dead.",
      `events_late: An event has waited since ${timeAt(-60_001)}.`,
      "handler_missing: Dispatches wait unclaimed for books, mail.",
      "signatures_failing: None of 12 webhooks was valid: the secret or clock is wrong, or they are forged.",
      "clock_jumped: The machine's clock jumped by -7 ms, or the machine was suspended.",
      "durability_warning: fsync is off; the disk is remote",
    ]);
  });

  it("are none where everything is just within its limits", async () => {
    jest.spyOn(performance, "now").mockReturnValue(10_000);
    const spool = spoolOf(0);
    const within = { failingSince: 8_000 };
    expect(await check({ spool, keeper: keeperIn(within) })).toMatchObject({ status: "ok", reasons: [] });
    const store = counting({
      oldestUndoneAt: timeAt(-60_000),
      waiting: [{ handler: "books", since: timeAt(60_000) }],
    });
    const mismatches = { count: 10, spanMs: 60_000 };
    const health = await check({ store, runs: () => false, mismatches: () => mismatches });
    expect(health).toMatchObject({ status: "ok", reasons: [] });
    const few = { count: 9, spanMs: 3_600_000 };
    expect(codesOf(await check({ mismatches: () => few }))).toEqual([]);
    expect(codesOf(await check({ mismatches: () => ({ count: 10, spanMs: 60_001 }) }))).toEqual([
      "signatures_failing",
    ]);
  });

  it.each<[string, () => Date, string]>([
    [
      "throws",
      () => {
        throw new Error("no time server");
      },
      "no time server",
    ],
    ["returns no valid date", () => new Date(NaN), "Invalid time value"],
  ])("name the option now that %s, while the store is asked as usual", async (_, broken, why) => {
    let isBroken = false;
    const store = counting({ dead: 1, oldestUndoneAt: new Date().toISOString() });
    const payments = testKit({ store, now: () => (isBroken ? broken() : new Date()) });
    await payments.start({ keepAlive: false });
    isBroken = true;
    const health = await payments.health();
    expect([health.status, messagesOf(health)]).toEqual([
      "down",
      {
        now_failing: `The option now fails, so webhooks are refused: ${why}.`,
        dispatches_dead: "1 dispatches are dead.",
      },
    ]);
    await expect(payments.receiveWebhook(signed(completedBody()))).rejects.toThrow(why);
    isBroken = false;
    expect(await payments.health()).toMatchObject({ status: "degraded" });
  });

  it("name a store whose methods throw where they should reject", async () => {
    const store = new MemoryStore();
    store.find = () => {
      throw new Error("The client was not opened.");
    };
    expect(codesOf(await check({ store }))).toEqual(["store_unreachable"]);
  });

  it("count the time without a recorded webhook from the first failure", async () => {
    jest.spyOn(performance, "now").mockReturnValue(10_000);
    const after = async (failingSince: number) =>
      messagesOf(await check({ spool: spoolOf(1), keeper: keeperIn({ failingSince }) }));
    expect(await after(9_000)).toEqual({ spool_waiting: "1 webhooks wait in the spool." });
    const keeper = { ...keeperIn({}), leftBecause: new Error("a row is locked") };
    expect(messagesOf(await check({ spool: spoolOf(2), keeper }))).toEqual({
      spool_waiting: "2 webhooks wait in the spool: a row is locked.",
    });
    expect(await after(8_999)).toMatchObject({
      spooling_too_long: "The store has accepted no webhook for 1001 ms.",
    });
  });

  it("include an event and a handler whose time is far ahead: a clock was wrong", async () => {
    const store = counting({
      oldestUndoneAt: timeAt(60_001),
      waiting: [{ handler: "books", since: timeAt(60_001) }],
    });
    expect(codesOf(await check({ store, runs: () => false }))).toEqual(["events_late", "handler_missing"]);
  });

  it("compare the database's own times with the database's clock, and that clock with the machine's", async () => {
    jest.spyOn(Date, "now").mockReturnValue(now + 3_600_000);
    const waiting = [{ handler: "books", since: timeAt(3_600_000) }];
    const near = counting({ clock: timeAt(3_540_000), waiting });
    expect(codesOf(await check({ store: near, runs: () => false }))).toEqual([]);
    const far = counting({ clock: timeAt(3_539_999), waiting });
    expect(messagesOf(await check({ store: far, runs: () => false }))).toEqual({
      handler_missing: "Dispatches wait unclaimed for books.",
      database_clock_off: `The database's clock says ${timeAt(3_539_999)}.`,
    });
  });

  it("of a refused webhook depend on whether the store takes another one", async () => {
    const refused = (parts: Partial<HealthParts<MemoryTx>>) =>
      check({ keeper: keeperIn({ refused: "webhook" }), spool: spoolOf(0), ...parts });
    const taking = await refused({});
    expect([taking.status, messagesOf(taking)]).toEqual([
      "degraded",
      { webhook_not_recordable: "The store refused the last webhook." },
    ]);
    const silent = new MemoryStore();
    silent.find = () => Promise.reject(new Error("connection refused"));
    const readOnly = new MemoryStore();
    readOnly.transaction = () => Promise.reject(new Error("read-only"));
    for (const [parts, second] of [
      [{ store: silent }, "store_unreachable"],
      [{ store: readOnly }, "store_not_writable"],
      [{ recorder: { isStuck: () => true } }, "store_stuck"],
    ] as const) {
      const health = await refused(parts);
      expect([health.status, ...codesOf(health)]).toEqual(["down", "webhooks_refused", second]);
    }
  });

  it("tell a store that answers reads and takes no write from one that does not answer", async () => {
    const store = new MemoryStore();
    const transaction = store.transaction.bind(store);
    const state = async (spool?: ReturnType<typeof spoolOf>) => {
      const health = await check({ store, spool });
      return [health.status, messagesOf(health)];
    };
    expect(await state()).toEqual(["ok", {}]);
    store.transaction = () => Promise.reject(new Error("read-only"));
    const message = "The store answers reads, but accepts no writes.";
    expect(await state()).toEqual(["down", { store_not_writable: message }]);
    expect(await state(spoolOf(0))).toEqual(["degraded", { store_not_writable: message }]);
    store.transaction = transaction;
    expect(await state()).toEqual(["ok", {}]);
  });

  it("include a database that begins and commits, and refuses only the statements that write", async () => {
    class ReadOnly extends MemoryStore {
      override save(tx: MemoryTx, changes: Changes): Promise<Saved> {
        const isWrite = Object.values(changes).flat().length > 0;
        return isWrite ? Promise.reject(new Error("read-only transaction")) : super.save(tx, changes);
      }
    }
    expect(codesOf(await check({ store: new ReadOnly() }))).toEqual(["store_not_writable"]);
  });

  it("tell what is wrong with a spool that fails, also where the store fails", async () => {
    const spool = { stats: () => Promise.reject(new Error("The directory is gone.")) };
    const health = await check({ spool });
    expect(health).toMatchObject({ status: "degraded", store: { reachable: true, warnings: [] } });
    expect(messagesOf(health)).toEqual({ spool_unavailable: "The directory is gone." });
    expect(health).not.toHaveProperty("spool");
    const away = new MemoryStore();
    away.find = () => Promise.reject(new Error("The database is gone."));
    const down = await check({ store: away, spool });
    expect(down).toMatchObject({ status: "down" });
    expect(down).not.toHaveProperty("counts");
  });
});

describe("the health about refused webhooks", () => {
  function listening() {
    let elapsed = 1_000_000;
    const keeper = { ...keeperIn({}), verified: 0 };
    jest.spyOn(performance, "now").mockImplementation(() => elapsed);
    let refuse!: (notice: NoticeMap["webhook.rejected"]) => void;
    const core = {
      store: new MemoryStore(),
      now: healthy.now,
      clock: healthy.clock,
      listen: (_: string, listener: typeof refuse) => ((refuse = listener), () => {}),
    };
    const intake = { ...healthy, keeper };
    const health = createHealthCheck(core as never, intake as never, {
      runs: () => true,
      hanging: () => 0,
      sweepFailure: () => undefined,
      wentBack: () => undefined,
      silence: () => undefined,
      unmatchedAfterMs: 900_000,
      spoolingDownAfterMs: 1000,
    });
    return {
      health,
      refuse: (code: string, status: number, times = 1) => {
        for (let n = 0; n < times; n++) refuse({ code, status });
      },
      pass: (ms: number) => (elapsed += ms),
      verify: () => (keeper.verified += 1),
    };
  }

  it("counts them by code, and those whose address had failed too often", async () => {
    const { health, refuse } = listening();
    refuse("signature_mismatch", 401, 3);
    refuse("body_too_large", 413);
    refuse("signature_mismatch", 429, 3);
    expect((await health()).rejections).toEqual({
      byCode: { signature_mismatch: 6, body_too_large: 1 },
      throttled: 3,
    });
  });

  it("tells a wrong secret by ten wrong signatures over more than a minute, and by nothing else", async () => {
    const { health, refuse, pass, verify } = listening();
    const told = async () => messagesOf(await health())["signatures_failing"];
    refuse("signature_mismatch", 401, 9);
    pass(60_001);
    refuse("body_too_large", 413, 9);
    expect(await told()).toBeUndefined();
    refuse("signature_mismatch", 401);
    expect(await told()).toContain("None of 10 webhooks was valid");
    verify();
    expect(await told()).toBeUndefined();
  });

  it("begins to count again after a webhook that verified", async () => {
    const { health, refuse, pass, verify } = listening();
    const told = async () => messagesOf(await health())["signatures_failing"];
    refuse("signature_mismatch", 401, 20);
    pass(3_600_000);
    verify();
    refuse("signature_mismatch", 401, 10);
    pass(60_000);
    refuse("signature_mismatch", 401);
    expect(await told()).toBeUndefined();
    pass(1);
    refuse("signature_mismatch", 401);
    expect(await told()).toContain("None of 12 webhooks was valid");
  });
});

describe("the health about sweeps", () => {
  it("tells that three in a row have failed, with the last error, until one succeeds", async () => {
    const store = new MemoryStore();
    const payments = testKit({ store });
    const told = async () => messagesOf(await payments.health())["sweep_failing"];
    const due = store.due.bind(store);
    store.due = () => Promise.reject(new Error("131 changes are too many."));
    const fail = () => expect(payments.sweep()).rejects.toThrow("131 changes");
    await fail();
    await fail();
    expect(await told()).toBeUndefined();
    await fail();
    expect(await told()).toMatch(/last 3 sweeps have failed.*: 131 changes are too many\.$/);
    store.due = due;
    await payments.sweep();
    expect(await told()).toBeUndefined();
  });
});
