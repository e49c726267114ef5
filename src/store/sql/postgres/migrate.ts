import { type Driver } from "../driver.js";
import { refuseNewer } from "../schema-version.js";
import { type Session } from "../sql-tx.js";
import { type Tables } from "../tables/names.js";
import { runTransaction } from "../transaction.js";
import { postgresMigrations } from "./migrations.js";

/** Brings the tables to the newest version in one transaction, under a lock of the kit's own. */
export async function migratePostgres<Raw>(driver: Driver<Raw>, tables: Tables): Promise<void> {
  const steps = postgresMigrations(tables);
  if (refuseNewer(await postgresVersion(driver.reader, tables), steps.length) === steps.length) return;
  await runTransaction(driver, async (tx) => {
    // Whoever starts at the same moment waits for the whole of it, and not only for `busyTimeoutMs`.
    await tx.run("set local lock_timeout = '60s'", []);
    await tx.run("select pg_advisory_xact_lock(hashtext(?))", [`tillkit ${tables.meta}`]);
    // Made before it is read: a plain look for the table may be answered from before the wait.
    await tx.run(
      `create table if not exists ${tables.meta} (name text primary key, value text not null)`,
      [],
    );
    const version = refuseNewer(await recordedVersion(tx, tables), steps.length);
    for (const step of steps.slice(version)) for (const statement of step) await tx.run(statement, []);
    await tx.run(
      `insert into ${tables.meta} (name, value) values ('version', ?)
        on conflict (name) do update set value = excluded.value`,
      [String(steps.length)],
    );
  });
}

/** The version of the tables; 0 where there are none. */
export async function postgresVersion(session: Session, tables: Tables): Promise<number> {
  const made = await session.run<{ made: boolean }>("select to_regclass(?) is not null as made", [
    tables.meta,
  ]);
  return made.rows[0]!.made ? recordedVersion(session, tables) : 0;
}

async function recordedVersion(session: Session, tables: Tables): Promise<number> {
  const sql = `select value from ${tables.meta} where name = 'version'`;
  const { rows } = await session.run<{ value: string }>(sql, []);
  return Number(rows[0]?.value ?? 0);
}
