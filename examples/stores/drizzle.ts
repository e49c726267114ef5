// A store over one table of your own database, through Drizzle. Keys are compared byte by byte, so add the collation to the migration:
//
//   create table payment_records (key text collate "C" primary key, value text not null, version integer not null);
import { and, asc, desc, gte, inArray, lt, sql } from "drizzle-orm";
import { type NodePgDatabase } from "drizzle-orm/node-postgres";
import { integer, pgTable, text } from "drizzle-orm/pg-core";
import { type TransactionAdapter } from "tillkit";

const records = pgTable("payment_records", {
  key: text().primaryKey(),
  value: text().notNull(),
  version: integer().notNull(),
});

/** Drizzle's own transaction: `await tx.insert(orders).values(…)` in a handler. */
export type DrizzleTx = Parameters<Parameters<NodePgDatabase["transaction"]>[0]>[0];

export function drizzleAdapter(db: NodePgDatabase): TransactionAdapter<DrizzleTx> {
  return {
    durable: true,
    async read(keys, tx) {
      const isWanted = inArray(records.key, [...keys]);
      return (tx ?? db).select().from(records).where(isWanted);
    },
    async scan({ from, to, limit, reverse }, tx) {
      const range = and(gte(records.key, from), lt(records.key, to));
      const order = reverse ? desc(records.key) : asc(records.key);
      return (tx ?? db).select().from(records).where(range).orderBy(order).limit(limit);
    },
    async transaction(run) {
      let isEnded = false;
      // Drizzle does not refuse a statement after the end, when another transaction may use the connection.
      const get = (tx: DrizzleTx, name: string | symbol): unknown => {
        if (isEnded) throw new Error("This transaction has ended.");
        return Reflect.get(tx, name);
      };
      const transacting = db.transaction(
        async (tx) => {
          const result = await run(new Proxy(tx, { get }));
          // PostgreSQL answers the commit of a transaction in which a statement failed with ROLLBACK, and Drizzle does not look.
          await tx.execute(sql`select 1`);
          return result;
        },
        { isolationLevel: "read committed" }, // The database may have another default.
      );
      return transacting.finally(() => (isEnded = true));
    },
    async write(changes, tx) {
      try {
        const { rows } = await tx.execute<{ done: number }>(writeAll(JSON.stringify(changes)));
        return rows[0]?.done === changes.length;
      } catch (error) {
        // A deadlock with another transaction is a conflict too: PostgreSQL has ended this one.
        if ((error as { cause?: { code?: unknown } }).cause?.code === "40P01") return false;
        throw error;
      }
    },
  };
}

/** One statement for all changes, so that a commit needs few round trips. */
const writeAll = (changes: string) => sql`
  with change as (
    select * from json_to_recordset(${changes}::json) as change (key text, version integer, value text)
  ), added as (
    insert into payment_records (key, value, version)
    select key, value, 1 from change where version = 0 on conflict do nothing returning 1
  ), changed as (
    update payment_records r set value = c.value, version = r.version + 1 from change c
    where r.key = c.key and r.version = c.version and c.value is not null returning 1
  ), removed as (
    delete from payment_records r using change c
    where r.key = c.key and r.version = c.version and c.value is null returning 1
  )
  select ((select count(*) from added) + (select count(*) from changed) + (select count(*) from removed))::int as done`;
