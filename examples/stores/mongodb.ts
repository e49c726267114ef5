// A store in one collection of MongoDB 4.4 or newer. It must be a replica set, also of one server: only there are transactions.
// The driver is that of your application: `client.db()`, or Mongoose's `connection.getClient().db()`.
import { type AnyBulkWriteOperation, type ClientSession, type Db, type TransactionOptions } from "mongodb";
import { type BatchAdapter, type RecordChange, TillkitError } from "tillkit";

/** A write of a handler: `tx.add((session) => orders.updateOne({ _id }, { $set: { paid: true } }, { session }))`. */
export type MongoWrite = (session: ClientSession) => Promise<unknown>;

type Stored = { _id: string; version: number; value: string };
const settings: TransactionOptions = {
  readConcern: { level: "snapshot" },
  writeConcern: { w: "majority", journal: true },
  readPreference: "primary", // The address may name another one.
};

export function mongodbAdapter(
  db: Db,
  name = "payment_records",
  timeoutMs = 10_000,
): BatchAdapter<MongoWrite> {
  const records = db.collection<Stored>(name, { readConcern: "majority", readPreference: "primary" });
  const hello = () => db.command({ hello: 1 }, { readPreference: "primary" });

  /** Makes the kit's changes. The server has aborted the transaction where a new record is there already. */
  async function change(changes: readonly RecordChange[], session: ClientSession): Promise<boolean> {
    if (changes.length === 0) return true;
    try {
      const done = await records.bulkWrite(changes.map(operationOf), { session });
      return done.insertedCount + done.modifiedCount + done.deletedCount === changes.length;
    } catch (error) {
      if ((error as { code?: unknown }).code === 11000) return false;
      throw error;
    }
  }

  return {
    durable: true,
    read: async (keys) => (await records.find({ _id: { $in: [...keys] } }).toArray()).map(recordOf),
    async scan({ from, to, limit, reverse }) {
      const range = records.find({ _id: { $gte: from, $lt: to } }).sort({ _id: reverse ? -1 : 1 });
      return (await range.limit(limit).toArray()).map(recordOf);
    },
    async write(changes, writes) {
      const until = performance.now() + timeoutMs;
      return db.client.withSession((session) =>
        // Runs it again after a conflict with an open transaction, and sends a commit again whose answer was lost.
        session.withTransaction(async () => {
          if (performance.now() > until) throw new Error(`MongoDB did not commit within ${timeoutMs} ms.`);
          if (!(await change(changes, session))) {
            await session.abortTransaction();
            return false;
          }
          try {
            for (const write of writes) await write(session);
          } catch (cause) {
            throw refusalOf(cause as Error);
          }
          return true;
        }, settings),
      );
    },
    now: async () => ((await hello())["localTime"] as Date).getTime(),
    async migrate() {
      const { setName, msg } = await hello();
      if (setName === undefined && msg !== "isdbgrid")
        throw new Error(
          "This MongoDB is a single server, which has no transactions. Start it with --replSet, and call rs.initiate() once.",
        );
      // Keys are compared byte by byte, also where the application gave its database another order.
      await db
        .createCollection(name, { collation: { locale: "simple" } })
        .catch((error: { code?: unknown }) => {
          if (error.code !== 48) throw error; // It is there already.
        });
    },
  };
}

const recordOf = ({ _id, version, value }: Stored) => ({ key: _id, version, value });

function operationOf({ key: _id, version, value }: RecordChange): AnyBulkWriteOperation<Stored> {
  if (value === null) return { deleteOne: { filter: { _id, version } } };
  if (version === 0) return { insertOne: { document: { _id, version: 1, value } } };
  return { replaceOne: { filter: { _id, version }, replacement: { version: version + 1, value } } };
}

/** A conflict or a lost connection stays what it is: the transaction runs again. Any other error is the handler's. */
function refusalOf(cause: Error & { hasErrorLabel?(label: string): boolean }): Error {
  if (cause.hasErrorLabel?.("TransientTransactionError")) return cause;
  return new TillkitError("store_conflict", cause.message, { cause });
}
