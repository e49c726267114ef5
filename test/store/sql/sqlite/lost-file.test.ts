import { copyFileSync, existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { sqliteStore } from "tillkit/sql";
import { completionOf, openShop, seedPayments } from "../../../promises/faults/shop.js";
import { openPlace, type Place } from "../../../promises/processes/databases.js";
import { members, until } from "../../../promises/processes/members.js";
import { closeAll } from "../../../support/kit.js";

jest.setTimeout(120_000);

/** Only the file decides what is spooled, and not the speed of the machine. */
const calm = { dispatch: false as const, webhook: { recordTimeoutMs: 20_000 } };

let place: Place;
let file: string;
beforeEach(async () => {
  place = await openPlace("sqlite");
  file = place.address.url;
  await seedPayments(place, 5);
  hasLog = (await place.store.warnings()).length === 0;
  await place.store.close();
  copyFileSync(file, `${file}.backup`);
});
afterEach(async () => {
  await closeAll();
  await place.remove();
});

/** `false` where this version of SQLite is used without a write-ahead log. */
let hasLog: boolean;

const open = (path = file) => sqliteStore(path, { tablePrefix: place.address.prefix });

/** Returns the state of payment `c-n` in the file, once a new process has it open. */
async function stateOf(n: number, path = file): Promise<string | undefined> {
  const store = open(path);
  const payment = await store.find(`c-${n}`);
  const sound = await store.transaction((tx) => tx.query("pragma integrity_check"));
  await store.close();
  expect(Object.values(sound.rows[0]!)).toEqual(["ok"]);
  return payment?.state;
}

const losses: [string, () => void][] = [
  ["was removed", () => rmSync(file)],
  ["was removed with its log", () => ["", "-wal", "-shm"].map((end) => rmSync(file + end, { force: true }))],
  ["was renamed", () => renameSync(file, `${file}.old`)],
  ["was replaced by a backup", () => renameSync(`${file}.backup`, file)],
];

describe("a SQLite file that is open", () => {
  it.each(losses)("takes no more webhooks after it %s: they are spooled", async (_, lose) => {
    const shop = await openShop(place, calm);
    expect(await shop.post(completionOf(0))).toBe(200);
    lose();
    expect(await shop.post(completionOf(1))).toBe(200);
    expect(await shop.payments.health()).toMatchObject({ status: "degraded", spool: { records: 1 } });
  });

  it.each(losses)(
    "takes no more webhooks after it %s: they are refused where there is no spool",
    async (_, lose) => {
      const shop = await openShop(place, { ...calm, spool: false });
      expect(await shop.post(completionOf(0))).toBe(200);
      lose();
      expect(await shop.post(completionOf(1))).toBe(503);
      expect(await shop.post(completionOf(2))).toBe(503);
    },
  );

  it("names the file, and says that the process must be restarted", async () => {
    const store = open();
    await store.find("c-0");
    rmSync(file);
    const writing = store.transaction((tx) => tx.query("create table notes (text text)"));
    await expect(writing).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(/shop\.db was removed or replaced.*[Rr]estart/) as unknown,
    });
    await store.close();
  });

  it("is reported as lost by the health even if nothing is written", async () => {
    const { payments } = await openShop(place, { ...calm, spool: false });
    expect(await payments.health()).toMatchObject({ status: "ok" });
    rmSync(file);
    await until(async () => (await payments.health()).status === "down", "the health is down");
  });

  it.each(["1", "2", "3"])(
    "fails each handler's run that is not synced before the loss during run %s, also one that left its sync to others",
    async (during) => {
      const store = open();
      await store.transaction((tx) => tx.query("create table notes (text text)"));
      const handle = (text: string) =>
        store.runHandler(
          async (tx) => {
            await tx.query("insert into notes values (?)", [text]);
            if (text === during) rmSync(file);
          },
          async () => {},
        );
      const ended = await Promise.allSettled(["1", "2", "3"].map(handle));
      // Without a log, each run syncs by itself.
      const isSynced = (run: number) => !hasLog && run < Number(during);
      expect(ended.map(({ status }) => status)).toEqual(
        [1, 2, 3].map((run) => (isSynced(run) ? "fulfilled" : "rejected")),
      );
      await store.close();
    },
  );

  it("does not disturb a file that took its place, which the next process uses with the spooled webhooks", async () => {
    const first = await openShop(place, calm);
    expect(await first.post(completionOf(0))).toBe(200);
    renameSync(`${file}.backup`, file);
    expect(await first.post(completionOf(1))).toBe(200);

    // It starts before the first one ends, as in a rolling restart.
    const next = await openShop(place, { webhook: calm.webhook });
    expect(await next.post(completionOf(2))).toBe(200);
    await first.payments.close();
    expect(await next.post(completionOf(3))).toBe(200);
    const isRecorded = async () => (await next.payments.find("c-1"))?.state === "completed";
    await until(isRecorded, "the spooled webhook is recorded");
    await next.payments.close();
    expect(await Promise.all([0, 1, 2, 3].map((n) => stateOf(n)))).toEqual([
      "pending",
      "completed",
      "completed",
      "completed",
    ]);
  });

  it("has every commit, wherever it was moved to", async () => {
    const shop = await openShop(place, calm);
    expect(await shop.post(completionOf(0))).toBe(200);
    renameSync(file, `${file}.old`);
    expect(await shop.post(completionOf(1))).toBe(200);
    expect(readdirSync(place.folder)).not.toContain("shop.db-wal");
    copyFileSync(`${file}.old`, `${file}.copy`);
    expect(await stateOf(0, `${file}.copy`)).toBe("completed");
  });
});

describe("the log of a SQLite file that is open", () => {
  const processes = members();

  it("is copied into the file after it was removed, and later webhooks are spooled, also if the process is killed", async () => {
    if (!hasLog) return console.info("No log: this version of SQLite is used without one.");
    const settings = { address: place.address, web: true, names: [], dispatch: false as const };
    const shop = await processes.start({ ...settings, spool: `${place.folder}/spool` });
    expect(await shop.post(completionOf(0))).toBe(200);
    rmSync(`${file}-wal`);
    expect(await shop.post(completionOf(1))).toBe(200);
    shop.signal("SIGKILL");
    await shop.exited;
    expect(await stateOf(0)).toBe("completed");

    const next = await processes.start({ ...settings, spool: `${place.folder}/spool` });
    const store = open();
    await until(
      async () => (await store.find("c-1"))?.state === "completed",
      "the spooled webhook is recorded",
    );
    await store.close();
    next.signal("SIGTERM");
    await next.exited;
    expect(existsSync(`${place.folder}/spool`)).toBe(true);
  });
});
