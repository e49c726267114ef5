import { drizzle } from "drizzle-orm/node-postgres";
import { pgTable, text } from "drizzle-orm/pg-core";
import { Pool } from "pg";
import { asPool, type SqlTx } from "tillkit/sql";
import { type Orders } from "./orders.js";

const orders = pgTable("orders", { reference: text().primaryKey() });

/** The shop's orders in the transaction of a handler, through Drizzle. */
export const ordersIn = (tx: SqlTx) => ordersOf(drizzle(asPool(tx, Pool)));

function ordersOf(db: Pick<ReturnType<typeof drizzle>, "insert" | "select" | "transaction">): Orders {
  return {
    add: (reference: string) => db.insert(orders).values({ reference }).execute(),
    all: () => db.select().from(orders).execute(),
    nested: (work) => db.transaction((inner) => work(ordersOf(inner))),
  };
}
