// SQLite by hand: Express, and one transaction per webhook, which inserts the event and updates the payment. WAL, and a
// sync at every commit.
import { createServer } from "node:http";
import express from "express";
import { addCheckout, startService } from "../harness/checkout.mjs";
import { sqliteDriver, sqliteFile } from "../harness/database.mjs";
import { listen } from "../harness/listen.mjs";
import { isSignedHex, signHex } from "../harness/sign.mjs";
import { paymentOf } from "../harness/webhooks.mjs";

export const sign = signHex;

/**
 * @param options `order`: also update the row of the order; `checkout`: payments are created through POST /checkout/:n; `pragmas`: use
 * the pragmas of the kit's store
 */
export async function start(port, { order = false, checkout = false, pragmas = false } = {}) {
  const DatabaseSync = await sqliteDriver();
  const { file, ...files } = sqliteFile();
  const database = new DatabaseSync(file);
  database.exec("pragma journal_mode = wal; pragma synchronous = full");
  database.exec("create table events (id text primary key, body blob not null)");
  if (pragmas) database.exec("pragma wal_autocheckpoint = 4000; pragma cache_size = -32768");
  const created = checkout ? ", reference text unique, service_id text, checkout_url text" : "";
  database.exec(`create table payments (client_id text primary key, status text not null${created})`);
  database.exec("create table orders (id text primary key, paid integer not null)");
  const begin = database.prepare("begin immediate");
  const commit = database.prepare("commit");
  const rollback = database.prepare("rollback");
  const insertEvent = database.prepare("insert or ignore into events (id, body) values (?, ?)");
  const updatePayment = database.prepare("update payments set status = ? where client_id = ?");
  const insertPayment = database.prepare("insert into payments (client_id, status) values (?, 'pending')");

  const insertOrder = database.prepare("insert into orders (id, paid) values (?, 0)");
  const payOrder = database.prepare("update orders set paid = 1 where id = ?");

  const app = express();
  app.post("/webhook", express.raw({ type: "application/json" }), (request, response) => {
    if (!isSignedHex(request, request.body)) return response.sendStatus(401);
    const { data } = JSON.parse(request.body.toString());
    begin.run();
    try {
      const { changes } = insertEvent.run(`${data.id}:${data.status}`, request.body);
      if (changes > 0) updatePayment.run(data.status, data.clientId);
      if (changes > 0 && order) payOrder.run(data.clientId);
      commit.run();
    } catch (error) {
      rollback.run();
      throw error;
    }
    response.json({ received: true });
  });

  const service = checkout ? await startService() : undefined;
  if (service) {
    const intend = database.prepare(
      "insert into payments (client_id, reference, status) values (?, ?, 'creating')",
    );
    const answer = database.prepare(
      "update payments set status = 'pending', service_id = ?, checkout_url = ? where client_id = ?",
    );
    addCheckout(app, service, {
      intend: ({ clientId, reference }) => intend.run(clientId, reference),
      answered: ({ clientId, serviceId, checkoutUrl }) => answer.run(serviceId, checkoutUrl, clientId),
    });
  }

  const listening = await listen(createServer(app), port);
  return {
    ...listening,
    prepare({ first, count }) {
      begin.run();
      for (let n = first; n < first + count; n++) {
        if (!checkout) insertPayment.run(paymentOf(n).clientId);
        if (order) insertOrder.run(paymentOf(n).clientId);
      }
      commit.run();
    },
    completed: () =>
      Number(database.prepare("select count(*) as n from payments where status = 'completed'").all()[0].n),
    databaseFigures: () => files.figures(),
    stop() {
      listening.stop();
      service?.stop();
      database.close();
      files.drop();
    },
  };
}
