import { drizzle } from "drizzle-orm/mysql2";
import { type PoolConnection } from "mysql2/promise";
import { type SqlTx } from "tillkit/sql";

/** Drizzle inside the kit's transaction; begins and commits nothing. */
export async function drizzleIn(tx: SqlTx) {
  return drizzle((await tx.raw) as PoolConnection);
}
