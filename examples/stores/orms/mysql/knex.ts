import createKnex, { type Knex } from "knex";
import { asPool, type SqlTx } from "tillkit/sql";
import { type Orders } from "../orders.js";

/** The shop's orders in the transaction of a handler, through Knex. */
export const ordersIn = (tx: SqlTx) => ordersOf(createKnex({ client: "mysql2", connectionPool: asPool(tx) }));

function ordersOf(db: Knex): Orders {
  return {
    add: async (reference: string): Promise<unknown> => db("orders").insert({ reference }),
    all: async (): Promise<unknown[]> => db("orders").select(),
    nested: (work) => db.transaction((inner) => work(ordersOf(inner))),
  };
}
