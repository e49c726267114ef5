import { randomUUID } from "node:crypto";
import { replicationWarning } from "../pooled/connections.js";
import { type Session } from "../driver/sql-tx.js";
import { type PostgresAnswer, type WatchedClient } from "./pool.js";

/**
 * Returns whether a pooler in front of the server may share sessions without translating the names of
 * prepared statements. Behind a pooler, the client's number differs from the session's number. If the pooler
 * translates names, the session has other names. Gives the client back.
 */
export async function sharesSessions({ client, ask, giveBack, abandon }: WatchedClient): Promise<boolean> {
  const query = client.query.bind(client) as (statement: unknown) => Promise<PostgresAnswer>;
  const run = async (statement: unknown): Promise<unknown[]> => (await ask(() => query(statement))).rows;
  try {
    const [{ number }] = (await run("select pg_backend_pid() as number")) as [{ number: number }];
    const isShared = number !== (client as { processID?: number }).processID && (await keepsNames(run));
    giveBack();
    return isShared;
  } catch (error) {
    abandon();
    throw error;
  }
}

async function keepsNames(run: (statement: unknown) => Promise<unknown[]>): Promise<boolean> {
  const name = `tillkit_${randomUUID()}`;
  // In one transaction, a pooler does not change the session.
  await run("begin");
  await run({ name, text: "select 1" });
  const { length } = await run(`select 1 from pg_prepared_statements where name = '${name}'`);
  if (length > 0) await run(`deallocate "${name}"`);
  await run("commit");
  return length > 0;
}

/** Returns warnings about settings with which a commit may be lost. */
export async function durabilityWarnings(session: Session): Promise<string[]> {
  const { rows } = await session.run<{ name: string; setting: string; standbys: unknown }>(
    `select name, setting, (select count(*) from pg_stat_replication r
        left join pg_replication_slots s on s.active_pid = r.pid
        where r.state is distinct from 'backup' and s.slot_type is distinct from 'logical') as standbys
      from pg_settings where name in
        ('synchronous_commit', 'fsync', 'full_page_writes', 'synchronous_standby_names') order by name`,
    [],
  );
  const isWeak = ({ name, setting }: (typeof rows)[number]): boolean =>
    setting === "off" || (name === "synchronous_commit" && setting === "local");
  const weak = rows
    .filter(isWeak)
    .map(({ name, setting }) => `PostgreSQL has ${name} = ${setting}: a commit may be lost in a crash.`);
  const waits = rows.every((row) => row.name !== "synchronous_standby_names" || row.setting !== "");
  const standbys = Number(rows[0]?.standbys ?? 0);
  return waits || standbys === 0 ? weak : [...weak, replicationWarning("PostgreSQL", standbys)];
}
