import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { createRequire } from "node:module";
import path from "node:path";
import { randomFrom } from "../../promises/crash/harness/random.mjs";
import { clientIdPrefix, header, planCases } from "./plan.mjs";

const paymentsPerTransaction = 2000;

/**
 * Writes a statement and a store for the same payments. Returns the expected findings, as `kind clientId line`, and the expected
 * sums. `kit` is a folder with the compiled kit.
 */
export async function makeStatement({ kit, folder, rows: count, seed, onRows }) {
  const { sqliteStore } = createRequire(import.meta.url)(path.join(kit, "store/sql/index.js"));
  const database = path.join(folder, "books.db");
  const file = path.join(folder, "statement.csv");
  const store = sqliteStore(database);
  const rows = [];
  const expected = new Set();
  const totals = { matched: 0, foreign: 0, statement: {}, stored: {} };
  let created = [];
  const flush = async () => {
    await store.transaction((tx) => store.save(tx, { created }));
    created = [];
  };
  try {
    for (const { payments, rows: listed, lost = [] } of planCases({ rows: count, seed })) {
      for (const payment of payments) {
        created.push(stored(payment));
        if (payment.state === "completed" && isInPeriod(payment)) add(totals.stored, payment);
      }
      for (const row of listed) rows.push(row);
      for (const { kind, clientId } of lost) expected.add(`${kind} ${clientId} -`);
      if (created.length >= paymentsPerTransaction) await flush();
      onRows?.(listed.length);
    }
    await flush();
  } finally {
    await store.close();
  }
  randomFrom(seed + 1).shuffle(rows);
  await writeRows(file, rows, expected, totals);
  return { file, database, expected, totals, clientIdPrefix };
}

function stored(payment) {
  const { clientId, serviceId, reference, value, currency, state, createdAt, completedAt, withheld } =
    payment;
  const isCompleted = state === "completed";
  return {
    clientId,
    serviceId,
    reference,
    total: { value, currency },
    state,
    open: false,
    createdAt,
    updatedAt: completedAt,
    ...(isCompleted && { status: "completed", completedAt }),
    ...(withheld && { withheld }),
  };
}

async function writeRows(file, rows, expected, totals) {
  const stream = createWriteStream(file);
  const twins = new Set();
  let line = 1;
  const write = async (bytes) => {
    if (!stream.write(bytes)) await once(stream, "drain");
  };
  await write(`\uFEFF${header.join(",")}\r\n`);
  let pieces = [];
  for (const row of rows) {
    line += 1;
    if (row.bad) {
      expected.add(`bad_row - ${line}`);
      // As latin1, so that one of the rows is not UTF-8.
      pieces.push(Buffer.from(`${row.bad(row.random)}\r\n`, "latin1"));
    } else {
      pieces.push(Buffer.from(`${csvLine(row)}\r\n`));
      expect(row, line, expected, twins, totals);
      line += row.note.split("\n").length - 1;
    }
    if (pieces.length < 1000) continue;
    await write(Buffer.concat(pieces));
    pieces = [];
  }
  await write(Buffer.concat(pieces));
  stream.end();
  await once(stream, "close");
}

function csvLine({ clientId, serviceId, note, value, currency, status, source, time, fee, net, payout }) {
  const quoted = /[",\n]/.test(note) ? `"${note}"` : note;
  return [clientId, serviceId, quoted, value, currency, status, source, time, fee, net, payout].join(",");
}

function expect(row, line, expected, twins, totals) {
  const { expects, twin, isForeign, status } = row;
  for (const { kind, clientId } of expects) expected.add(`${kind} ${clientId} ${line}`);
  if (row.isNoSale) return;
  if (isForeign) {
    totals.foreign += 1;
    return;
  }
  const isPaid = ["completed", "paid", ""].includes(status.toLowerCase());
  if (isPaid) add(totals.statement, row);
  const isSecond = twin !== undefined && twins.has(twin);
  if (isSecond) expected.add(`listed_twice ${twin} ${line}`);
  if (twin !== undefined) twins.add(twin);
  // The second payment of an order agrees on both sides, and so does one with another fee.
  const differs = expects.some(({ kind }) => kind !== "paid_twice" && kind !== "fee_differs");
  if (isPaid && !differs && !isSecond) totals.matched += 1;
}

function add(sums, { currency, units }) {
  const sum = (sums[currency] ??= { count: 0, units: 0n });
  sum.count += 1;
  sum.units += units;
}

function isInPeriod({ completedAt }) {
  return completedAt >= "2024-05-01T00:00:00.000Z" && completedAt < "2024-06-01T00:00:00.000Z";
}
