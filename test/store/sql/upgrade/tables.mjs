import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(import.meta.url);
const tableNames = ["payments", "webhooks", "events", "handlers", "dispatches", "resolutions", "notes"];
const run = (store, sql) => store.transaction((tx) => tx.query(sql));

/** Drops the tables, which the store makes in its newest version, and makes those of version 1. */
export async function oldTables(kit, kind, store) {
  await store.migrate();
  const { tablesUnder } = require(path.join(kit, "store/sql/tables/names.js"));
  const module = require(path.join(kit, `store/sql/${kind}/migrations.js`));
  const tables = tablesUnder("tillkit_");
  for (const name of tableNames) await run(store, `drop table if exists ${tables[name]}`);
  await run(store, `delete from ${tables.meta}`);
  const [first] = module[`${kind}Schema`](tables, await collationOf(kind, store)).steps;
  for (const statement of first) await run(store, statement);
  await run(store, `insert into ${tables.meta} (name, value) values ('version', '1')`);
}

async function collationOf(kind, store) {
  if (kind !== "mysql") return "";
  const { rows } = await run(store, "select version() as version");
  return rows[0].version.includes("MariaDB") ? "utf8mb4_nopad_bin" : "utf8mb4_0900_bin";
}

/** The digits of a number, from the lowest; one statement makes at most 100,000 rows of them. */
const digits =
  "(select 0 as d union all select 1 union all select 2 union all select 3 union all select 4 union all \
select 5 union all select 6 union all select 7 union all select 8 union all select 9)";
const rowsOfStatement = 100_000;
const numbers = `(select a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d as i,
  concat(a.d, b.d, c.d, e.d, f.d) as scattered
  from ${digits} a cross join ${digits} b cross join ${digits} c cross join ${digits} e cross join ${digits} f) n`;

/** Adds payments. One in a hundred is open; each other one has a webhook, an event, and a dispatch that is done. */
export async function fill(kind, store, payments) {
  await run(store, "insert into tillkit_handlers (event, name) values ('payment.completed', 'orders')");
  for (let from = 0; from < payments; from += rowsOfStatement) {
    const rows = Math.min(rowsOfStatement, payments - from);
    for (const sql of statements(kind, from / rowsOfStatement, rows)) await run(store, sql);
  }
}

/** An expression of the bytes of a text. */
const bytesOf = {
  sqlite: (text) => `cast(${text} as blob)`,
  postgres: (text) => `convert_to(${text}, 'UTF8')`,
  mysql: (text) => text,
};

function statements(kind, part, rows) {
  // Scattered, as the clientIds of a shop are.
  const id = `concat(n.scattered, '-c0ffee-', ${part})`;
  const at = `concat('2026-0', 1 + i % 9, '-', 10 + i % 18, 'T1', i % 10, ':00:00.000Z')`;
  const body = `concat('{"topic":"payment.completed","type":"payment","data":{"status":"completed","total":{"value":"1475"},"clientId":"', ${id}, '"}}')`;
  const open = `from ${numbers} where i < ${rows} and i % 100 = 0`;
  const paid = `from ${numbers} where i < ${rows} and i % 100 <> 0`;
  const columns =
    "client_id, reference, total_value, total_currency, state, service_id, created_at, updated_at";
  return [
    `insert into tillkit_payments (${columns}, open_reference, awaited_since)
      select ${id}, concat('order-', ${id}), '1475', 'KMF', 'pending', concat('s-', ${id}), ${at}, ${at},
      concat('order-', ${id}), ${at} ${open}`,
    `insert into tillkit_payments (${columns}, completed_at, status)
      select ${id}, concat('order-', ${id}), '1475', 'KMF', 'completed', concat('s-', ${id}), ${at}, ${at}, ${at}, 'completed' ${paid}`,
    `insert into tillkit_webhooks (receipt_id, event_key, outcome, client_id, status, raw_body, covers, received_at)
      select concat('r-', ${id}), concat('k-', ${id}), 'applied', ${id}, 'completed',
      ${bytesOf[kind](body)},
      'body', ${at} ${paid}`,
    `insert into tillkit_events (id, type, client_id, recorded_at, payload)
      select concat('e-', ${id}), 'payment.completed', ${id}, ${at}, concat('{"payment":{"clientId":"', ${id}, '"}}') ${paid}`,
    `insert into tillkit_dispatches (event_id, handler, event_type, event_seq, state, attempt, failures, fence)
      select concat('e-', ${id}), 'orders', 'payment.completed', i + ${part * rowsOfStatement}, 'done', 1, 0, 1 ${paid}`,
  ];
}

/** Returns the number of rows, and the sum of the lengths of what identifies them. No upgrade changes them. */
export async function readSums(store) {
  const idOf = { payments: "client_id", webhooks: "event_key", events: "payload", dispatches: "event_id" };
  const sums = {};
  for (const [name, column] of Object.entries(idOf)) {
    const sql = `select count(*) as n, sum(length(${column})) as total from tillkit_${name}`;
    const { rows } = await store.query(sql);
    sums[name] = { count: Number(rows[0].n), total: Number(rows[0].total) };
  }
  return sums;
}
