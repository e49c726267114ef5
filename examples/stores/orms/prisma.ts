import { PrismaPg } from "@prisma/adapter-pg";
import { Pool } from "pg";
import { type Handler } from "tillkit";
import { asPool, type SqlTx } from "tillkit/sql";
import { PrismaClient } from "./prisma/generated/client.js";

export const clientIn = (tx: SqlTx) => new PrismaClient({ adapter: new PrismaPg(asPool(tx, Pool)) });

export const fulfilOrder: Handler<"payment.completed"> = async ({ payment }, { tx }) => {
  await clientIn(tx).order.update({ where: { reference: payment.reference }, data: { paid: true } });
};
