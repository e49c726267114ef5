import pino from "pino";
import { hmacSignature, MemoryStore, type PaymentsOptions, TillkitError } from "tillkit";
import { createCore } from "../../src/kit/core.js";
import { resolveOptions } from "../../src/kit/options/resolve-options.js";
import { closeAll, scheme, secret, testKit, testOptions } from "../support/kit.js";

afterEach(closeAll);

/** Returns the core of a kit with these options. */
const coreOf = (options: Partial<PaymentsOptions> = {}) => createCore(resolveOptions(testOptions(options)));

/** Returns a logger, and the lines that it has written. */
function linesOfLog() {
  const lines: { level: number; msg: string; option?: string; name?: string }[] = [];
  const logger = pino(
    { name: "of-the-shop" },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  return { lines, logger };
}

describe("the logger", () => {
  it("is named tillkit and writes where none is given", () => {
    const { logger } = coreOf({ logger: undefined });
    expect(logger.bindings()).toMatchObject({ name: "tillkit" });
    expect(logger.isLevelEnabled("info")).toBe(true);
  });

  it("writes nothing where it is false", () => {
    expect(coreOf({ logger: false }).logger.isLevelEnabled("fatal")).toBe(false);
  });

  it("is a child of the one that is given", () => {
    const { lines, logger } = linesOfLog();
    coreOf({ logger }).logger.info("Hello.");
    expect(lines).toEqual([expect.objectContaining({ name: "of-the-shop", msg: "Hello." })]);
  });
});

describe("the log at the start", () => {
  it.each<[string, PaymentsOptions["signature"], unknown[]]>([
    [
      "has each warning of the signature",
      { ...scheme, warnings: ["The secret is short.", "The header is unusual."] },
      [
        { level: 40, option: "signature", msg: "The secret is short." },
        { level: 40, option: "signature", msg: "The header is unusual." },
      ],
    ],
    ["is empty where the signature has no warning", hmacSignature({ secret }), []],
    ["is empty where the signature cannot warn", { ...scheme, warnings: undefined } as never, []],
  ])("%s", async (_, signature, expected) => {
    const { lines, logger } = linesOfLog();
    await coreOf({ logger, signature }).ready();
    expect(lines.map(({ level, option, msg }) => ({ level, option, msg }))).toEqual(expected);
  });

  it.each<[number, PaymentsOptions["dispatch"]]>([
    [3, { concurrency: 3 }],
    [8, undefined],
    [0, false],
  ])("has the store's warnings about %d handlers at the same time", async (concurrency, dispatch) => {
    const { lines, logger } = linesOfLog();
    const warnings = jest.fn(async () => ["The pool is small."]);
    await coreOf({
      logger,
      dispatch,
      store: Object.assign(new MemoryStore(), { warnings }),
    }).ready();
    expect(warnings.mock.calls).toEqual([[{ concurrency }]]);
    expect(lines).toEqual([expect.objectContaining({ option: "store", msg: "The pool is small." })]);
  });
});

describe("what all parts share", () => {
  it.each<[string, Partial<PaymentsOptions>, object]>([
    ["by default", {}, { clientIdPrefix: undefined, confirms: false }],
    [
      "with lookups that confirm nothing",
      { lookup: true, clientIdPrefix: "north-" },
      { clientIdPrefix: "north-", confirms: false },
    ],
    [
      "with confirmations",
      { lookup: true, confirm: "lookup" },
      { clientIdPrefix: undefined, confirms: true },
    ],
  ])("has the policy %s", (_, options, expected) => {
    expect(coreOf(options).policy).toEqual(expected);
  });

  it.each([
    [Infinity, 100],
    [7, 7],
    [100, 100],
    [500, 100],
  ])("has groups of at most 100, and of no more than the store takes: %p, %d", (maxGroup, expected) => {
    const store = Object.assign(new MemoryStore(), { maxGroup }) as never;
    expect(coreOf({ store }).maxGroup).toBe(expected);
  });
});

describe("the opening of the store", () => {
  function opened() {
    const store = new MemoryStore();
    const migrate = jest.fn(async () => undefined);
    const registerHandlers = jest.spyOn(store, "registerHandlers");
    const core = coreOf({ store: Object.assign(store, { migrate }) });
    return { core, migrate, registered: () => registerHandlers.mock.calls.map(([keys]) => keys.length) };
  }

  it("registers no handlers where there are none", async () => {
    const { core, migrate, registered } = opened();
    await core.ready();
    await core.ready();
    expect(migrate).toHaveBeenCalledTimes(1);
    expect(registered()).toEqual([]);
  });

  it("migrates once, and registers handlers only where there are new ones", async () => {
    const { core, migrate, registered } = opened();
    core.handlers.add("payment.completed", () => undefined, { name: "ledger" });
    await core.ready();
    await core.ready();
    expect(registered()).toEqual([1]);
    core.handlers.add("payment.completed", () => undefined, { name: "mail" });
    await Promise.all([core.ready(), core.ready()]);
    await core.ready();
    expect(migrate).toHaveBeenCalledTimes(1);
    core.handlers.add("payment.completed", () => undefined, { name: "books" });
    await core.ready();
    expect(registered()).toEqual([1, 2, 3]);
  });

  it("tries again after a registration that never ends", async () => {
    const store = new MemoryStore();
    const registerHandlers = jest.spyOn(store, "registerHandlers");
    const isCalled = new Promise<void>((resolve) => {
      registerHandlers.mockImplementationOnce(() => {
        setImmediate(resolve);
        return new Promise(() => {});
      });
    });
    const core = coreOf({ store });
    core.handlers.add("payment.completed", () => undefined);
    jest.useFakeTimers({ doNotFake: ["nextTick", "performance", "queueMicrotask", "setImmediate"] });
    const opening = core.ready();
    await isCalled;
    jest.advanceTimersByTime(60_000);
    jest.useRealTimers();
    await expect(opening).rejects.toMatchObject({ code: "store_unavailable" });
    await core.ready();
    expect(registerHandlers).toHaveBeenCalledTimes(2);
  });

  it("is told by the health while it never ends, or fails, also where the store answers", async () => {
    const store = new MemoryStore();
    const migrate = jest.fn(() => new Promise<undefined>(() => {}));
    const payments = testKit({ store: Object.assign(store, { migrate }) });
    // The frozen time looks like a jump of the clock.
    const told = async (of = payments) =>
      (await of.health()).reasons.filter(({ code }) => code !== "clock_jumped");
    let ms = 50_000;
    jest.spyOn(performance, "now").mockImplementation(() => ms);
    expect(await told()).toEqual([]);
    void payments.start({ keepAlive: false });
    ms += 1999;
    expect(await told()).toEqual([]);
    ms += 1;
    const message = "The store has not opened for 2000 ms.";
    expect(await told()).toEqual([{ code: "store_unreachable", message }]);
    expect(await payments.health()).toMatchObject({ status: "down", store: { reachable: false } });

    for (let tries = 0; tries < 2; tries++)
      migrate.mockImplementationOnce(() => Promise.reject(new Error("permission denied")));
    migrate.mockImplementationOnce(async () => undefined);
    const other = testKit({ store });
    await expect(other.start({ keepAlive: false })).rejects.toThrow("permission denied");
    ms += 7;
    const failed = "The store has not opened for 7 ms: permission denied.";
    expect(await told(other)).toEqual([{ code: "store_unreachable", message: failed }]);
    await expect(other.start({ keepAlive: false })).rejects.toThrow("permission denied");
    ms += 3;
    const again = "The store has not opened for 10 ms: permission denied.";
    expect(await told(other)).toEqual([{ code: "store_unreachable", message: again }]);
    await other.start({ keepAlive: false });
    expect(await told(other)).toEqual([]);
    jest.restoreAllMocks();
  });

  it("registers the handlers again every ten seconds, with the time of their first registration, and waits for neither", async () => {
    const store = new MemoryStore();
    const registerHandlers = jest.spyOn(store, "registerHandlers");
    let time = "2026-11-20T10:00:00.000Z";
    const core = coreOf({ store, now: () => new Date(time) });
    core.handlers.add("payment.completed", () => undefined, { name: "ledger" });
    let ms = 50_000;
    jest.spyOn(performance, "now").mockImplementation(() => ms);
    await core.ready();
    time = "2026-11-20T10:00:10.000Z";
    ms += 10_000;
    await core.ready();
    expect(registerHandlers).toHaveBeenCalledTimes(1);
    ms += 1;
    registerHandlers.mockImplementationOnce(() => Promise.reject(new Error("away")));
    await core.ready();
    ms += 10_001;
    registerHandlers.mockImplementationOnce(() => new Promise(() => {}));
    await core.ready();
    await core.ready();
    const ledger = { event: "payment.completed", name: "ledger" };
    const again = { ...ledger, since: "2026-11-20T10:00:00.000Z" };
    expect(registerHandlers.mock.calls).toEqual([[[ledger]], [[again]], [[again]]]);
    jest.restoreAllMocks();
  });
});

it("an error in the log has its name and code, and those of its causes", async () => {
  const lines: object[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as object) });
  const cause = Object.assign(new RangeError("connection refused"), { code: "ECONNREFUSED" });
  const store = new MemoryStore();
  const away = new TillkitError("store_unavailable", "The store is away.", { cause });
  store.claim = () => Promise.reject(away);
  const payments = testKit({ store, logger });
  payments.onPaymentCompleted(() => undefined);
  const noticed = new Promise((resolve) => payments.on("store.unavailable", resolve));
  await payments.start({ keepAlive: false });
  await noticed;
  expect(lines).toContainEqual(
    expect.objectContaining({
      during: "claim",
      err: {
        type: "TillkitError",
        code: "store_unavailable",
        message: "The store is away.",
        stack: expect.any(String),
        cause: { type: "RangeError", code: "ECONNREFUSED", message: "connection refused" },
      },
    }),
  );
});
