// A store over one table of your own database, through Knex. Add the table with a migration:
//
//   create table payment_records (
//     key text collate "C" primary key,
//     value text not null,
//     version integer not null
//   );
import { type Knex } from "knex";
import { type StoredRecord, type TransactionAdapter } from "tillkit";

/** The handler's `tx` is Knex's own transaction: `await tx("orders").insert(…)`. */
export function knexAdapter(knex: Knex): TransactionAdapter<Knex.Transaction> {
  const records = (tx: Knex = knex) => tx<StoredRecord>("payment_records").select("key", "value", "version");
  return {
    durable: true,
    async read(keys, tx) {
      return records(tx).whereIn("key", keys);
    },
    async scan({ from, to, limit, reverse }, tx) {
      const range = records(tx).where("key", ">=", from).where("key", "<", to);
      return range.orderBy("key", reverse ? "desc" : "asc").limit(limit);
    },
    transaction: (run) =>
      knex.transaction(
        async (tx) => {
          const result = await run(tx);
          // PostgreSQL answers the commit of a transaction in which a statement failed with ROLLBACK, and Knex does not look.
          await tx.raw("select 1");
          return result;
        },
        { isolationLevel: "read committed" }, // The database may have another default.
      ),
    async write(changes, tx) {
      try {
        const { rows } = await tx.raw(writeAll, [JSON.stringify(changes)]);
        return rows[0].done === changes.length;
      } catch (error) {
        // A deadlock with another transaction is a conflict too: PostgreSQL has ended this one.
        if ((error as { code?: unknown }).code === "40P01") return false;
        throw error;
      }
    },
  };
}

/** One statement for all changes, so that a commit needs few round trips. */
const writeAll = `
  with change as (
    select * from json_to_recordset(?::json) as change (key text, version integer, value text)
  ), added as (
    insert into payment_records (key, value, version)
    select key, value, 1 from change where version = 0
    on conflict do nothing returning 1
  ), changed as (
    update payment_records r set value = c.value, version = r.version + 1 from change c
    where r.key = c.key and r.version = c.version and c.value is not null returning 1
  ), removed as (
    delete from payment_records r using change c
    where r.key = c.key and r.version = c.version and c.value is null returning 1
  )
  select ((select count(*) from added) + (select count(*) from changed) + (select count(*) from removed))::int as done`;
