import { sqliteStore } from "tillkit/sql";
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
