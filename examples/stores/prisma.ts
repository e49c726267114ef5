// A store over one table of your own database, through Prisma. The model is in prisma/schema.prisma. In its migration, add the
// collation to the key, because keys are compared byte by byte:
//
//   create table payment_records (key text collate "C" primary key, value text not null, version integer not null);
import { type TransactionAdapter } from "tillkit";
import { type Prisma, type PrismaClient } from "./prisma/generated/client.js";

/** The handler's `tx` is Prisma's own transaction: `await tx.order.create({ data: … })`. */
export function prismaAdapter(prisma: PrismaClient): TransactionAdapter<Prisma.TransactionClient> {
  return {
    durable: true,
    async read(keys, tx = prisma) {
      return tx.paymentRecord.findMany({ where: { key: { in: [...keys] } } });
    },
    async scan({ from, to, limit, reverse }, tx = prisma) {
      const where = { key: { gte: from, lt: to } };
      return tx.paymentRecord.findMany({ where, orderBy: { key: reverse ? "desc" : "asc" }, take: limit });
    },
    // The kit ends a handler that takes too long. Prisma's own limit of five seconds would end some that may go on.
    transaction: (run) =>
      prisma.$transaction(
        async (tx) => {
          const result = await run(tx);
          // PostgreSQL answers the commit of a transaction in which a statement failed with ROLLBACK.
          await tx.$queryRaw`select 1`;
          return result;
        },
        // The database may have another default isolation level.
        { maxWait: 10_000, timeout: 3_600_000, isolationLevel: "ReadCommitted" },
      ),
    async write(changes, tx) {
      try {
        const [result] = await writeAll(tx, JSON.stringify(changes));
        return result?.done === changes.length;
      } catch (error) {
        // A deadlock with another transaction is a conflict too: PostgreSQL has ended this one.
        if (JSON.stringify(error).includes("40P01")) return false;
        throw error;
      }
    },
  };
}

/** One statement for all changes, so that a commit needs few round trips. */
const writeAll = (tx: Prisma.TransactionClient, changes: string) => tx.$queryRaw<{ done: number }[]>`
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
