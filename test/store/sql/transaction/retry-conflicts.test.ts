import { mysqlDialect } from "../../../../src/store/sql/mysql/mysql-dialect.js";
import { retryConflicts, retryOwnConflicts } from "../../../../src/store/sql/transaction/retry-conflicts.js";

/** Runs a transaction that fails with these errors of MySQL, one after the other. Returns its result and the number of its runs. */
async function runFailing(errors: readonly object[]): Promise<[unknown, number]> {
  let runs = 0;
  const result: unknown = await retryConflicts(mysqlDialect, async () => {
    const error = errors[runs++];
    if (error) throw mysqlDialect.translate(error);
    return "committed";
  }).catch((error: unknown) => (error as { code?: unknown }).code);
  return [result, runs];
}

it.each([
  ["a deadlock", 1213],
  ["a refusal at the commit by group replication", 3101],
  ["a member of a cluster that is not ready", 1047],
])("runs a transaction again after %s", async (_, errno) => {
  const error = { errno, sqlState: "40001" };
  expect(await runFailing([error, error])).toEqual(["committed", 3]);
});

it("gives up after eight runs, with the last error", async () => {
  expect(await runFailing(Array.from({ length: 9 }, () => ({ errno: 1213, sqlState: "40001" })))).toEqual([
    "store_unavailable",
    8,
  ]);
});

it.each([
  [
    "the connection was lost, because the commit may have happened",
    { code: "ECONNRESET" },
    "store_unavailable",
  ],
  [
    "a lock was not free in time, because that has taken long",
    { errno: 1205, sqlState: "HY000" },
    "store_busy",
  ],
])("does not run a transaction again where %s", async (_, error, code) => {
  expect(await runFailing([error])).toEqual([code, 1]);
});

it("repeats a transaction of the application only after a conflict of the kit's own statements", async () => {
  const deadlock = { errno: 1213, sqlState: "40001" };
  const runsAfter = async (thrown: unknown): Promise<number> => {
    let runs = 0;
    const running = retryOwnConflicts(mysqlDialect, async () => {
      if (runs++ === 0) throw thrown;
    });
    await running.catch(() => undefined);
    return runs;
  };
  expect(await runsAfter(mysqlDialect.translate(deadlock))).toBe(2);
  // The application has seen the error of its own statement, and may have acted upon it.
  expect(await runsAfter(deadlock)).toBe(1);
});
