import { Kysely, PostgresDialect } from "kysely";
import { Pool } from "pg";
import { asPool, type SqlTx } from "tillkit/sql";
import { type Orders } from "./orders.js";

interface Shop {
  orders: { reference: string };
}

/** The shop's orders in the transaction of a handler, through Kysely. */
export function ordersIn(tx: SqlTx) {
  return ordersOf(new Kysely<Shop>({ dialect: new PostgresDialect({ pool: asPool(tx, Pool) }) }));
}

function ordersOf(db: Kysely<Shop>): Orders {
  return {
    add: (reference: string) => db.insertInto("orders").values({ reference }).execute(),
    all: () => db.selectFrom("orders").selectAll().execute(),
    nested: (work) => db.transaction().execute((inner) => work(ordersOf(inner))),
  };
}
