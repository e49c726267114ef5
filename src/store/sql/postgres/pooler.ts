import { randomUUID } from "node:crypto";
import { type PostgresAnswer, type PostgresClient } from "./pool.js";

type Named = string | { name: string; text: string };
type Query = (statement: Named) => Promise<PostgresAnswer>;

/**
 * Returns whether a pooler is in front of the server that may share its sessions, and does not translate the names of prepared statements.
 * The client of a pooler has another number than its session; one that translates names gives the session names of its own.
 */
export async function sharesSessions(client: PostgresClient, query: Query): Promise<boolean> {
  const { processID } = client as { processID?: number };
  const { rows } = await query("select pg_backend_pid() as number");
  if ((rows[0] as { number: number }).number === processID) return false;
  const name = `tillkit_${randomUUID()}`;
  // One transaction stays in one session.
  await query("begin");
  await query({ name, text: "select 1" });
  const found = await query(`select 1 from pg_prepared_statements where name = '${name}'`);
  if (found.rows.length > 0) await query(`deallocate "${name}"`);
  await query("commit");
  return found.rows.length > 0;
}
