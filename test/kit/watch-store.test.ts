import { copyFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import {
  type Health,
  MemoryStore,
  type MemoryTx,
  type Payments,
  type SignedField,
  type StoredRecord,
  storeOver,
  TillkitError,
} from "tillkit";
import { sqliteStore } from "tillkit/sql";
import { identifier, StoreWatch } from "../../src/kit/watch-store.js";
import { realFileSystem, SpoolDirectory } from "../../src/webhook/spool/spool-directory.js";
import { StoreTie } from "../../src/webhook/spool/store-tie.js";
import { memoryAdapter } from "../store/over/memory-adapter.js";
import { temporaryFiles } from "../store/sql/support/temporary-files.js";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";
import { gate } from "../webhook/spool/hooked-file-system.js";

const nextFile = temporaryFiles();

afterEach(async () => {
  jest.useRealTimers();
  jest.restoreAllMocks();
  await closeAll();
});

const codesOf = ({ reasons }: Health) => reasons.map(({ code }) => code);

/** A process of the shop whose database is this file. */
function shopOn(file: string, directory = `${file}-spool`) {
  const store = sqliteStore(file);
  const payments = testKit({ store, spool: { directory } });
  const told: unknown[] = [];
  payments.on("store.went_back", ({ error }) => void told.push(error));
  const receive = (id: string) =>
    payments.receiveWebhook(signed(completedBody({ clientId: `c-${id}`, id: `s-${id}` })));
  return { store, payments, told, receive };
}

/** Returns a function that makes the check of the next kit, which is due every ten seconds. */
function catchCheck(): () => void {
  const { setInterval } = globalThis;
  let check!: () => void;
  jest.spyOn(globalThis, "setInterval").mockImplementation(((run: () => void, ms: number) => {
    if (ms === 10_000) check = run;
    return setInterval(run, ms);
  }) as never);
  return () => check();
}

/** Puts the database back to a copy of its records. */
function restore(records: Map<string, StoredRecord>, copy: ReadonlyMap<string, StoredRecord>): void {
  records.clear();
  for (const [key, record] of copy) records.set(key, record);
}

/** Deletes all webhooks from the records of an adapter. */
function deleteWebhooks(records: Map<string, StoredRecord>): void {
  for (const key of records.keys()) if (/^(webhooks|receipts|webhook-times)\//.test(key)) records.delete(key);
}

/** A started process of a shop over records in memory, and its check. */
async function startInMemory() {
  const check = catchCheck();
  const records = new Map<string, StoredRecord>();
  const store = storeOver({ ...memoryAdapter(records), durable: true });
  const payments = testKit({ store });
  await payments.start();
  return { check, records, store, payments };
}

/** Resolves when the kit has told that its store went back. */
const toldBy = <Tx>(payments: Payments<SignedField, Tx>) =>
  new Promise((resolve) => {
    payments.on("store.went_back", ({ error }) => resolve(error));
  });

describe("a store that hangs", () => {
  const hanging = () => {
    const store = Object.assign(new MemoryStore(), { durable: true });
    return { store, identify: jest.spyOn(store, "identify").mockReturnValue(new Promise(() => {})) };
  };

  it("is asked for its identity once, also by several callers, and each of them gets an error in time", async () => {
    const { store, identify } = hanging();
    const identified = identifier({ store, newId: () => "id-1" }, 10);
    for (let asked = 0; asked < 3; asked++)
      await expect(identified()).rejects.toMatchObject({ code: "store_unavailable" });
    expect(identify).toHaveBeenCalledTimes(1);
  });

  it("is asked again after 30 s, so that the webhooks of the spool do not wait for a call that never ends", async () => {
    const store = Object.assign(new MemoryStore(), { durable: true });
    const identify = jest.spyOn(store, "identify").mockReturnValueOnce(new Promise(() => {}));
    jest.useFakeTimers();
    const identified = identifier({ store, newId: () => "id-1" }, 10);
    const first = identified().catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(29_999);
    const second = identified().catch((error: unknown) => error);
    expect(identify).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(1);
    const unavailable = { code: "store_unavailable" };
    expect(await Promise.all([first, second])).toMatchObject([unavailable, unavailable]);
    expect(await identified()).toBe("id-1");
  });

  it("holds up neither the start nor the close of the kit for longer than a webhook", async () => {
    const { store, identify } = hanging();
    const spool = { directory: `${nextFile()}-spool` };
    const payments = testKit<never, MemoryTx>({ store, spool, webhook: { recordTimeoutMs: 10 } });
    await payments.start();
    await payments.close();
    expect(identify).toHaveBeenCalledTimes(1);
  });
});

it("a spool whose disk hangs holds up neither the start nor the later checks of the store", async () => {
  const hanging = () => new Promise<never>(() => {});
  const fs = { ...realFileSystem, lstat: hanging as never };
  const store = Object.assign(new MemoryStore(), { durable: true });
  const identify = jest.fn(async () => "store-1");
  const tie = new StoreTie(new SpoolDirectory(`${nextFile()}-spool`, fs), identify);
  const notify = jest.fn();
  const watch = new StoreWatch({ store, spool: { tie }, identify, notify, onWentBack: () => {} });
  jest.useFakeTimers();
  const started = watch.start();
  await jest.advanceTimersByTimeAsync(5000);
  await started;
  expect(tie.problem).toMatchObject({ code: "spool_unavailable" });
  identify.mockResolvedValue("another");
  await jest.advanceTimersByTimeAsync(10_000);
  expect(notify).toHaveBeenCalledWith("store.went_back", { error: watch.problem });
  await watch.close();
});

it("a file of the spool that is never written does not hold up the later checks of the store", async () => {
  const store = Object.assign(new MemoryStore(), { durable: true });
  jest.spyOn(store, "webhooks").mockImplementation(async ({ receiptId }) => [{ receiptId } as never]);
  let identity = "store-1";
  const identify = async () => identity;
  const fs = { ...realFileSystem };
  const tie = new StoreTie(new SpoolDirectory(`${nextFile()}-spool`, fs), identify);
  await tie.read();
  const rename = jest.fn(() => new Promise<never>(() => {}));
  fs.rename = rename;
  const notify = jest.fn();
  const watch = new StoreWatch({ store, spool: { tie }, identify, notify, onWentBack: () => {} });
  watch.noteRecorded([{ outcome: "applied", receiptId: "r-1" } as never]);
  jest.useFakeTimers({ doNotFake: ["setImmediate"] });
  const started = watch.start();
  while (rename.mock.calls.length === 0) await setImmediate();
  await jest.advanceTimersByTimeAsync(5000);
  await started;
  identity = "another";
  const told = new Promise((resolve) => notify.mockImplementation(resolve));
  await jest.advanceTimersByTimeAsync(10_000);
  expect(await told).toBe("store.went_back");
  await watch.close();
  expect(rename).toHaveBeenCalledTimes(1);
});

it("a store that went back before the start is told once", async () => {
  const store = Object.assign(new MemoryStore(), { durable: true });
  const webhooks = jest.spyOn(store, "webhooks");
  const tie = { read: async () => ({ store: "store-1", webhook: "r-1" }), problem: undefined } as never;
  const notify = jest.fn();
  const identify = async () => "store-1";
  const watch = new StoreWatch({ store, spool: { tie }, identify, notify, onWentBack() {} });
  jest.useFakeTimers();
  await watch.start();
  await jest.advanceTimersByTimeAsync(20_000);
  expect(notify).toHaveBeenCalledTimes(1);
  expect(webhooks).toHaveBeenCalledTimes(1);
  await watch.close();
});

it("a file of the spool is written again only for a newer webhook", async () => {
  const store = Object.assign(new MemoryStore(), { durable: true });
  jest.spyOn(store, "webhooks").mockResolvedValue([{} as never]);
  const remember = jest.fn(async () => {});
  const tie = { read: async () => ({ store: "store-1" }), remember, problem: undefined } as never;
  const identify = async () => "store-1";
  const watch = new StoreWatch({ store, spool: { tie }, identify, notify() {}, onWentBack() {} });
  const record = (receiptId: string) => watch.noteRecorded([{ outcome: "applied", receiptId } as never]);
  const kept = (webhook: string) => [{ store: "store-1", webhook }];
  jest.useFakeTimers();
  record("r-1");
  await watch.start();
  await jest.advanceTimersByTimeAsync(20_000);
  expect(remember.mock.calls).toEqual([kept("r-1")]);
  record("r-2");
  await jest.advanceTimersByTimeAsync(20_000);
  expect(remember.mock.calls).toEqual([kept("r-1"), kept("r-2")]);
  await watch.close();
});

/** Returns a watch of a store without a spool, and a function that records a webhook. */
function watchWithoutSpool() {
  const store = Object.assign(new MemoryStore(), { durable: true });
  const webhooks = jest.spyOn(store, "webhooks");
  const watch = new StoreWatch({
    store,
    spool: undefined,
    identify: undefined,
    notify() {},
    onWentBack() {},
  });
  const record = (receiptId: string) => watch.noteRecorded([{ outcome: "applied", receiptId } as never]);
  return { watch, webhooks, record };
}

it("a store is asked only for the last webhook of each half second", async () => {
  const { watch, webhooks, record } = watchWithoutSpool();
  webhooks.mockResolvedValue([{} as never]);
  jest.useFakeTimers();
  for (const name of ["a", "b"]) {
    for (const receiptId of [`${name}-1`, `${name}-2`]) record(receiptId);
    await jest.advanceTimersByTimeAsync(500);
  }
  await watch.start();
  expect(webhooks.mock.calls.map(([{ receiptId }]) => receiptId)).toEqual(["a-2", "b-2"]);
  await watch.close();
});

it("a store is asked by one timer, however often the watch is started", async () => {
  const { watch } = watchWithoutSpool();
  jest.useFakeTimers();
  const before = jest.getTimerCount();
  for (let starts = 1; starts <= 2; starts++) await watch.start();
  expect(jest.getTimerCount()).toBe(before + 1);
  await watch.close();
  expect(jest.getTimerCount()).toBe(before);
});

it("a store is asked at the close for a webhook that was recorded during the check that runs", async () => {
  const { watch, webhooks, record } = watchWithoutSpool();
  const { opened, open } = gate();
  const asked: (string | undefined)[] = [];
  webhooks.mockImplementation(async ({ receiptId }) => {
    asked.push(receiptId);
    await opened;
    return [{} as never];
  });
  record("r-1");
  const started = watch.start();
  while (asked.length === 0) await setImmediate();
  record("r-2");
  const closed = watch.close();
  open();
  await Promise.all([started, closed]);
  expect(asked).toEqual(["r-1", "r-1", "r-2"]);
});

it("a close waits two seconds for each of two checks of a store that does not answer", async () => {
  const { watch, webhooks, record } = watchWithoutSpool();
  webhooks.mockReturnValue(new Promise(() => {}));
  jest.useFakeTimers();
  record("r-1");
  void watch.start();
  await jest.advanceTimersByTimeAsync(0);
  expect(webhooks).toHaveBeenCalledTimes(1);
  record("r-2");
  let isClosed = false;
  const closed = watch.close().then(() => (isClosed = true));
  await jest.advanceTimersByTimeAsync(3999);
  expect(isClosed).toBe(false);
  await jest.advanceTimersByTimeAsync(1);
  await closed;
});

it("a store that is away for long is asked for the newest webhooks when it is back", async () => {
  const { watch, webhooks, record } = watchWithoutSpool();
  webhooks.mockRejectedValue(new Error("away"));
  jest.useFakeTimers();
  await watch.start();
  for (let count = 1; count <= 40; count++) {
    record(`r-${count}`);
    await jest.advanceTimersByTimeAsync(500);
  }
  // This webhook is recorded during a check, which then fails.
  webhooks.mockImplementationOnce(() => (record("r-41"), Promise.reject(new Error("away"))));
  await jest.advanceTimersByTimeAsync(10_000);
  const asked: string[] = [];
  webhooks.mockImplementation(async ({ receiptId }) => (asked.push(receiptId!), [{} as never]));
  await jest.advanceTimersByTimeAsync(10_000);
  expect(asked).toEqual(Array.from({ length: 40 }, (_, index) => `r-${index + 2}`));
  await watch.close();
});

/** Starts a shop on its file, which tells nothing, and then one on the older copy, which tells the error. */
async function restored(file: string) {
  const restart = shopOn(file);
  await restart.payments.start();
  await restart.payments.close();
  expect(restart.told).toEqual([]);
  await copyFile(`${file}.copy`, file);
  const { payments } = shopOn(file);
  const error = toldBy(payments);
  await payments.start();
  return { payments, error: await error };
}

describe("a store that went back in time", () => {
  it("is told at the start, after an older copy of its file was restored", async () => {
    const file = nextFile();
    const before = shopOn(file);
    await before.payments.start();
    await before.payments.close();
    await copyFile(file, `${file}.copy`);
    const during = shopOn(file);
    await during.payments.start();
    const { receiptId } = await during.receive("1");
    await during.payments.close();

    const { payments, error } = await restored(file);
    expect(error).toMatchObject({
      code: "store_went_back",
      message: expect.stringContaining(receiptId) as string,
    });
    expect(codesOf(await payments.health())).toEqual(["store_went_back"]);
  });

  it("is told at the start, although the process that recorded the last webhook closed before another one", async () => {
    const file = nextFile();
    const [earlier, later] = [shopOn(file), shopOn(file)];
    await Promise.all([earlier.payments.start(), later.payments.start()]);
    await earlier.receive("1");
    await earlier.payments.backup(`${file}.copy`);
    // The two webhooks must not arrive in one millisecond.
    const from = Date.now();
    while (Date.now() === from) await setImmediate();
    const { receiptId } = await later.receive("2");
    await later.payments.close();
    await earlier.payments.close();

    const { error } = await restored(file);
    expect(error).toMatchObject({ message: expect.stringContaining(receiptId) as string });
    expect([...earlier.told, ...later.told]).toEqual([]);
  });

  it("is told at the start also if it lost only a payment that was created", async () => {
    const file = nextFile();
    const { payments: first } = shopOn(file);
    await first.start();
    await first.backup(`${file}.copy`);
    const order = { reference: "order-1", clientId: "c-1", total: { value: "1475", currency: "KMF" } };
    await expect(first.create(order)).rejects.toMatchObject({ name: "PaymentCreationError" });
    await first.close();

    const { error } = await restored(file);
    expect(error).toMatchObject({ message: expect.stringContaining("payment c-1") as string });
  });

  it("is told at the start although a new webhook is recorded before the check", async () => {
    const file = nextFile();
    const before = shopOn(file);
    await before.payments.start();
    await before.receive("1");
    await before.payments.backup(`${file}.copy`);
    const { receiptId } = await before.receive("2");
    await before.payments.close();

    await copyFile(`${file}.copy`, file);
    const { payments, receive } = shopOn(file);
    const error = toldBy(payments);
    await receive("3");
    await payments.start();
    expect(codesOf(await payments.health())).toEqual(["store_went_back"]);
    expect(await error).toMatchObject({ message: expect.stringContaining(receiptId) as string });
  });

  it("is told while the process runs although a new webhook is recorded before the check", async () => {
    const check = catchCheck();
    const records = new Map<string, StoredRecord>();
    const store = storeOver({ ...memoryAdapter(records), durable: true });
    const payments = testKit({ store });
    const receive = (id: string) =>
      payments.receiveWebhook(signed(completedBody({ clientId: `c-${id}`, id: `s-${id}` })));
    await payments.start();
    const copy = new Map(records);
    const { receiptId } = await receive("1");
    check();
    await payments.sweep();
    expect((await payments.health()).status).toBe("ok");

    restore(records, copy);
    await receive("2");
    const error = toldBy(payments);
    check();
    expect(await error).toMatchObject({ message: expect.stringContaining(receiptId) as string });
  });

  it("is told while the process runs, and open payments are swept", async () => {
    const check = catchCheck();
    const records = new Map<string, StoredRecord>();
    const store = storeOver({ ...memoryAdapter(records), durable: true });
    const payments = testKit({ store });
    const receive = (id: string) =>
      payments.receiveWebhook(signed(completedBody({ clientId: `c-${id}`, id: `s-${id}` })));
    await payments.start();
    await receive("1");
    const copy = new Map(records);
    await receive("2");
    check();
    await payments.sweep();
    expect((await payments.health()).status).toBe("ok");

    restore(records, copy);
    const old = { ...pendingPayment(), createdAt: "2020-01-01T00:00:00.000Z" };
    await store.transaction((tx) => store.save(tx, { created: [old] }));
    const error = toldBy(payments);
    check();
    expect(await error).toMatchObject({ code: "store_went_back" });
    expect(codesOf(await payments.health())).toContain("store_went_back");
    await payments.sweep();
    expect(await payments.find(old.clientId)).toMatchObject({ overdueAt: expect.any(String) as string });
    const again = jest.fn();
    payments.on("store.went_back", again);
    for (let checks = 0; checks < 3; checks++) {
      check();
      await setImmediate();
    }
    expect(again).not.toHaveBeenCalled();
    expect(codesOf(await payments.health())).toContain("store_went_back");
  });

  it("is told also where the store was away at the start", async () => {
    const check = catchCheck();
    const records = new Map<string, StoredRecord>();
    const store = storeOver({ ...memoryAdapter(records), durable: true });
    const away = new TillkitError("store_unavailable", "The database is restarting.");
    jest.spyOn(store, "registerHandlers").mockRejectedValueOnce(away);
    const payments = testKit({ store });
    payments.onPaymentCompleted(() => {});
    await expect(payments.start()).rejects.toBe(away);
    await payments.receiveWebhook(signed(completedBody()));
    deleteWebhooks(records);
    const error = toldBy(payments);
    check();
    expect(await error).toMatchObject({ code: "store_went_back" });
  });

  it("is told although a check had failed in between", async () => {
    const { check, records, store, payments } = await startInMemory();
    await payments.receiveWebhook(signed(completedBody()));
    const away = new Promise<void>((resolve) => {
      jest.spyOn(store, "webhooks").mockImplementationOnce(async () => {
        resolve();
        throw new TillkitError("store_unavailable", "The database is restarting.");
      });
    });
    check();
    await away;
    deleteWebhooks(records);
    const error = toldBy(payments);
    // A check that still runs is joined.
    await setImmediate();
    check();
    expect(await error).toMatchObject({ code: "store_went_back" });
  });

  it("is told for a webhook that was recorded while a check failed", async () => {
    const { check, records, store, payments } = await startInMemory();
    await payments.receiveWebhook(signed(completedBody()));
    const copy = new Map(records);
    let fail!: () => void;
    const asked = new Promise<void>((resolve) => {
      jest.spyOn(store, "webhooks").mockImplementationOnce(() => {
        resolve();
        return new Promise((_, reject) => {
          fail = () => reject(new TillkitError("store_unavailable", "The database is restarting."));
        });
      });
    });
    check();
    await asked;
    const { receiptId } = await payments.receiveWebhook(
      signed(completedBody({ clientId: "c-2", id: "s-2" })),
    );
    fail();
    // A check that still runs is joined.
    await setImmediate();

    restore(records, copy);
    const error = toldBy(payments);
    check();
    expect(await error).toMatchObject({ message: expect.stringContaining(receiptId) as string });
  });

  it("is told although a check had never ended", async () => {
    const { check, records, store, payments } = await startInMemory();
    const copy = new Map(records);
    await payments.receiveWebhook(signed(completedBody()));
    const error = toldBy(payments);
    jest.useFakeTimers();
    jest.spyOn(store, "webhooks").mockReturnValueOnce(new Promise(() => {}));
    check();
    await jest.advanceTimersByTimeAsync(60_000);
    jest.useRealTimers();
    restore(records, copy);
    check();
    expect(await error).toMatchObject({ code: "store_went_back" });
  });

  it("is told while the process runs where another database took its place", async () => {
    const { check, store, payments } = await startInMemory();
    jest.spyOn(store, "identify").mockResolvedValue("another");
    const error = toldBy(payments);
    check();
    expect(await error).toMatchObject({ message: expect.stringContaining("was replaced") as string });
  });

  it("is told once where another database took its place, and once more where a third one did", async () => {
    const { check, store, payments } = await startInMemory();
    const identify = jest.spyOn(store, "identify").mockResolvedValue("another");
    const told = jest.fn();
    payments.on("store.went_back", told);
    const checkTwice = async () => {
      for (let checks = 0; checks < 2; checks++) {
        check();
        // A check that still runs would be joined.
        for (let waits = 0; waits < 3; waits++) await setImmediate();
      }
    };
    await checkTwice();
    expect(told).toHaveBeenCalledTimes(1);
    identify.mockResolvedValue("a third one");
    await checkTwice();
    expect(told).toHaveBeenCalledTimes(2);
  });

  it.each(["store_unavailable", "store_busy"] as const)(
    "is told although %s kept the first check from reading the webhook that the directory remembers",
    async (code) => {
      const store = Object.assign(new MemoryStore(), { durable: true });
      const isThere = (receiptId?: string) => (receiptId === "new" ? [{ receiptId } as never] : []);
      jest.spyOn(store, "webhooks").mockImplementation(async ({ receiptId }) => isThere(receiptId));
      const tie = { problem: undefined, read: jest.fn(), remember: jest.fn() };
      tie.read.mockRejectedValueOnce(new TillkitError(code, "The database is restarting."));
      tie.read.mockResolvedValue({ store: "store-1", webhook: "lost" });
      const notify = jest.fn();
      const identify = async () => "store-1";
      const spool = { tie: tie as never };
      const watch = new StoreWatch({ store, spool, identify, notify, onWentBack: () => {} });
      watch.noteRecorded([{ outcome: "applied", receiptId: "new" } as never]);
      await watch.start();
      expect(tie.remember).not.toHaveBeenCalled();
      await watch.close();
      expect(notify.mock.calls).toEqual([
        [
          "store.went_back",
          { error: expect.objectContaining({ message: expect.stringContaining("webhook lost") as string }) },
        ],
      ]);
    },
  );

  it("is not told of a webhook that came twice", async () => {
    const { payments, receive, told } = shopOn(nextFile());
    await payments.start();
    await receive("1");
    expect(await receive("1")).toMatchObject({ outcome: "duplicate" });
    await payments.close();
    expect(told).toEqual([]);
  });

  it("is not told after a database that was only unreachable, nor of a webhook that was pruned", async () => {
    const file = nextFile();
    const first = shopOn(file);
    await first.payments.start();
    await first.receive("1");
    await first.payments.prune({ before: new Date("2099-01-01") });
    await first.payments.close();
    const next = shopOn(file);
    await next.payments.start();
    await next.payments.close();
    expect([first.told, next.told]).toEqual([[], []]);
  });
});

describe("the directory of a spool", () => {
  it("belongs to one store: another shop's kit records nothing of it, and spools nothing into it", async () => {
    const [file, other] = [nextFile(), nextFile()];
    const directory = path.join(path.dirname(file), "shared-spool");
    const north = shopOn(file, directory);
    await north.payments.start();
    expect((await north.payments.health()).reasons).toEqual([]);
    await north.payments.close();

    const south = shopOn(other, directory);
    await south.payments.start();
    const { status, reasons } = await south.payments.health();
    expect([status, codesOf({ reasons } as Health)]).toEqual(["degraded", ["spool_unavailable"]]);
    expect(reasons[0]!.message).toContain("another store");
    south.store.record = () => Promise.reject(new Error("The disk is gone."));
    await expect(south.receive("1")).rejects.toMatchObject({ code: "record_unavailable" });
  });

  it("says in the health that its memory of the store is damaged, until the file is removed", async () => {
    const file = nextFile();
    const { payments } = shopOn(file);
    await payments.start();
    await payments.close();
    const memory = path.join(`${file}-spool`, "store");
    await writeFile(memory, "");
    const next = shopOn(file).payments;
    await next.start();
    expect((await next.health()).reasons).toMatchObject([
      { code: "spool_unavailable", message: expect.stringContaining("is damaged. Remove it.") as string },
    ]);
    await next.close();
    await rm(memory);
    const last = shopOn(file).payments;
    await last.start();
    expect((await last.health()).reasons).toEqual([]);
  });

  it("shows that the file of its database is gone", async () => {
    const file = nextFile();
    const before = shopOn(file);
    await before.payments.start();
    await before.payments.close();
    for (const ending of ["", "-wal", "-shm"]) await rm(file + ending, { force: true });
    const { payments } = shopOn(file);
    await payments.start();
    expect((await payments.health()).reasons).toMatchObject([
      { code: "spool_unavailable", message: expect.stringContaining("replaced by a new one") as string },
    ]);
  });
});
