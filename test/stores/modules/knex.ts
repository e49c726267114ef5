import createKnex, { type Knex } from "knex";
import { knexAdapter } from "../../../examples/stores/knex.js";
import { postgresSchema } from "./postgres-schema.js";
import { type StoreModule } from "./store-module.js";

/** Makes the store of the Knex example. */
export const create: StoreModule<Knex.Transaction>["create"] = ({ prefix }, { storeOver }) => {
  const { connection, prepare, rows, remove } = postgresSchema(prefix);
  const knex = createKnex({ client: "pg", connection });
  return {
    store: storeOver({ ...knexAdapter(knex), close: () => knex.destroy() }),
    write: (tx, row) => tx("ledger").insert(row),
    prepare,
    rows,
    remove,
  };
};
