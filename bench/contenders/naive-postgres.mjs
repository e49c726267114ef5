// PostgreSQL by hand, with pg's own pool and named statements: one transaction per webhook, which inserts the event and updates the
// payment; with `order` also the row of its order. With `checkout` payments are created through POST /checkout/:n.
import { createServer } from "node:http";
import express from "express";
import pg from "pg";
import { addCheckout, startService } from "../harness/checkout.mjs";
import { postgresDatabase } from "../harness/database.mjs";
import { listen } from "../harness/listen.mjs";
import { isSignedHex, signHex } from "../harness/sign.mjs";
import { paymentOf } from "../harness/webhooks.mjs";

export const sign = signHex;

export async function start(port, { order = false, checkout = false } = {}) {
  const database = await postgresDatabase();
  const pool = new pg.Pool({ connectionString: database.url, idleTimeoutMillis: 0 });
  pool.on("error", () => {}); // Its database is dropped at the end.
  await pool.query("create table events (id text primary key, body bytea not null)");
  const created = checkout ? ", reference text unique, service_id text, checkout_url text" : "";
  await pool.query(`create table payments (client_id text primary key, status text not null${created})`);
  if (order) await pool.query("create table orders (id text primary key, paid integer not null)");

  async function record(data, body) {
    const client = await pool.connect();
    try {
      await client.query("begin");
      const insert = "insert into events (id, body) values ($1, $2) on conflict do nothing";
      const values = [`${data.id}:${data.status}`, body];
      const { rowCount } = await client.query({ name: "event", text: insert, values });
      if (rowCount > 0) {
        const update = "update payments set status = $1 where client_id = $2";
        await client.query({ name: "payment", text: update, values: [data.status, data.clientId] });
        const pay = "update orders set paid = 1 where id = $1";
        if (order) await client.query({ name: "order", text: pay, values: [data.clientId] });
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

  const service = checkout ? await startService() : undefined;
  if (service) {
    const intend = "insert into payments (client_id, reference, status) values ($1, $2, 'creating')";
    const answer =
      "update payments set status = 'pending', service_id = $1, checkout_url = $2 where client_id = $3";
    addCheckout(app, service, {
      intend: ({ clientId, reference }) =>
        pool.query({ name: "intent", text: intend, values: [clientId, reference] }),
      answered: ({ clientId, serviceId, checkoutUrl }) =>
        pool.query({ name: "answer", text: answer, values: [serviceId, checkoutUrl, clientId] }),
    });
  }

  const listening = await listen(createServer(app), port);
  return {
    ...listening,
    async prepare({ first, count }) {
      const ids = Array.from({ length: count }, (_, n) => paymentOf(first + n).clientId);
      if (!checkout) await pool.query("insert into payments select unnest($1::text[]), 'pending'", [ids]);
      if (order) await pool.query("insert into orders select unnest($1::text[]), 0", [ids]);
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
      service?.stop();
      await pool.end();
      await database.drop();
    },
  };
}
