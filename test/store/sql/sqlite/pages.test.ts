import { readFileSync } from "node:fs";
import { type SignedField } from "tillkit";
import { sqliteStore, type SqliteDatabase, type SqlTx } from "tillkit/sql";
import { loadDriver } from "../../../../src/store/sql/sqlite/database.js";
import { newId } from "../../../../src/shared/new-id.js";
import { closeAll, testKit } from "../../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../../support/webhooks.js";
import { temporaryFiles } from "../support/temporary-files.js";

const nextFile = temporaryFiles();
afterEach(closeAll);

const createdAt = "2026-11-20T09:59:00.000Z";

/** Returns an id as the kit makes them, a second after the one before: ids of one millisecond would be scattered over the pages. */
function idOf(index: number): string {
  const time = (Date.parse(createdAt) + index * 1000).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}${newId().slice(13)}`;
}

/** Opens a shop with payments that were created one after the other, as the kit does; `undefined` where there is no log. */
async function shopWith(count: number) {
  const file = nextFile();
  const store = sqliteStore(file);
  if ((await store.warnings()).length > 0) {
    console.info("No pages are counted: this version of SQLite is used without a write-ahead log.");
    return store.close();
  }
  const created = Array.from({ length: count }, (_, index) =>
    pendingPayment({
      clientId: idOf(index),
      reference: `order-${1000 + index}`,
      serviceId: `s-${idOf(index)}`,
      reported: { status: "pending", captured: false, at: createdAt, verified: ["status", "captured"] },
      service: { createdAt },
    }),
  );
  await store.transaction((tx) => store.save(tx, { created }));
  const payments = testKit<SignedField, SqlTx<SqliteDatabase>>({ store, spool: false, dispatch: false });
  payments.onPaymentCompleted(() => {});
  await payments.start();
  const { DatabaseSync } = await loadDriver();
  return {
    complete: ({ clientId, serviceId: id }: (typeof created)[number]) =>
      payments.receiveWebhook(signed(completedBody({ clientId, id }))),
    created,
    /** Copies the log into the file, and empties it. */
    emptyLog: () => {
      const database = new DatabaseSync(file);
      database.exec("pragma wal_checkpoint(truncate)");
      database.close();
    },
    /** Counts the pages in the log. The header of the log has 32 bytes, that of a page 24. */
    pagesInLog: () => (readFileSync(`${file}-wal`).length - 32) / (24 + 4096),
  };
}

// The cost of a commit is the pages that it writes: one for each index that lists a row.
describe("the pages that SQLite writes", () => {
  it("are no more than nine and a half for a single webhook", async () => {
    const shop = await shopWith(120);
    if (!shop) return;
    const { complete, created, emptyLog, pagesInLog } = shop;
    for (const payment of created.slice(0, 20)) await complete(payment);
    emptyLog();
    for (const payment of created.slice(20)) await complete(payment);
    const each = pagesInLog() / 100;

    expect(each).toBeGreaterThan(5);
    expect(each).toBeLessThanOrEqual(9.5);
  });

  it("are a single one for a webhook that repeats what is known", async () => {
    const shop = await shopWith(20);
    if (!shop) return;
    const { complete, created, emptyLog, pagesInLog } = shop;
    for (const payment of created) await complete(payment);
    emptyLog();
    for (const payment of created) await complete(payment);
    expect(pagesInLog()).toBe(20);
  });

  it("are no more than 1.1 for each webhook of a group of sixty", async () => {
    const shop = await shopWith(660);
    if (!shop) return;
    const { complete, created, emptyLog, pagesInLog } = shop;
    await Promise.all(created.slice(0, 60).map(complete));
    emptyLog();
    for (let from = 60; from < 660; from += 60)
      await Promise.all(created.slice(from, from + 60).map(complete));
    const each = pagesInLog() / 600;

    expect(each).toBeGreaterThan(0.5);
    expect(each).toBeLessThanOrEqual(1.1);
  });
});
