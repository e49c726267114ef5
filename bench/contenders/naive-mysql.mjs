// MySQL by hand, with mysql2's own pool: one transaction per webhook, which inserts the event and updates the payment;
// with `order` also the row of its order. With `checkout` payments are created through POST /checkout/:n.
import { createServer } from "node:http";
import express from "express";
import mysql from "mysql2/promise";
import { addCheckout, startService } from "../harness/checkout.mjs";
import { mysqlDatabase } from "../harness/database.mjs";
import { listen } from "../harness/listen.mjs";
import { isSignedHex, signHex } from "../harness/sign.mjs";
import { paymentOf } from "../harness/webhooks.mjs";

export const sign = signHex;

export async function start(port, { order = false, checkout = false } = {}) {
  const database = await mysqlDatabase();
  const pool = mysql.createPool({ uri: database.url });
  await pool.query("create table events (id varchar(80) primary key, body blob not null)");
  const created = checkout
    ? ", reference varchar(80) unique, service_id varchar(80), checkout_url varchar(200)"
    : "";
  await pool.query(
    `create table payments (client_id varchar(80) primary key, status varchar(20) not null${created})`,
  );

  await pool.query("create table orders (id varchar(80) primary key, paid integer not null)");

  async function record(data, body) {
    const connection = await pool.getConnection();
    try {
      await connection.beginTransaction();
      const [{ affectedRows }] = await connection.execute(
        "insert ignore into events (id, body) values (?, ?)",
        [`${data.id}:${data.status}`, body],
      );
      if (affectedRows > 0) {
        await connection.execute("update payments set status = ? where client_id = ?", [
          data.status,
          data.clientId,
        ]);
        if (order) await connection.execute("update orders set paid = 1 where id = ?", [data.clientId]);
      }
      await connection.commit();
    } catch (error) {
      await connection.rollback();
      throw error;
    } finally {
      connection.release();
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
    const intend = "insert into payments (client_id, reference, status) values (?, ?, 'creating')";
    const answer =
      "update payments set status = 'pending', service_id = ?, checkout_url = ? where client_id = ?";
    addCheckout(app, service, {
      intend: ({ clientId, reference }) => pool.execute(intend, [clientId, reference]),
      answered: ({ clientId, serviceId, checkoutUrl }) =>
        pool.execute(answer, [serviceId, checkoutUrl, clientId]),
    });
  }

  const listening = await listen(createServer(app), port);
  return {
    ...listening,
    async prepare({ first, count }) {
      for (let from = first; from < first + count; from += 500) {
        const length = Math.min(500, first + count - from);
        const rows = Array.from({ length }, (_, n) => [paymentOf(from + n).clientId, "pending"]);
        if (!checkout) await pool.query("insert into payments (client_id, status) values ?", [rows]);
        const orders = Array.from({ length }, (_, n) => [paymentOf(from + n).clientId, 0]);
        if (order) await pool.query("insert into orders (id, paid) values ?", [orders]);
      }
    },
    async completed() {
      const [rows] = await pool.query("select count(*) as n from payments where status = 'completed'");
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
