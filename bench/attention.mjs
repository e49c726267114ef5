// Measures a page of what needs a person on SQLite, with the build in `dist`.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { createPayments, hmacSignature } from "../dist/esm/index.js";
import { sqliteStore } from "../dist/esm/store/sql/index.js";

const { values } = parseArgs({ options: { payments: { type: "string", default: "1000000" } } });
const payments = Number(values.payments);
const [webhooks, dead] = [payments, payments / 50];
const folder = mkdtempSync(path.join(tmpdir(), "tillkit-attention-"));
const store = sqliteStore(path.join(folder, "shop.db"), { tablePrefix: "t_" });
const kit = createPayments({
  publicUrl: "http://localhost/payments",
  service: { baseUrl: "http://localhost", accessToken: "none" },
  signature: hmacSignature({ secret: crypto.randomUUID() }),
  store,
  dispatch: false,
  spool: false,
  logger: false,
});

/** 50,000 payments and 30,000 webhooks need a person, and all dead dispatches. Half of these webhooks' payments have two of them. */
async function fill() {
  const rows = (count) =>
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`;
  const time = "strftime('%Y-%m-%dT%H:%M:%fZ', 1700000000 + i, 'unixepoch')";
  await store.transaction(async (tx) => {
    await tx.query(`insert into t_payments (client_id, reference, total_value, total_currency, state, status, created_at, updated_at,
        completed_at, attention) ${rows(payments)}
      select 'c-' || i, 'o-' || i, '1475', 'KMF', 'completed', 'completed', ${time}, ${time}, ${time},
        case when i % 20 = 0 then 'paid_late' end from n`);
    await tx.query(`insert into t_webhooks (receipt_id, event_key, outcome, client_id, status, raw_body, covers, received_at, kept_since,
        attention) ${rows(webhooks)}
      select 'r-' || i, 'k-' || i, case when i % 100 < 3 then 'mismatch' else 'applied' end, 'c-' || (i - (i % 100 = 1)), 'completed',
        zeroblob(400), 'body', ${time}, ${time}, case when i % 100 < 3 then 'mismatched' end from n`);
    await tx.query(`insert into t_events (id, type, client_id, recorded_at, payload) ${rows(dead)}
      select 'e-' || i, 'payment.completed', 'c-' || i, ${time}, '{}' from n`);
    await tx.query(`insert into t_dispatches (event_id, handler, event_type, event_seq, state, attempt, failures, fence, error, dead,
        settled_at) select id, 'books', type, seq, 'dead', 9, 9, 9, 'Error: no', 1, 0 from t_events`);
    await tx.query(`insert into t_notes (kind, id, version, value)
      select distinct 'attention', 'mismatched:' || client_id, 1, '{"assigned":"Amina","changes":[]}' from t_webhooks
        where attention is not null`);
  });
}

async function measure(name, run, times = 200) {
  const taken = [];
  for (let round = 0; round < times; round++) {
    const start = performance.now();
    await run(round);
    taken.push(performance.now() - start);
  }
  const sorted = taken.toSorted((a, b) => a - b);
  const [median, most] = [sorted[Math.floor(times / 2)], sorted.at(-1)];
  console.log(`${name}: median ${median.toFixed(1)} ms, most ${most.toFixed(1)} ms of ${times}`);
}

try {
  await store.migrate();
  await fill();
  for (const rule of ["mismatched", "paid_late", "dead_dispatch"]) {
    let cursor;
    await measure(
      `pages of 200 of ${rule}, one after the other`,
      async () => {
        ({ cursor } = await kit.attention({ rule, limit: 200, cursor }));
      },
      100,
    );
  }
  await measure("the first page of 50 of all rules", () => kit.attention());
  await measure("a page that finds nothing in 400 facts", () => kit.attention({ assigned: "Said" }), 50);
  await measure("health, with all counts", () => kit.health(), 50);
} finally {
  await kit.close();
  rmSync(folder, { recursive: true, force: true });
}
