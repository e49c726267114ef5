import { PrismaPg } from "@prisma/adapter-pg";
import { Pool } from "pg";
import { asPool, type SqlTx } from "tillkit/sql";
import { type Orders } from "./orders.js";
import { type Prisma, PrismaClient } from "./prisma/generated/client.js";

/** The shop's orders in the transaction of a handler, through Prisma. */
export function ordersIn(tx: SqlTx) {
  return ordersOf(new PrismaClient({ adapter: new PrismaPg(asPool(tx, Pool)) }));
}

function ordersOf(db: Prisma.TransactionClient): Orders {
  return {
    add: (reference: string) => db.order.create({ data: { reference } }),
    all: () => db.order.findMany(),
    nested: (work) => (db as PrismaClient).$transaction((inner) => work(ordersOf(inner))),
  };
}
