import { type PoolClient } from "pg";
import { type PoolConnection } from "mysql2/promise";
import { type SqliteDatabase, type SqlTx } from "tillkit/sql";
import { onEachDatabase, placeholders } from "../../../promises/processes/databases.js";
import { orderSentences, type Order } from "./order-sentences.js";

const throughRaw = {
  sqlite: async (tx: SqlTx, table: string, { reference, attempt }: Order) => {
    const database = (await tx.raw) as SqliteDatabase;
    database.prepare(`insert into ${table} (reference, attempt) values (?, ?)`).run(reference, attempt);
  },
  postgres: async (tx: SqlTx, table: string, { reference, attempt }: Order) => {
    const client = (await tx.raw) as PoolClient;
    const text = `insert into ${table} (reference, attempt) values ($1, $2)`;
    await client.query({ text, values: [reference, attempt] });
  },
  mysql: async (tx: SqlTx, table: string, { reference, attempt }: Order) => {
    const connection = (await tx.raw) as PoolConnection;
    await connection.execute(`insert into ${table} (reference, attempt) values (?, ?)`, [reference, attempt]);
  },
};

onEachDatabase("the application's own statements", (kind) => {
  describe("what a handler writes with tx.query", () => {
    orderSentences({
      kind,
      insert: (tx, table, { reference, attempt }) =>
        tx.query(`insert into ${table} (reference, attempt) values (${placeholders(tx, 2)})`, [
          reference,
          attempt,
        ]),
    });
  });

  describe("what a handler writes with the driver's own handle, tx.raw", () => {
    orderSentences({ kind, insert: throughRaw[kind] });
  });
});
