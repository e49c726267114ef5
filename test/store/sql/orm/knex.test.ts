import createKnex from "knex";
import { onEachDatabase } from "../../../promises/processes/databases.js";
import { knex, run } from "./adapters-knex.js";
import { orderSentences } from "./order-sentences.js";

const builders = {
  postgres: knex,
  mysql: createKnex({ client: "mysql2" }),
  sqlite: createKnex({ client: "better-sqlite3", useNullAsDefault: true }),
};

onEachDatabase("Knex", (kind) => {
  describe("what a handler writes with Knex", () => {
    orderSentences({
      kind,
      insert: async (tx, table, order) => {
        const knex = builders[kind];
        await run(tx, knex(table).insert(order));
        const { rows } = await run(tx, knex(table).where({ reference: order.reference }).select("attempt"));
        if (rows[0]?.["attempt"] !== order.attempt) throw new Error("Its own write is not seen.");
      },
    });
  });
});
