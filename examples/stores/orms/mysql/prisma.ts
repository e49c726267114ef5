import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { type Pool, Types } from "mysql2/promise";
import { asPool, type SqlTx } from "tillkit/sql";
import { type Orders } from "../orders.js";
import { type Prisma, PrismaClient } from "./prisma/generated/client.js";

const own = Types as unknown as Record<number, string>;
const names: Record<number, string> = { ...own, [Types.LONG]: "INT", [Types.LONGLONG]: "BIGINT" };

/** Prisma takes a pool of the package `mariadb`, whose results have their fields beside the rows. */
function toMariaDb(pool: Pool): object {
  const query = async (request: object, values: unknown[]) => {
    const exact = { supportBigNumbers: true, bigNumberStrings: true };
    const [result, fields] = await pool.query({ ...exact, ...request, values } as never);
    const meta = fields?.map(({ name, columnType, flags, characterSet: index }) => {
      return { name: () => name, type: names[columnType!], flags, collation: { index } };
    });
    return Object.assign(result, { meta });
  };
  const getConnection = async () => toMariaDb((await pool.getConnection()) as never);
  return Object.assign(Object.create(pool), { query, execute: query, getConnection });
}

/** The shop's orders in the transaction of a handler, through Prisma. */
export function ordersIn(tx: SqlTx) {
  return ordersOf(new PrismaClient({ adapter: new PrismaMariaDb(toMariaDb(asPool(tx))) }));
}

function ordersOf(db: Prisma.TransactionClient): Orders {
  return {
    add: (reference: string) => db.order.create({ data: { reference } }),
    all: () => db.order.findMany(),
    nested: (work) => (db as PrismaClient).$transaction((inner) => work(ordersOf(inner))),
  };
}
