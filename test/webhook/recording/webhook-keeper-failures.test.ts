import { type ErrorCode, TillkitError } from "tillkit";
import { DeadlineError } from "../../../src/shared/group-commit.js";
import { completedBody } from "../../support/webhooks.js";
import { gate } from "../spool/hooked-file-system.js";
import { arrivalOf, keeperOf, recorded, spooledOf } from "./keepers.js";

const away = new TillkitError("store_unavailable", "The database is restarting.");
const badRow = new Error("this row is too much for the table");
const fail = (cause: unknown) => () => Promise.reject(cause);

describe("a spooled webhook that fails again and again", () => {
  it.each<ErrorCode>([
    "store_closed",
    "driver_missing",
    "option_invalid",
    "path_exposed",
    "schema_too_new",
    "database_refused",
    "database_unexamined",
  ])("is never given up where the store says %s, which is about every webhook", async (code) => {
    const error = new TillkitError(code, "It is about the store.");
    const { recordSpooled } = keeperOf({ record: fail(error), append: () => Promise.resolve() });
    for (let tries = 0; tries < 5; tries++)
      expect(await recordSpooled(spooledOf())).toEqual({ error, isGivenUp: false, isSkipped: false });
  });

  it.each([
    ["its database", away],
    [
      "its adapter",
      new TillkitError("adapter_defective", "write threw a RangeError: the item is too large."),
    ],
  ])(
    "is skipped where %s refuses it, and is given up once others were recorded twice meanwhile",
    async (_, cause) => {
      const { recordSpooled, surroundings } = keeperOf({
        record: ({ receiptId, ...arrival }) =>
          receiptId === "r-1" ? Promise.reject(cause) : recorded({ receiptId, ...arrival }),
        append: () => Promise.resolve(),
      });
      const skipped = { error: { cause }, isGivenUp: false, isSkipped: true };
      for (let tries = 0; tries < 4; tries++) expect(await recordSpooled(spooledOf())).toMatchObject(skipped);
      expect(await recordSpooled(spooledOf("r-2"))).toBe("recorded");
      for (let tries = 0; tries < 4; tries++) expect(await recordSpooled(spooledOf())).toMatchObject(skipped);
      expect(await recordSpooled(spooledOf("r-3"))).toBe("recorded");
      expect(await recordSpooled(spooledOf())).toMatchObject({
        error: { message: cause.message, cause },
        isGivenUp: true,
      });
      surroundings.record = recorded;
      expect(await recordSpooled(spooledOf())).toBe("recorded");
    },
  );

  it("is tried again before later ones where the store came back between its failure and the probe", async () => {
    const { recordSpooled, surroundings } = keeperOf({
      record: fail(away),
      append: () => Promise.resolve(),
      probe: () => {
        surroundings.record = recorded;
        return Promise.resolve();
      },
    });
    expect(await recordSpooled(spooledOf())).toBe("recorded");
  });

  it("is not given up because copies of recorded webhooks were counted, which a full disk allows", async () => {
    const { recordSpooled } = keeperOf({
      record: ({ receiptId }) =>
        receiptId === "r-1" ? Promise.reject(away) : Promise.resolve({ receiptId, outcome: "duplicate" }),
      append: () => Promise.resolve(),
    });
    for (let tries = 0; tries < 5; tries++) {
      expect(await recordSpooled(spooledOf())).toMatchObject({ isGivenUp: false });
      expect(await recordSpooled(spooledOf("r-2"))).toBe("recorded");
    }
  });

  it("stops the drain where ten before it were skipped, because the store then refuses more than single ones", async () => {
    const { recordSpooled, surroundings } = keeperOf({ record: fail(away), append: () => Promise.resolve() });
    const numbers = Array.from({ length: 10 }, (_, n) => `r-${n}`);
    for (const id of numbers) expect(await recordSpooled(spooledOf(id))).toMatchObject({ isSkipped: true });
    const stopping = { error: away, isGivenUp: false, isSkipped: false };
    expect(await recordSpooled(spooledOf("r-11"))).toEqual(stopping);
    surroundings.record = recorded;
    expect(await recordSpooled(spooledOf("r-11"))).toBe("recorded");
    surroundings.record = fail(away);
    expect(await recordSpooled(spooledOf("r-12"))).toMatchObject({ isSkipped: true });
  });

  it("is waited for once in each later drain where many are locked, and they are all tried after one was recorded", async () => {
    const { keeper, recordSpooled, surroundings, endDrain } = keeperOf({ append: () => Promise.resolve() });
    const locked = new Set(["r-1", "r-2", "r-3", "r-4"]);
    const tried: string[] = [];
    surroundings.record = (arrival) => {
      tried.push(arrival.receiptId);
      return locked.has(arrival.receiptId) ? fail(new DeadlineError(1000))() : recorded(arrival);
    };
    jest.useFakeTimers();
    try {
      keeper.start();
      const drain = async () => {
        tried.length = 0;
        const results: unknown[] = [];
        for (const id of ["r-1", "r-2", "r-3", "r-4", "r-5"])
          results.push(await recordSpooled(spooledOf(id)));
        const left = results.slice(0, 4).filter((result) => result !== "recorded");
        expect(left).toEqual(left.map(() => expect.objectContaining({ isSkipped: true }) as unknown));
        expect(results.at(-1)).toBe("recorded");
        endDrain(new Error("webhooks were left"));
        await jest.advanceTimersByTimeAsync(1000);
        return [...tried];
      };
      expect(await drain()).toEqual(["r-1", "r-2", "r-3", "r-4", "r-5"]);
      expect(await drain()).toEqual(["r-1", "r-5"]);
      expect(await drain()).toEqual(["r-2", "r-5"]);
      locked.delete("r-3");
      locked.delete("r-4");
      expect(await drain()).toEqual(["r-3", "r-4", "r-5"]);
      locked.clear();
      expect(await drain()).toEqual(["r-1", "r-2", "r-3", "r-4", "r-5"]);
    } finally {
      jest.useRealTimers();
      endDrain();
      await keeper.close();
    }
  });

  it.each([
    ["refuses them", badRow],
    ["is unavailable for them alone", away],
    ["locks them again", new DeadlineError(1000)],
  ])(
    "is set aside in the same drain as another one, where both were locked and the store then %s",
    async (_, error) => {
      const { keeper, recordSpooled, surroundings, endDrain } = keeperOf({ append: () => Promise.resolve() });
      jest.useFakeTimers();
      try {
        keeper.start();
        let cause: Error = new DeadlineError(1000);
        surroundings.record = (arrival) =>
          arrival.receiptId === "r-new" ? recorded(arrival) : fail(cause)();
        const drain = async () => {
          const results = [await recordSpooled(spooledOf("r-1")), await recordSpooled(spooledOf("r-2"))];
          await recordSpooled(spooledOf("r-new"));
          endDrain(new Error("webhooks were left"));
          await jest.advanceTimersByTimeAsync(1000);
          return results;
        };
        await drain();
        cause = error === badRow ? badRow : away;
        for (let drains = 0; drains < 8; drains++) await drain();
        cause = error;
        const setAside = expect.objectContaining({ isGivenUp: true }) as unknown;
        expect(await drain()).toEqual([setAside, setAside]);
        expect(await drain()).toEqual([setAside, setAside]);
      } finally {
        jest.useRealTimers();
        endDrain();
        await keeper.close();
      }
    },
  );

  it.each([
    ["the store did not commit it in time", new DeadlineError(1000)],
    ["another transaction holds its payment", new TillkitError("store_busy", "The payment is locked.")],
  ])("is skipped and never given up where %s, however many others are recorded", async (_, cause) => {
    const { recordSpooled, surroundings } = keeperOf({ append: () => Promise.resolve() });
    for (let tries = 0; tries < 5; tries++) {
      surroundings.record = fail(cause);
      expect(await recordSpooled(spooledOf())).toMatchObject({
        error: { cause },
        isGivenUp: false,
        isSkipped: true,
      });
      surroundings.record = recorded;
      expect(await recordSpooled(spooledOf(`r-${tries + 2}`))).toBe("recorded");
    }
    surroundings.record = fail(cause);
    surroundings.probe = fail(away);
    const stopping = { error: cause, isGivenUp: false, isSkipped: false };
    expect(await recordSpooled(spooledOf("r-7"))).toEqual(stopping);
  });

  it("is never given up while the store can do nothing else either", async () => {
    const { recordSpooled, surroundings } = keeperOf({
      record: fail(badRow),
      append: () => Promise.resolve(),
      probe: fail(new Error("connect ECONNREFUSED")),
    });
    for (let tries = 0; tries < 5; tries++)
      expect(await recordSpooled(spooledOf())).toEqual({ error: badRow, isGivenUp: false, isSkipped: false });
    surroundings.probe = () => Promise.resolve();
    expect(await recordSpooled(spooledOf())).toMatchObject({ isGivenUp: false });
  });

  it.each([
    ["an error", badRow, badRow.message],
    [
      "an error with a code of the driver",
      Object.assign(new Error("value too long"), { code: "22001" }),
      "value too long",
    ],
    ["a text, which a merchant's store may throw", "out of range", "out of range"],
    ["nothing, which a merchant's store may throw", undefined, "undefined"],
  ])("is given up at the third failure with %s", async (_, error, message) => {
    const { recordSpooled } = keeperOf({ record: fail(error), append: () => Promise.resolve() });
    const result = { error, isGivenUp: false, isSkipped: false };
    expect([await recordSpooled(spooledOf()), await recordSpooled(spooledOf())]).toEqual([result, result]);
    expect(await recordSpooled(spooledOf())).toMatchObject({
      error: { message, cause: error },
      isGivenUp: true,
    });
  });

  it("does not leave the store for failing once it is given up, because the store had just worked", async () => {
    const { keeper, recordSpooled, surroundings } = keeperOf({
      record: fail(badRow),
      append: () => Promise.resolve(),
    });
    await keeper.keep(arrivalOf());
    expect(keeper.keeping.failingSince).toBeDefined();
    for (let tries = 0; tries < 2; tries++) await recordSpooled(spooledOf());
    expect(keeper.keeping.failingSince).toBeDefined();
    expect(await recordSpooled(spooledOf())).toMatchObject({ isGivenUp: true });
    expect(keeper.keeping).toEqual({});
    // A webhook that was refused in the meantime was given to nobody: that stays.
    surroundings.append = fail(new Error("the disk is full"));
    const other = arrivalOf("r-2", completedBody({ clientId: "c-2", id: "s-2" }));
    await expect(keeper.keep(other)).rejects.toMatchObject({ code: "record_unavailable" });
    for (let tries = 0; tries < 3; tries++) await recordSpooled(spooledOf("r-3"));
    expect(keeper.keeping).toMatchObject({ refused: "webhook" });
  });

  it("is given up for its own failures only, and for those since it was last recorded", async () => {
    const { recordSpooled, surroundings } = keeperOf({
      record: fail(badRow),
      append: () => Promise.resolve(),
    });
    for (const receiptId of ["r-1", "r-1", "r-2", "r-2"])
      expect(await recordSpooled(spooledOf(receiptId))).toMatchObject({ isGivenUp: false });
    surroundings.record = recorded;
    expect(await recordSpooled(spooledOf("r-1"))).toBe("recorded");
    surroundings.record = fail(badRow);
    expect(await recordSpooled(spooledOf("r-1"))).toMatchObject({ isGivenUp: false });
    expect(await recordSpooled(spooledOf("r-2"))).toMatchObject({ isGivenUp: true });
  });

  it("is not given up where it was recorded with others meanwhile", async () => {
    const { recordSpooled, recordManySpooled, surroundings } = keeperOf({
      record: fail(badRow),
      append: () => Promise.resolve(),
    });
    for (let tries = 0; tries < 2; tries++) await recordSpooled(spooledOf());
    surroundings.record = recorded;
    await recordManySpooled([spooledOf(), spooledOf("r-2")]);
    surroundings.record = fail(badRow);
    expect(await recordSpooled(spooledOf())).toMatchObject({ isGivenUp: false });
  });
});

