import { PrismaPg } from "@prisma/adapter-pg";
import { Pool } from "pg";
import { type Handler } from "tillkit";
import { asPool, type SqlTx } from "tillkit/sql";
import { type Orders } from "./orders.js";
import { type Prisma, PrismaClient } from "./prisma/generated/client.js";

/** Prisma's client in the transaction of a handler. */
export const clientIn = (tx: SqlTx) => new PrismaClient({ adapter: new PrismaPg(asPool(tx, Pool)) });

/** A whole handler: the order commits with the mark that the payment was handled. */
export const fulfilOrder: Handler<"payment.completed"> = async ({ payment }, { tx }) => {
  await clientIn(tx).order.create({ data: { reference: payment.reference } });
};

/** The shop's orders in the transaction of a handler, through Prisma. */
export const ordersIn = (tx: SqlTx) => ordersOf(clientIn(tx));

function ordersOf(db: Prisma.TransactionClient): Orders {
  return {
    add: (reference: string) => db.order.create({ data: { reference } }),
    all: () => db.order.findMany(),
    nested: (work) => (db as PrismaClient).$transaction((inner) => work(ordersOf(inner))),
  };
}
