import { event } from "../../../../src/store/exam/checks/fixtures.js";
import { saved } from "../../../../src/store/exam/checks/steps.js";
import { mysqlDialect } from "../../../../src/store/sql/mysql/mysql-dialect.js";
import { postgresDialect } from "../../../../src/store/sql/postgres/postgres-dialect.js";
import { tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { pruneFinal } from "../../../../src/store/sql/tables/prune.js";
import { type Transaction } from "../../../../src/store/sql/transaction/transaction.js";
import { onEachServer, openPlace } from "../../../promises/processes/databases.js";
import { openPatientStore, untilWaiting } from "../support/waiting-for-locks.js";

it("a prune finds nothing where another process pruned the newest events meanwhile", async () => {
  const asked: string[] = [];
  // On PostgreSQL each statement sees what was committed before it.
  const run = async (sql: string) => {
    asked.push(sql);
    return { rows: sql.includes("max(seq)") ? [{ low: "1", high: "10" }] : [], affected: 0 };
  };
  const tx = { run } as unknown as Transaction;
  const db = { dialect: postgresDialect, tables: tablesUnder("shop_") };
  const before = "2026-11-20T10:00:00.000Z";
  expect(await pruneFinal(tx, db, { before, limit: 10 })).toMatchObject({ webhooks: 0, events: 0 });
  expect(asked.filter((sql) => sql.includes("seq >= ?")).length).toBeGreaterThan(0);
});

onEachServer("a prune beside a registration", (kind) => {
  it("waits for the registration, and leaves the events that the new handler gets", async () => {
    const place = await openPlace(kind);
    const other = openPatientStore(place.address);
    await saved(other, { events: [event("e1"), event("e2")] });
    const { forUpdate } = { postgres: postgresDialect, mysql: mysqlDialect }[kind];
    const prefix = place.address.prefix;
    let pruning: Promise<{ events: number }> | undefined;
    await place.store.transaction(async (tx) => {
      // Another process registers a forgotten handler, which gets a dispatch of an earlier event.
      await tx.query(`select value from ${prefix}meta where name = 'handlers' ${forUpdate}`);
      await tx.query(`insert into ${prefix}handlers (event, name, after_seq) values ('*', 'ledger', 2)`);
      pruning = other.prune({ before: "2026-11-20T10:00:00.000Z", limit: 10 });
      await untilWaiting(place);
      await tx.query(`update ${prefix}events set unexpanded = null`);
      await tx.query(`insert into ${prefix}dispatches (event_id, handler, event_type, event_seq, state, open_handler, due_at, attempt,
        failures, fence) values ('e1', 'ledger', 'payment.completed', 1, 'pending', 'ledger', 0, 0, 0, 0)`);
    });
    expect(await pruning).toMatchObject({ events: 1 });
    expect(await place.select("select id from @events")).toEqual([{ id: "e1" }]);
    await other.close();
    await place.remove();
  });
});