it("a webhook that was moved back into the spool after it was given up is tried as often as a new one", async () => {
  const { keeper, recordSpooled, endDrain } = keeperOf({
    record: fail(badRow),
    append: () => Promise.resolve(),
  });
  keeper.start();
  const tryThrice = async () => {
    const given: unknown[] = [];
    for (let tries = 0; tries < 3; tries++) given.push(await recordSpooled(spooledOf()));
    return given.map((result) => (result as { isGivenUp: boolean }).isGivenUp);
  };
  expect(await tryThrice()).toEqual([false, false, true]);
  endDrain();
  await new Promise(setImmediate);
  expect(await tryThrice()).toEqual([false, false, true]);
  await keeper.close();
});

describe("what became of the last webhooks", () => {
  it("is nothing to tell while the store records them", async () => {
    const { keeper, notices } = keeperOf();
    await keeper.keep(arrivalOf());
    expect([keeper.keeping, notices]).toEqual([{}, []]);
  });

  it.each([
    ["the store, where it is not available", away, "store"],
    ["the webhook, where only it cannot be recorded", badRow, "webhook"],
  ])("tells whether the last one was refused because of %s", async (_, cause, refused) => {
    const { keeper, notices } = keeperOf({ record: fail(cause) });
    await expect(keeper.keep(arrivalOf())).rejects.toMatchObject({ code: "record_unavailable", cause });
    expect(keeper.keeping).toEqual({ failingSince: expect.any(Number) as number, refused });
    expect(notices).toEqual([{ "store.unavailable": { during: "record", error: cause } }]);
  });

  it("tells since when the store records none, also where they are spooled or refused meanwhile", async () => {
    const diskFull = new Error("the disk is full");
    const { keeper, surroundings } = keeperOf({ record: fail(away), append: fail(diskFull) });
    const refused = { code: "record_unavailable", cause: diskFull };
    await expect(keeper.keep(arrivalOf())).rejects.toMatchObject(refused);
    const { failingSince } = keeper.keeping;
    expect(keeper.keeping.refused).toBe("store");

    surroundings.append = () => Promise.resolve();
    await keeper.keep(arrivalOf("r-2"));
    expect(keeper.keeping).toEqual({ failingSince });
    surroundings.record = recorded;
    await keeper.keep(arrivalOf("r-3"));
    expect(keeper.keeping).toEqual({});
  });

  it.each([
    ["names its payment", arrivalOf(), { receiptId: "r-1", outcome: "spooled", clientId: "c-1" }],
    ["names none where it is about none", arrivalOf("r-1", "{"), { receiptId: "r-1", outcome: "spooled" }],
  ])("has a receipt that %s where the webhook is spooled", async (_, arrival, receipt) => {
    const { keeper, notices } = keeperOf({ record: fail(away), append: () => Promise.resolve() });
    expect(await keeper.keep(arrival)).toEqual(receipt);
    expect(notices).toEqual([
      { "store.unavailable": { during: "record", error: away } },
      { "webhook.spooled": { receiptId: "r-1", error: away } },
    ]);
  });
});

