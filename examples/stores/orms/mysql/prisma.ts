import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { type FieldPacket, type Pool, type TypeCastField, Types } from "mysql2/promise";
import { type Handler } from "tillkit";
import { asPool, type SqlTx } from "tillkit/sql";
import { PrismaClient } from "./prisma/generated/client.js";

const own = Types as unknown as Record<number, string>;
const names: Record<number, string> = { ...own, [Types.LONG]: "INT", [Types.LONGLONG]: "BIGINT" };
/** MariaDB has JSON as text with a format, which newer versions of mysql2 tell. */
type Field = FieldPacket & { extendedFormat?: string };
const isJson = (field: { type: string; extendedFormat?: string }) =>
  field.type === "JSON" || field.extendedFormat === "json";
const typeCast = (field: TypeCastField, next: () => unknown) =>
  isJson(field) ? field.string("utf8") : next();

/** Prisma takes a pool of the package `mariadb`, whose results have their fields beside the rows. */
function toMariaDb(pool: Pool): object {
  const query = async (request: object, values: unknown[]) => {
    const exact = { supportBigNumbers: true, bigNumberStrings: true, typeCast };
    const [result, fields] = await pool.query({ ...request, ...exact, values } as never);
    const meta = fields?.map(({ name, columnType, flags, characterSet: index, ...more }: Field) => {
      const type = { type: names[columnType!], dataTypeFormat: more.extendedFormat };
      return { name: () => name, ...type, flags, collation: { index } };
    });
    return Object.assign(result, { meta });
  };
  const getConnection = async () => toMariaDb((await pool.getConnection()) as never);
  return Object.assign(Object.create(pool), { query, execute: query, getConnection });
}

/** Prisma's client in the transaction of a handler. */
export const clientIn = (tx: SqlTx) =>
  new PrismaClient({ adapter: new PrismaMariaDb(toMariaDb(asPool(tx))) });

/** Marks the order as paid. */
export const fulfilOrder: Handler<"payment.completed"> = async ({ payment }, { tx }) => {
  await clientIn(tx).order.update({ where: { reference: payment.reference }, data: { paid: true } });
};
