import {
  isBusy,
  isUnavailable,
  loadDriver,
  openDatabase,
  retryBusy,
} from "../../../../src/store/sql/sqlite/database.js";
import { temporaryFiles } from "../support/temporary-files.js";

const nextFile = temporaryFiles();

/** Returns two connections to a file, of which the first has an old snapshot that it cannot write to. */
async function openAfterAnotherWrite() {
  const { DatabaseSync } = await loadDriver();
  const file = nextFile();
  const [reader, writer] = [openDatabase(DatabaseSync, file), openDatabase(DatabaseSync, file)];
  reader.exec("pragma journal_mode = wal; create table t (n integer)");
  reader.exec("begin; select * from t");
  writer.exec("insert into t values (1)");
  return { reader, writer };
}

describe("an error of SQLite with an extended code", () => {
  it("is a lock that is not free, and the statement is repeated", async () => {
    const { reader, writer } = await openAfterAnotherWrite();
    let refused: unknown;
    await retryBusy("shop.db", 10_000, () => {
      try {
        reader.exec("insert into t values (2)");
      } catch (error) {
        refused ??= error;
        // A new snapshot.
        reader.exec("rollback");
        throw error;
      }
    });
    expect(refused).toMatchObject({ errcode: 517 });
    expect(writer.prepare("select n from t order by n").all()).toMatchObject([{ n: 1 }, { n: 2 }]);
    reader.close();
    writer.close();
  });

  it.each([
    ["SQLITE_BUSY_RECOVERY", 261, isBusy],
    ["SQLITE_READONLY_DBMOVED", 1032, isUnavailable],
    ["SQLITE_IOERR_WRITE", 778, isUnavailable],
    ["SQLITE_IOERR_FSYNC", 1034, isUnavailable],
    ["SQLITE_CANTOPEN_ISDIR", 526, isUnavailable],
    ["SQLITE_CORRUPT_INDEX", 779, isUnavailable],
  ])("is recognised by its primary code: %s", (_, errcode, isSo) => {
    expect(isSo(Object.assign(new Error("an error"), { errcode }))).toBe(true);
    expect(isSo(Object.assign(new Error("an error"), { errcode: 1 }))).toBe(false);
  });
});