describe("a copy of a webhook that waits in the spool", () => {
  /** Keeps these webhooks, and returns which of them were appended to the spool. */
  async function appended(receiptIds: readonly string[], clientId?: (id: string) => string) {
    const ids: string[] = [];
    const made = keeperOf({ record: fail(away), append: async ({ receiptId }) => void ids.push(receiptId) });
    for (const id of receiptIds) {
      const padded = {
        padding: "x".repeat(ids.length),
        ...completedBody(clientId && { clientId: clientId(id) }),
      };
      expect(await made.keeper.keep(arrivalOf(id, padded))).toMatchObject({
        receiptId: id,
        outcome: "spooled",
      });
    }
    return { ...made, ids };
  }

  it("is spooled up to fifty times, however it is padded, until the spool is empty", async () => {
    const all = Array.from({ length: 60 }, (_, n) => `r-${n}`);
    const { keeper, ids, notices, endDrain } = await appended(all);
    expect(ids).toEqual(all.slice(0, 50));
    expect(notices.filter((notice) => "webhook.spooled" in notice)).toHaveLength(50);
    keeper.start();
    endDrain();
    await new Promise(setImmediate);
    await keeper.keep(arrivalOf("r-again"));
    expect(ids.slice(50)).toEqual(["r-again"]);
  });

  it("is spooled no more often after a drain that left webhooks", async () => {
    const { keeper, ids, endDrain } = await appended(Array.from({ length: 50 }, (_, n) => `r-${n}`));
    keeper.start();
    endDrain(away);
    await new Promise(setImmediate);
    await keeper.keep(arrivalOf("r-again"));
    expect(ids).toHaveLength(50);
  });

  it("is spooled no more often where more webhooks wait than can be counted", async () => {
    const ids: string[] = [];
    const append = async ({ receiptId }: { receiptId: string }) => void ids.push(receiptId);
    const { keeper } = keeperOf({ record: fail(away), append });
    const { message, ...arrival } = arrivalOf();
    const keep = (receiptId: string, eventKey: string) =>
      keeper.keep({ ...arrival, receiptId, message: { ...message, eventKey } });
    await keep("r-1", "first");
    for (let n = 0; n < 10_000; n++) await keep("r-other", `other ${n}`);
    for (let n = 0; n < 60; n++) await keep("r-1", "first");
    expect(ids.filter((id) => id === "r-1")).toHaveLength(50);
  });

  it.each([
    ["is on disk", undefined, "fulfilled"],
    ["could not be written", new Error("the disk is full"), "rejected"],
  ])("beyond the fiftieth is answered only when the fiftieth %s", async (_, error, status) => {
    const { opened, open } = gate();
    let appends = 0;
    const append = async () => {
      if (++appends < 50) return;
      await opened;
      if (error) throw error;
    };
    const { keeper } = keeperOf({ record: fail(away), append });
    for (let n = 1; n < 50; n++) await keeper.keep(arrivalOf());
    const results: unknown[] = [];
    const keep = async () => void results.push(...(await Promise.allSettled([keeper.keep(arrivalOf())])));
    const both = [keep()];
    await new Promise(setImmediate);
    both.push(keep());
    await new Promise(setImmediate);
    expect([appends, results]).toEqual([50, []]);
    open();
    await Promise.all(both);
    expect(results).toMatchObject([{ status }, { status }]);
  });

  it("does not hide other webhooks", async () => {
    const { ids } = await appended(["r-1", "r-2"], (id) => `c-of-${id}`);
    expect(ids).toEqual(["r-1", "r-2"]);
  });

  it("is refused where its append fails, and the next one is spooled", async () => {
    const { keeper, surroundings } = keeperOf({
      record: fail(away),
      append: fail(new Error("the disk is full")),
    });
    await expect(keeper.keep(arrivalOf("r-1"))).rejects.toMatchObject({ code: "record_unavailable" });
    surroundings.append = () => Promise.resolve();
    expect(await keeper.keep(arrivalOf("r-3"))).toMatchObject({ outcome: "spooled" });
  });
});

