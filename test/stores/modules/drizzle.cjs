// In JavaScript, because the types of a second copy of Drizzle are not those of the example's.
const path = require("node:path");
const { Pool } = require("pg");

const examples = path.resolve(__dirname, "../../../examples/stores");
const fromExamples = (name) => require(require.resolve(name, { paths: [examples] }));
const { drizzle } = fromExamples("drizzle-orm/node-postgres");
const { integer, pgTable, text } = fromExamples("drizzle-orm/pg-core");
const { drizzleAdapter } = require("../../../examples/stores/drizzle.ts");
const { postgresSchema } = require("./postgres-schema.ts");

const names = ["client_id", "reference", "event_id", "idempotency_key"];
const ledger = pgTable("ledger", {
  ...Object.fromEntries(names.map((name) => [name, text().notNull()])),
  attempt: integer().notNull(),
});

/** Makes the store of the Drizzle example. */
module.exports.create = ({ prefix }, { storeOver }) => {
  const { connection, prepare, rows, remove } = postgresSchema(prefix);
  const pool = new Pool(connection);
  return {
    store: storeOver({ ...drizzleAdapter(drizzle(pool)), close: () => pool.end() }),
    write: (tx, row) => tx.insert(ledger).values(row),
    prepare,
    rows,
    remove,
  };
};
