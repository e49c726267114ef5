import { statSync } from "node:fs";
import { sqliteStore } from "tillkit/sql";
import { payment } from "../../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../../src/store/exam/checks/steps.js";
import { resolveSqlStoreOptions } from "../../../../src/store/sql/options.js";
import { SqliteDriver } from "../../../../src/store/sql/sqlite/sqlite-driver.js";
import { tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { temporaryFiles } from "../support/temporary-files.js";

const nextFile = temporaryFiles();

it("a transaction has the lock for writing from its begin on, so that no other process reads what it will change", async () => {
  const file = nextFile();
  const [one, other] = [sqliteStore(file), sqliteStore(file, { busyTimeoutMs: 50 })];
  await Promise.all([one.migrate(), other.migrate()]);
  await one.transaction(async (tx) => {
    await one.lock(tx, { clientIds: ["p1"] });
    const reading = other.transaction((second) => other.lock(second, { clientIds: ["p1"] }));
    await expect(reading).rejects.toMatchObject({ code: "store_busy" });
    const recording = other.record({ clientIds: ["p1"] }, () => ({}));
    await expect(recording).rejects.toMatchObject({ code: "store_busy" });
  });
  await Promise.all([one.close(), other.close()]);
});

it("one record closes an attempt and opens another one, whichever comes first", async () => {
  const store = sqliteStore(nextFile());
  const reference = "order-1";
  await saved(store, {
    created: [payment("p1", { reference, open: false }), payment("p2", { reference })],
  });
  for (let round = 0; round < 2; round++) {
    const isRecorded = await store.record({ references: [reference] }, ({ payments }) => ({
      updated: payments.map((found) => ({ ...found, open: !found.open })),
    }));
    expect(isRecorded).toBe(true);
    expect([(await store.find("p1"))?.open, (await store.find("p2"))?.open]).toEqual([
      round === 0,
      round === 1,
    ]);
  }
  await store.close();
});

it("a close in the middle of a transaction rolls it back, and leaves every commit in the one file", async () => {
  const file = nextFile();
  const driver = new SqliteDriver(file, tablesUnder("shop_"), resolveSqlStoreOptions());
  await driver.migrate();
  const open = await driver.begin();
  await open.run("delete from shop_meta", []);
  await driver.close();
  // A log with commits would be missing in a copy of the file.
  expect(statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  const store = sqliteStore(file, { tablePrefix: "shop_" });
  expect((await store.query("select 1 from shop_meta")).rows).not.toEqual([]);
  await store.close();
});