describe("a spool that cannot be used", () => {
  it("is told once, until it can be used again", async () => {
    const error = new TillkitError("spool_unavailable", "The key is missing.");
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate"] });
    const { keeper, notices, endDrain } = keeperOf({ append: () => Promise.resolve() });
    keeper.start();
    for (const leftBecause of [error, error, undefined, error, away]) {
      endDrain(leftBecause);
      await new Promise(setImmediate);
      jest.advanceTimersByTime(1000);
    }
    expect(notices).toEqual([{ "spool.unavailable": { error } }, { "spool.unavailable": { error } }]);
    jest.useRealTimers();
  });

  it.each<ErrorCode>(["spool_unavailable", "spool_full", "path_exposed"])(
    "is told because of %s",
    async (code) => {
      const error = new TillkitError(code, "It is about the spool.");
      const { keeper, notices, endDrain } = keeperOf({ append: () => Promise.resolve() });
      keeper.start();
      endDrain(error);
      await new Promise(setImmediate);
      expect(notices).toEqual([{ "spool.unavailable": { error } }]);
      await keeper.close();
    },
  );

  it("is not told where closing stops a drain", async () => {
    const { keeper, notices, endDrain } = keeperOf({ append: () => Promise.resolve() });
    keeper.start();
    const closing = keeper.close();
    endDrain(new TillkitError("spool_unavailable", "The spool was closed."));
    await closing;
    expect(notices).toEqual([]);
  });
});

