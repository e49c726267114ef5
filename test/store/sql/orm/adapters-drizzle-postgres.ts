import { drizzle } from "drizzle-orm/node-postgres";
import { type PoolClient } from "pg";
import { type SqlTx } from "tillkit/sql";

/** Drizzle inside the kit's transaction; begins and commits nothing. */
export async function drizzleIn(tx: SqlTx) {
  return drizzle((await tx.raw) as PoolClient);
}
