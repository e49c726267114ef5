import { eq } from "drizzle-orm";
import * as mysql from "drizzle-orm/mysql-core";
import * as postgres from "drizzle-orm/pg-core";
import { type SqlTx } from "tillkit/sql";
import { onEachServer } from "../../../promises/processes/databases.js";
import { drizzleIn as inMysql } from "./adapters-drizzle-mysql.js";
import { drizzleIn as inPostgres } from "./adapters-drizzle-postgres.js";
import { orderSentences, type Order } from "./order-sentences.js";

const inserts = {
  async postgres(tx: SqlTx, table: string, order: Order) {
    const orders = postgres.pgTable(table, {
      reference: postgres.varchar({ length: 64 }).notNull(),
      attempt: postgres.integer().notNull(),
    });
    const db = await inPostgres(tx);
    await db.insert(orders).values(order);
    const found = await db.select().from(orders).where(eq(orders.reference, order.reference));
    if (found[0]?.attempt !== order.attempt) throw new Error("Its own write is not seen.");
  },
  async mysql(tx: SqlTx, table: string, order: Order) {
    const orders = mysql.mysqlTable(table, {
      reference: mysql.varchar({ length: 64 }).notNull(),
      attempt: mysql.int().notNull(),
    });
    const db = await inMysql(tx);
    await db.insert(orders).values(order);
    const found = await db.select().from(orders).where(eq(orders.reference, order.reference));
    if (found[0]?.attempt !== order.attempt) throw new Error("Its own write is not seen.");
  },
};

onEachServer("Drizzle", (kind) => {
  describe("what a handler writes with Drizzle", () => {
    orderSentences({ kind, insert: inserts[kind] });
  });
});