describe("a refused webhook", () => {
  it("is tried again by the health until it is recorded, and then no more", async () => {
    const tried: string[] = [];
    const { keeper, surroundings } = keeperOf({ record: fail(away) });
    await expect(keeper.keep(arrivalOf())).rejects.toMatchObject({ code: "record_unavailable" });
    await keeper.retryRefused();
    expect(keeper.keeping).toMatchObject({ refused: "store" });

    surroundings.record = (arrival) => (tried.push(arrival.receiptId), recorded(arrival));
    await keeper.retryRefused();
    expect(keeper.keeping).toEqual({});
    await keeper.retryRefused();
    expect(tried).toEqual(["r-1"]);
    // Only the service's own try was verified.
    expect(keeper.verified).toBe(1);
  });

  it("is not tried again after a later one was recorded or spooled: the service sends it again", async () => {
    for (const append of [undefined, () => Promise.resolve()]) {
      const tried: string[] = [];
      const { keeper, surroundings } = keeperOf({ record: fail(away), append: append && fail(badRow) });
      await expect(keeper.keep(arrivalOf())).rejects.toMatchObject({ code: "record_unavailable" });
      if (append) surroundings.append = append;
      else surroundings.record = recorded;
      await keeper.keep(arrivalOf("r-2"));
      surroundings.record = (arrival) => (tried.push(arrival.receiptId), recorded(arrival));
      await keeper.retryRefused();
      expect(tried).toEqual([]);
    }
  });
});

