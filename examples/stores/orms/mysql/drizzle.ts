import { drizzle } from "drizzle-orm/mysql2";
import { mysqlTable, varchar } from "drizzle-orm/mysql-core";
import { type Pool } from "mysql2/promise";
import { asPool, type SqlTx } from "tillkit/sql";
import { type Orders } from "../orders.js";

const orders = mysqlTable("orders", { reference: varchar({ length: 64 }).primaryKey() });

/** The shop's orders in the transaction of a handler, through Drizzle. */
export const ordersIn = (tx: SqlTx) => ordersOf(drizzle(asPool<Pool>(tx)));

function ordersOf(db: Pick<ReturnType<typeof drizzle>, "insert" | "select" | "transaction">): Orders {
  return {
    add: (reference: string) => db.insert(orders).values({ reference }).execute(),
    all: () => db.select().from(orders).execute(),
    nested: (work) => db.transaction((inner) => work(ordersOf(inner))),
  };
}
