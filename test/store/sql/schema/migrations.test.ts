import { readFileSync } from "node:fs";
import path from "node:path";
import { mysqlSchema } from "../../../../src/store/sql/mysql/migrations.js";
import { postgresSchema } from "../../../../src/store/sql/postgres/migrations.js";
import { sqliteSchema } from "../../../../src/store/sql/sqlite/migrations.js";
import { tablesUnder } from "../../../../src/store/sql/tables/names.js";
import { onEachDatabase, openPlace, openStore, type Place } from "../../../promises/processes/databases.js";

/** Returns the steps of a database, as this code knows them. */
function stepsFor({ address: { kind, prefix } }: Place, collation: string): readonly (readonly string[])[] {
  const tables = tablesUnder(prefix);
  if (kind === "sqlite") return sqliteSchema(tables).steps;
  return (kind === "postgres" ? postgresSchema(tables) : mysqlSchema(tables, collation)).steps;
}

const at = "2026-11-01T10:00:00.000Z";

onEachDatabase("tables of an older version", (kind) => {
  let place: Place;
  beforeEach(async () => {
    place = await openPlace(kind);
    await openAtVersion(1);
  });
  afterEach(() => place.remove());

  const run = (sql: string) =>
    place.store.transaction((tx) => tx.query(sql.replaceAll("@", place.address.prefix)));

  /** Drops everything, and makes the tables as the code of that version did. */
  async function openAtVersion(version: number): Promise<void> {
    for (const table of ["payments", "webhooks", "events", "handlers", "dispatches", "resolutions", "notes"])
      await run(`drop table if exists @${table}`);
    await run("delete from @meta");
    const collation =
      kind === "mysql"
        ? String((await place.select("select version() as v"))[0]!["v"]).includes("MariaDB")
          ? "utf8mb4_nopad_bin"
          : "utf8mb4_0900_bin"
        : "";
    for (const step of stepsFor(place, collation).slice(0, version))
      for (const statement of step) await run(statement);
    await run(`insert into @meta (name, value) values ('version', '${version}')`);
  }

  async function fillVersion1(): Promise<void> {
    await run(`insert into @payments (client_id, reference, total_value, total_currency, state, open_reference,
      created_at, updated_at, awaited_since) values ('open', 'r1', '1475', 'KMF', 'pending', 'r1', '${at}', '${at}', '${at}')`);
    await run(`insert into @payments (client_id, reference, total_value, total_currency, state, created_at, updated_at,
      completed_at) values ('paid', 'r2', '1475', 'KMF', 'completed', '${at}', '${at}', '${at}')`);
    await run(`insert into @webhooks (receipt_id, event_key, outcome, client_id, raw_body, covers, received_at, parked)
      values ('parked', 'k1', 'unmatched', 'nobody', 'abc', 'body', '${at}', 1)`);
    await run(`insert into @events (id, type, client_id, recorded_at, payload) values
      ('e1', 'payment.completed', 'paid', '${at}', '{}')`);
    await run(`insert into @events (id, type, client_id, recorded_at, payload, unexpanded) values
      ('e2', 'payment.completed', 'paid', '${at}', '{}', 1)`);
    await run("insert into @handlers (event, name) values ('payment.completed', 'mails')");
    await run(`insert into @dispatches (event_id, handler, event_type, event_seq, state, attempt, failures, fence, dead)
      values ('e1', 'books', 'payment.completed', 1, 'dead', 12, 12, 12, 1)`);
  }

  it("are upgraded to the newest version with all of their rows, however many processes start", async () => {
    await fillVersion1();
    const stores = Array.from({ length: 4 }, () => openStore(place.address));
    await Promise.all(stores.map((store) => store.migrate()));
    const [store] = stores;
    expect(await store!.find("open")).toMatchObject({ state: "pending", open: true, nextLookupAt: at });
    expect(await store!.find("paid")).not.toHaveProperty("nextLookupAt");
    expect(await store!.counts()).toMatchObject({ dead: 1, parked: 1 });
    // That version raised it when it came, and it is not raised again.
    expect(await store!.transaction((tx) => store!.stray(tx, { before: "3", limit: 9 }))).toEqual([]);
    const [parked] = await store!.transaction((tx) => store!.rematchable(tx, ["nobody"]));
    expect({ ...parked, rawBody: String(parked!.rawBody) }).toEqual({
      receiptId: "parked",
      eventKey: "k1",
      outcome: "unmatched",
      clientId: "nobody",
      rawBody: "abc",
      covers: "body",
      receivedAt: at,
    });
    const history = await store!.history("paid");
    expect(history.events).toHaveLength(2);
    expect(history.dispatches[0]).toMatchObject({ handler: "books", state: "dead" });
    expect(await store!.dead({ revive: false, limit: 9 })).toHaveLength(1);
    const mails = {
      handlers: [{ event: "payment.completed", name: "mails" }],
      limit: 9,
      leaseMs: 1000,
    } as const;
    const claims = await Promise.all(stores.map((one) => one.claim(mails)));
    expect(claims.flat().map(({ event }) => event.id)).toEqual(["e2"]);
    const idsOf = async (state: "completed" | "pending") =>
      (await store!.list({ state, newestFirst: true, limit: 9 })).map(({ clientId }) => clientId);
    expect([await idsOf("pending"), await idsOf("completed")]).toEqual([["open"], ["paid"]]);
    expect(await store!.due({ before: "3", limit: 9 })).toMatchObject([{ clientId: "open" }]);
    expect(await store!.webhooks({ limit: 9 })).toEqual([parked]);
    await Promise.all(stores.map((one) => one.close()));
  });

  it("show what a person has to see, also what was stored before there were such lists", async () => {
    await openAtVersion({ sqlite: 14, postgres: 12, mysql: 10 }[kind]);
    const payments = [
      ["withheld", "completed", null, "unsettled"],
      ["settled", "completed", null, "accepted"],
      ["uncertain", "uncertain", null, null],
      ["creating", "creating", at, null],
      ["created now", "creating", null, null],
      ["late", "pending", at, null],
      ["pending", "pending", null, null],
    ].map((row) => row.map((value) => (value === null ? "null" : `'${value}'`)));
    for (const [id, state, overdueAt, withheld] of payments)
      await run(`insert into @payments (client_id, reference, total_value, total_currency, state, overdue_at, withheld,
        created_at, updated_at) values (${id}, ${id}, '1475', 'KMF', ${state}, ${overdueAt}, ${withheld}, '${at}', '${at}')`);
    const webhooks = [
      ["open", "mismatch", "null"],
      ["resolved", "mismatch", "null"],
      ["bad", "inadmissible", "null"],
      ["parked", "unmatched", "1"],
      ["dismissed", "unmatched", "null"],
      ["asked", "unconfirmed", "1"],
      ["done", "applied", "null"],
    ];
    for (const [id, outcome, parked] of webhooks)
      await run(`insert into @webhooks (receipt_id, event_key, outcome, raw_body, covers, received_at, parked)
        values ('${id}', '${id}', '${outcome}', 'abc', 'body', '${at}', ${parked})`);
    await run(`insert into @resolutions (id, client_id, action, receipt_id, reason, resolved_by, resolved_at)
      values ('r1', 'late', 'dismissed', 'resolved', 'a test', 'Amina', '${at}')`);

    const store = openStore(place.address);
    const listed: Record<string, string[]> = {};
    for (const need of ["paid_other_amount", "creation_uncertain", "overdue"] as const) {
      const found = await store.list({ need, newestFirst: false, limit: 9 });
      listed[need] = found.map(({ clientId }) => clientId);
    }
    for (const need of ["mismatched", "inadmissible", "unmatched", "unconfirmed"] as const) {
      const found = await store.webhooks({ need, limit: 9 });
      listed[need] = found.map(({ receiptId }) => receiptId);
    }
    expect(listed).toEqual({
      paid_other_amount: ["withheld"],
      creation_uncertain: ["creating", "uncertain"],
      overdue: ["late"],
      mismatched: ["open"],
      inadmissible: ["bad"],
      unmatched: ["parked"],
      unconfirmed: ["asked"],
    });
    await store.close();
  });

  it("are upgraded after an upgrade was interrupted", async () => {
    await fillVersion1();
    const [, second] = stepsFor(place, "");
    // The other databases roll back a whole step, so that nothing of it is left after a crash.
    if (kind === "mysql") for (const statement of second!.slice(0, 3)) await run(statement);
    const store = openStore(place.address);
    expect(await store.find("open")).toMatchObject({ nextLookupAt: at });
    expect((await store.history("paid")).resolutions).toEqual([]);
    await store.close();
  });

  it("have a newest version that this test knows", () => {
    expect(stepsFor(place, "")).toHaveLength({ sqlite: 16, postgres: 15, mysql: 13 }[kind]);
    const source = readFileSync(
      path.join(__dirname, `../../../../src/store/sql/${kind}/migrations.ts`),
      "utf8",
    );
    expect(source).toContain("Only append steps");
  });
});
