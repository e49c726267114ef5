import { sqliteStore } from "tillkit/sql";
import { payment } from "../../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../../src/store/exam/checks/steps.js";
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
