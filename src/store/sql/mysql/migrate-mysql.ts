import { setTimeout as delay } from "node:timers/promises";
import { applyMissingSteps, isNewest, type Schema } from "../schema/migrate.js";
import { retryConflicts } from "../transaction/retry-conflicts.js";
import { type Session } from "../driver/sql-tx.js";
import { type Tables } from "../tables/names.js";
import { mysqlSchema } from "./migrations.js";
import { mysqlDialect } from "./mysql-dialect.js";

/**
 * The time after which another process takes over from a process that may have died. Both may run at the same
 * time, because each step can run again.
 */
const claimMs = 60_000;
const pollMs = 100;
/**
 * The maximum wait for the lock of a table. MySQL would wait a day for a long transaction, and meanwhile all
 * other statements on the table would wait behind the migration.
 */
const lockWaitSeconds = 60;

/**
 * Upgrades the tables to the newest version. One process does this, and the others wait. The process claims a
 * row, because `get_lock` is valid only on one server of a cluster.
 *
 * @param holder - The name of the claim. A call with the same name continues after a lost connection.
 */
export async function migrateMysql(session: Session, tables: Tables, holder: string): Promise<void> {
  const { rows } = await session.run<{ version: string }>("select version() as version", []);
  // Both collations compare exactly, including trailing spaces. The two servers name them differently.
  const collation = rows[0]!.version.includes("MariaDB") ? "utf8mb4_nopad_bin" : "utf8mb4_0900_bin";
  const schema = mysqlSchema(tables, collation);
  const repeated = repeatable(session);
  while (!(await isNewest(repeated, schema))) {
    if (!(await claim(repeated, schema, holder))) {
      await delay(pollMs);
      continue;
    }
    try {
      await withShortLockWaits(session, () => applyMissingSteps(repeated, schema));
    } finally {
      await repeated.run(`delete from ${tables.meta} where name = 'migrating' and value like ?`, [
        `${holder} %`,
      ]);
    }
  }
}

/** Runs with a low limit of waits for the locks of tables. The session may belong to the application. */
async function withShortLockWaits(session: Session, run: () => Promise<void>): Promise<void> {
  const { rows } = await session.run<{ seconds: unknown }>("select @@lock_wait_timeout as seconds", []);
  const before = Number(rows[0]!.seconds);
  const set = (seconds: number) => session.run(`set session lock_wait_timeout = ${seconds}`, []);
  await set(Math.min(before, lockWaitSeconds));
  try {
    await run();
  } finally {
    await set(before);
  }
}

/** Claims the migration by an insert. Resolves `false` if another holder has a valid claim. */
async function claim(
  session: Session,
  { tables: { meta }, createMeta }: Schema,
  holder: string,
): Promise<boolean> {
  const { now } = mysqlDialect;
  await session.run(createMeta, []);
  await session.run(
    `delete from ${meta} where name = 'migrating'
      and (value like ? or substring_index(value, ' ', -1) < ${now})`,
    [`${holder} %`],
  );
  const { affected } = await session.run(
    `insert ignore into ${meta} (name, value) values ('migrating', concat(?, ' ', ${now} + ${claimMs}))`,
    [holder],
  );
  return affected === 1;
}

/**
 * Returns the session for statements that may run again: the session repeats them after conflicts. It ignores
 * columns and keys that an interrupted step has already made or dropped.
 */
function repeatable(session: Session): Session {
  const run = async (sql: string, params: readonly unknown[]) => {
    try {
      return await retryConflicts(mysqlDialect, () => session.run(sql, params));
    } catch (error) {
      const [duplicateColumn, duplicateKey, missingKey] = [1060, 1061, 1091];
      const { errno = 0 } = error as { errno?: number };
      if (![duplicateColumn, duplicateKey, missingKey].includes(errno)) throw error;
      return { rows: [], affected: 0 };
    }
  };
  return { run: run as Session["run"] };
}