describe("the keeper of webhooks", () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate"] }));
  afterEach(() => jest.useRealTimers());
  const nextIteration = () => new Promise(setImmediate);

  it("tries what is spooled at its start and then regularly, one drain at a time", async () => {
    const { keeper, drains, endDrain } = keeperOf({ append: () => Promise.resolve() });
    keeper.start();
    keeper.start();
    expect(drains.map(([, options]) => options)).toMatchObject([{ maxGroup: 7 }]);
    jest.advanceTimersByTime(3000);
    expect(drains).toHaveLength(1);
    endDrain();
    await nextIteration();
    jest.advanceTimersByTime(1000);
    expect(drains).toHaveLength(2);
  });

  it("closes the spool after the last pending webhook, which stops the drain, and drains no more", async () => {
    const pending: (() => void)[] = [];
    const { keeper, drains, endDrain, isSpoolClosed } = keeperOf({
      record: (arrival) => new Promise((resolve) => pending.push(() => resolve(recorded(arrival)))),
      append: () => Promise.resolve(),
    });
    keeper.start();
    keeper.start();
    const kept = [keeper.keep(arrivalOf("r-1")), keeper.keep(arrivalOf("r-2"))];
    const closing = keeper.close();
    for (const end of pending) {
      expect(isSpoolClosed()).toBe(false);
      end();
      await nextIteration();
    }
    expect(isSpoolClosed()).toBe(true);
    endDrain();
    await Promise.all([closing, ...kept]);
    jest.advanceTimersByTime(5000);
    expect(drains).toHaveLength(1);
  });

  it("closes the spool after the append of a webhook that the store refused", async () => {
    const { opened, open } = gate();
    const { keeper, isSpoolClosed } = keeperOf({ record: fail(away), append: () => opened });
    const kept = keeper.keep(arrivalOf());
    await nextIteration();
    const closing = keeper.close();
    await nextIteration();
    expect(isSpoolClosed()).toBe(false);
    open();
    expect(await kept).toMatchObject({ outcome: "spooled" });
    await closing;
    expect(isSpoolClosed()).toBe(true);
  });

  it("is closed after the drain that runs", async () => {
    const { keeper, endDrain } = keeperOf({ append: () => Promise.resolve() });
    keeper.start();
    const steps: string[] = [];
    const closing = keeper.close().then(() => steps.push("closed"));
    await nextIteration();
    steps.push("drained");
    endDrain();
    await closing;
    expect(steps).toEqual(["drained", "closed"]);
  });

  it("drains by a timer that does not keep the process alive", async () => {
    const interval = jest.spyOn(globalThis, "setInterval");
    const { keeper } = keeperOf({ append: () => Promise.resolve() });
    keeper.start();
    expect((interval.mock.results[0]!.value as NodeJS.Timeout).hasRef()).toBe(false);
    interval.mockRestore();
  });

  it("needs no timer without a spool, and closes without it", async () => {
    const interval = jest.spyOn(globalThis, "setInterval");
    const { keeper, isSpoolClosed } = keeperOf();
    keeper.start();
    await keeper.keep(arrivalOf());
    await keeper.close();
    expect(interval).not.toHaveBeenCalled();
    expect(isSpoolClosed()).toBe(false);
    interval.mockRestore();
  });
});

describe("a webhook whose copies the spool could not keep", () => {
  it("is spooled when the spool works again, however often it was refused before", async () => {
    const { keeper, surroundings } = keeperOf({ record: fail(away), append: fail(new Error("EIO")) });
    for (let copy = 0; copy < 60; copy++)
      await expect(keeper.keep(arrivalOf(`r-${copy}`))).rejects.toMatchObject({ code: "record_unavailable" });
    surroundings.append = () => Promise.resolve();
    expect(await keeper.keep(arrivalOf("r-60"))).toMatchObject({ outcome: "spooled" });
  });
});
