// The least that a webhook can cost here, without a kit: the HMAC, JSON.parse and one transaction for all that arrived at the
// same time, on the pre-shaped server. No strict parsing, no reconciliation, no lock; two tables with one key each.
import { setImmediate as nextIteration } from "node:timers/promises";
import express from "express";
import pg from "pg";
import { postgresDatabase, sqliteDriver, sqliteFile } from "../harness/database.mjs";
import { kit } from "../harness/kit.mjs";
import { listen } from "../harness/listen.mjs";
import { isSignedHex, signHex } from "../harness/sign.mjs";
import { paymentOf } from "../harness/webhooks.mjs";

export const sign = signHex;

const reply = '{"received":true}';
const head = { "Content-Type": "application/json", "Content-Length": reply.length };

/** @param options `store`: memory, sqlite or postgres */
export async function start(port, { store }) {
  const database = await open[store]();
  let arrived = [];
  let isBusy = false;

  async function commit() {
    await nextIteration();
    while (arrived.length > 0) {
      const group = arrived;
      arrived = [];
      // A synchronous store needs no iteration of the event loop between two groups.
      const committing = database.record(group);
      if (committing) await committing;
      for (const { response } of group) response.writeHead(200, head).end(reply);
    }
    isBusy = false;
  }

  const app = express();
  app.post("/webhook", (request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      if (!isSignedHex(request, body)) return response.writeHead(401).end();
      const text = body.toString();
      const { data } = JSON.parse(text);
      arrived.push({ id: `${data.id}:${data.status}`, data, text, response });
      if (isBusy) return;
      isBusy = true;
      void commit();
    });
  });

  const listening = await listen(kit.createExpressServer(app), port);
  return {
    ...database,
    ...listening,
    async stop() {
      listening.stop();
      await database.drop?.();
    },
  };
}

const clientIds = ({ first, count }) =>
  Array.from({ length: count }, (_, n) => paymentOf(first + n).clientId);

const open = { memory, sqlite, postgres };

function memory() {
  const payments = new Map();
  const events = new Map();
  return {
    prepare: (which) => clientIds(which).forEach((id) => payments.set(id, "pending")),
    record(group) {
      for (const { id, data, text } of group) {
        if (events.has(id)) continue;
        events.set(id, text);
        payments.set(data.clientId, data.status);
      }
    },
    completed: () => [...payments.values()].filter((status) => status === "completed").length,
  };
}

async function sqlite() {
  const DatabaseSync = await sqliteDriver();
  const { file, drop } = sqliteFile();
  const database = new DatabaseSync(file);
  database.exec("pragma journal_mode = wal; pragma synchronous = full");
  database.exec("create table events (id text primary key, body text not null)");
  database.exec("create table payments (client_id text primary key, status text not null)");
  const begin = database.prepare("begin immediate");
  const commit = database.prepare("commit");
  const insertEvent = database.prepare("insert or ignore into events (id, body) values (?, ?)");
  const updatePayment = database.prepare("update payments set status = ? where client_id = ?");
  const insertPayment = database.prepare("insert into payments (client_id, status) values (?, 'pending')");
  return {
    prepare(which) {
      begin.run();
      for (const id of clientIds(which)) insertPayment.run(id);
      commit.run();
    },
    record(group) {
      begin.run();
      for (const { id, data, text } of group) {
        if (insertEvent.run(id, text).changes > 0) updatePayment.run(data.status, data.clientId);
      }
      commit.run();
    },
    completed: () =>
      Number(database.prepare("select count(*) as n from payments where status = 'completed'").all()[0].n),
    drop() {
      database.close();
      drop();
    },
  };
}

async function postgres() {
  const database = await postgresDatabase();
  const client = new pg.Client({ connectionString: database.url });
  client.on("error", () => {}); // Its database is dropped at the end.
  await client.connect();
  await client.query("create table events (id text primary key, body text not null)");
  await client.query("create table payments (client_id text primary key, status text not null)");
  const sql = `with given as (select * from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as g (id, body, client_id, status)),
    fresh as (insert into events select id, body from given on conflict do nothing returning id)
    update payments p set status = g.status from given g join fresh f using (id) where p.client_id = g.client_id`;
  return {
    async prepare(which) {
      await client.query("insert into payments select unnest($1::text[]), 'pending'", [clientIds(which)]);
      await client.query("analyze");
    },
    record: (group) =>
      client.query({
        name: "record",
        text: sql,
        values: [
          group.map(({ id }) => id),
          group.map((one) => one.text),
          group.map(({ data }) => data.clientId),
          group.map(({ data }) => data.status),
        ],
      }),
    async completed() {
      const { rows } = await client.query("select count(*) as n from payments where status = 'completed'");
      return Number(rows[0].n);
    },
    databaseCpuUs: () => database.cpuUs(),
    async drop() {
      await client.end();
      await database.drop();
    },
  };
}
