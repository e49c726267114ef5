import { sqliteStore } from "tillkit/sql";
import { mysqlDialect } from "../../../src/store/sql/mysql/mysql-dialect.js";
import { postgresDialect } from "../../../src/store/sql/postgres/postgres-dialect.js";
import { sqliteDialect } from "../../../src/store/sql/sqlite/sqlite-dialect.js";
import { temporaryFiles } from "./support/temporary-files.js";

const nextFile = temporaryFiles();

const webhook = {
  receiptId: "r-1",
  eventKey: "k-1",
  outcome: "unmatched",
  covers: "body",
  rawBody: Buffer.alloc(64 * 1024),
  receivedAt: "2026-11-20T10:00:00.000Z",
} as const;

it("rejects with store_unavailable when SQLite's disk is full, and works again when there is space", async () => {
  const store = sqliteStore(nextFile());
  const limitPages = (count: number): Promise<void> =>
    store.transaction(async (tx) => (await tx.raw).exec(`pragma max_page_count = ${count}`));
  const save = () => store.transaction((tx) => store.save(tx, { webhooks: [webhook] }));

  await limitPages(1);
  await expect(save()).rejects.toMatchObject({ code: "store_unavailable" });
  await limitPages(100_000);
  await expect(save()).resolves.toMatchObject({ takenEventKeys: [] });
  await store.close();
});

it.each([13, 10, 6922, 8, 14])("translates SQLite's result code %i to store_unavailable", (errcode) => {
  expect(sqliteDialect.translate({ errcode })).toMatchObject({ code: "store_unavailable" });
});

it.each([
  ["database or disk is full", "store_unavailable"],
  ["disk I/O error", "store_unavailable"],
  ["database is locked", "store_busy"],
  ["UNIQUE constraint failed: t.x", "store_conflict"],
])("recognises %j by its message, where the driver loses the result code", (message, code) => {
  const error = Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR" });
  expect(sqliteDialect.translate(error)).toMatchObject({ code, cause: error });
});

it("recognises a deadlock also after the translation, so that the transaction is tried again", () => {
  const inPostgres = { severity: "ERROR", code: "40P01" };
  const inMysql = { errno: 1213, sqlState: "40001" };
  expect(postgresDialect.isDeadlock(postgresDialect.translate(inPostgres))).toBe(true);
  expect(mysqlDialect.isDeadlock(mysqlDialect.translate(inMysql))).toBe(true);
  expect(postgresDialect.isDeadlock(postgresDialect.translate({ severity: "ERROR", code: "53100" }))).toBe(
    false,
  );
  expect(mysqlDialect.isDeadlock(mysqlDialect.translate({ errno: 1021, sqlState: "HY000" }))).toBe(false);
});

it("leaves a mistake in a statement unchanged", () => {
  const syntax = { severity: "ERROR", code: "42601" };
  expect(postgresDialect.translate(syntax)).toBe(syntax);
  const unknownColumn = { errno: 1054, sqlState: "42S22" };
  expect(mysqlDialect.translate(unknownColumn)).toBe(unknownColumn);
});
