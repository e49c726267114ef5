// PostgreSQL by hand, with pg's own pool: one transaction per webhook, which inserts the event and updates the payment; with
// `order` also the row of its order, by named statements.
import { createServer } from "node:http";
import express from "express";
import pg from "pg";
import { postgresDatabase } from "../harness/database.mjs";
import { listen } from "../harness/listen.mjs";
import { isSignedHex, signHex } from "../harness/sign.mjs";
import { paymentOf } from "../harness/webhooks.mjs";

export const sign = signHex;

export async function start(port, { order = false } = {}) {
  const database = await postgresDatabase();
  const pool = new pg.Pool({ connectionString: database.url, idleTimeoutMillis: 0 });
  pool.on("error", () => {}); // Its database is dropped at the end.
  await pool.query("create table events (id text primary key, body bytea not null)");
  await pool.query("create table payments (client_id text primary key, status text not null)");

  if (order) await pool.query("create table orders (id text primary key, paid integer not null)");
  const statement = (name, text, values) => (order ? { name, text, values } : { text, values });

  async function record(data, body) {
    const client = await pool.connect();
    try {
      await client.query("begin");
      const insert = "insert into events (id, body) values ($1, $2) on conflict do nothing";
      const { rowCount } = await client.query(
        statement("event", insert, [`${data.id}:${data.status}`, body]),
      );
      if (rowCount > 0) {
        const update = "update payments set status = $1 where client_id = $2";
        await client.query(statement("payment", update, [data.status, data.clientId]));
        const pay = "update orders set paid = 1 where id = $1";
        if (order) await client.query(statement("order", pay, [data.clientId]));
      }
      await client.query("commit");
    } catch (error) {
      await client.query("rollback");
      throw error;
    } finally {
      client.release();
    }
  }

  const app = express();
  app.post("/webhook", express.raw({ type: "application/json" }), async (request, response) => {
    if (!isSignedHex(request, request.body)) return response.sendStatus(401);
    const { data } = JSON.parse(request.body.toString());
    await record(data, request.body);
    response.json({ received: true });
  });

  const listening = await listen(createServer(app), port);
  return {
    ...listening,
    async prepare({ first, count }) {
      const clientIds = Array.from({ length: count }, (_, n) => paymentOf(first + n).clientId);
      await pool.query("insert into payments select unnest($1::text[]), 'pending'", [clientIds]);
      if (order) {
        const ids = Array.from({ length: count }, (_, n) => paymentOf(first + n).clientId);
        await pool.query("insert into orders select unnest($1::text[]), 0", [ids]);
      }
      await pool.query("analyze");
    },
    async completed() {
      const { rows } = await pool.query("select count(*) as n from payments where status = 'completed'");
      return Number(rows[0].n);
    },
    databaseCpuUs: () => database.cpuUs(),
    databaseFigures: () => database.figures(),
    async stop() {
      listening.stop();
      await pool.end();
      await database.drop();
    },
  };
}
