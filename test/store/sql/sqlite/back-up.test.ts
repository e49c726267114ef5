import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open as openFile } from "node:fs/promises";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { sqliteStore } from "tillkit/sql";
import { completionOf, openShop, seedPayments } from "../../../promises/faults/shop.js";
import { openPlace, type Place } from "../../../promises/processes/databases.js";
import { until } from "../../../promises/processes/members.js";
import { buildKit } from "../../../support/built-kit.js";
import { closeAll } from "../../../support/kit.js";

jest.setTimeout(120_000);

/** Only the file decides what is spooled, and not the speed of the machine. */
const calm = { dispatch: false as const, webhook: { recordTimeoutMs: 20_000 } };

let place: Place;
let folder: string;
beforeEach(async () => {
  place = await openPlace("sqlite");
  folder = path.join(place.folder, "backups");
  mkdirSync(folder);
});
afterEach(async () => {
  await closeAll();
  await place.remove();
});

const open = (file: string) => sqliteStore(file, { tablePrefix: place.address.prefix });

describe("a backup of a SQLite file", () => {
  it("is complete and sound while webhooks are recorded, none of which waits for it or is refused", async () => {
    const count = 100;
    await seedPayments(place, count);
    const shop = await openShop(place, calm);
    const file = path.join(folder, "shop.db");
    const backingUp = Promise.all([shop.post(completionOf(0)), shop.post(completionOf(1))]).then(() =>
      shop.payments.backup(file),
    );
    const statuses = [];
    for (let n = 2; n < count; n++) statuses.push(await shop.post(completionOf(n)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    const { bytes } = await backingUp;
    expect(bytes).toBe(statSync(file).size);
    expect(readdirSync(folder)).toEqual(["shop.db"]);

    const copy = open(file);
    const { rows } = await copy.transaction((tx) => tx.query("pragma integrity_check"));
    expect(rows.map((row) => Object.values(row))).toEqual([["ok"]]);
    const completed = await copy.list({ state: "completed", newestFirst: false, limit: 1000 });
    const webhooks = await copy.webhooks({ limit: 1000 });
    expect(completed.length).toBeGreaterThanOrEqual(2);
    // One moment for all tables: each completed payment has its webhook, and the reverse.
    expect(new Set(webhooks.map(({ clientId }) => clientId))).toEqual(
      new Set(completed.map(({ clientId }) => clientId)),
    );
    expect(webhooks.length).toBe(completed.length);
    await copy.close();
  });

  it("is on disk before it gets its name, and its name is on disk before the call resolves", async () => {
    const file = path.join(folder, "shop.db");
    const handle = await openFile(folder);
    const syncs = jest.spyOn(Object.getPrototypeOf(handle) as FileHandle, "sync");
    await handle.close();
    const seen: (string | boolean)[] = [];
    syncs.mockImplementation(async function (this: FileHandle) {
      seen.push((await this.stat()).isDirectory() ? "directory" : "file", existsSync(file));
    });
    await place.store.backup(file);
    syncs.mockRestore();
    expect(seen).toEqual(["file", false, "directory", true]);
  });

  it("is refused if the file exists, which stays as it is", async () => {
    const file = path.join(folder, "shop.db");
    writeFileSync(file, "precious");
    await expect(place.store.backup(file)).rejects.toMatchObject({ code: "backup_refused" });
    await expect(place.store.backup(place.address.url)).rejects.toMatchObject({ code: "backup_refused" });
    expect(readFileSync(file, "utf8")).toBe("precious");
    expect(readdirSync(folder)).toEqual(["shop.db"]);
  });

  it("gets its name once of two at the same moment, and the other is refused", async () => {
    const file = path.join(folder, "shop.db");
    const ended = await Promise.allSettled([1, 2].map(() => place.store.backup(file)));
    expect(ended.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(ended.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "backup_refused" },
    });
    expect(readdirSync(folder)).toEqual(["shop.db"]);
  });

  it("leaves nothing behind if it cannot be written", async () => {
    await expect(place.store.backup(path.join(folder, "no", "shop.db"))).rejects.toMatchObject({
      code: "backup_failed",
      cause: { code: "ENOENT" },
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("of a file that is no database fails, and nothing has its name", async () => {
    const wrong = path.join(place.folder, "wrong.db");
    writeFileSync(wrong, "This is not a database. ".repeat(1000));
    await expect(open(wrong).backup(path.join(folder, "shop.db"))).rejects.toMatchObject({
      code: "backup_failed",
    });
    await expect(
      open(path.join(place.folder, "none.db")).backup(path.join(folder, "shop.db")),
    ).rejects.toMatchObject({
      code: "store_unavailable",
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("has its name only if it is complete, also if the process is killed", async () => {
    const kit = buildKit();
    await place.select("create table filler (bytes blob)");
    await place.select(
      "with recursive n(x) as (select 1 union all select x + 1 from n where x < 400) insert into filler select randomblob(100000) from n",
    );
    const file = path.join(folder, "shop.db");
    const program = `require(${JSON.stringify(`${kit}/store/sql/index.js`)})
      .sqliteStore(process.argv[1]).backup(process.argv[2])`;
    const child = spawn(process.execPath, ["-e", program, place.address.url, file]);
    const exited = once(child, "exit");
    await until(async () => readdirSync(folder).length > 0, "the backup begins", 100_000);
    child.kill("SIGKILL");
    await exited;
    rmSync(kit, { recursive: true });
    // A fast machine may have completed it before the signal.
    const complete = readdirSync(folder).filter((name) => !name.includes(".partial"));
    expect(complete.every((name) => statSync(path.join(folder, name)).size > 40_000_000)).toBe(true);
  });

  it("can be read by no more users than the file", async () => {
    await place.store.find("c-0");
    chmodSync(place.address.url, 0o600);
    const file = path.join(folder, "shop.db");
    await place.store.backup(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("is made from a closed shop's file, and changes no tables", async () => {
    await seedPayments(place, 1);
    await place.select("update @meta set value = '1' where name = 'version'");
    await place.store.close();
    const file = path.join(folder, "shop.db");
    const store = open(place.address.url);
    await store.backup(file);
    await store.close();
    await expect(store.backup(`${file}.2`)).rejects.toMatchObject({ code: "store_closed" });
    expect(readFileSync(file).subarray(0, 15).toString()).toBe("SQLite format 3");
  });
});
