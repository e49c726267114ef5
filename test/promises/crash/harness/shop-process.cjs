// A shop in a process of its own, which the harness kills. It loads everything and then waits for `{ open }`, so that a restart
// is fast. Then it opens the store and the router, and sends its port.
const { appendFileSync, openSync } = require("node:fs");
const path = require("node:path");
const { setTimeout: delay } = require("node:timers/promises");
const express = require("express");
const { answeringEarly, withDefect } = require("./defects.cjs");
const { loadStore } = require("./open-store.cjs");

const settings = JSON.parse(process.env.CRASH_SHOP);
const { kit, database, secret, effects, spool, defect, stops, shared } = settings;
const { createPayments, hmacSignature, paymentRouter } = require(path.join(kit, "index.js"));

const open = loadStore(kit, database);
const log = openSync(effects, "a");
const note = (what) => appendFileSync(log, `${JSON.stringify(what)}\n`);

process.on("disconnect", () => process.exit()); // The harness has ended.
process.once("message", ({ open }) => void openShop(open));
process.send({ loaded: true });

async function openShop({ pauses, renewalFails }) {
  const { store: plain, write } = await open(database);
  const store = withDefect(defect, plain, `${database.prefix}dispatches`);
  if (renewalFails) store.renew = () => Promise.reject(new Error("renewals fail in this shop"));
  const payments = createPayments({
    publicUrl: "http://localhost/payments",
    service: { baseUrl: "http://localhost:9", accessToken: "token-of-the-test" },
    signature: hmacSignature({ secret }),
    store,
    spool: { directory: spool },
    // Random crashes, or a database that is down, must not make a dispatch dead.
    dispatch: {
      leaseMs: 300,
      pollMs: 20,
      firstDelayMs: 50,
      maxDelayMs: 200,
      maxFailures: 1e5,
      maxLostLeases: 1e5,
    },
    logger: false,
  });
  payments.onPaymentCompleted(handlerOf(pauses, write), shared ? { transaction: "shared" } : {});
  payments.on("webhook.spooled", ({ receiptId }) => note({ spooled: receiptId }));

  const source = defect === "ack-before-record" ? answeringEarly(payments) : payments;
  const server = express().use("/payments", paymentRouter(source)).listen(0, "127.0.0.1");
  server.on("listening", () => process.send({ port: server.address().port }));
  process.on("message", ({ pages, ask }) => {
    if (pages) void limitPages(plain, pages);
    const tell = (counts) => process.send({ undone: counts.oldestUndoneAt !== undefined });
    if (ask) void plain.counts().then(tell);
  });
  process.once("SIGTERM", () => {
    server.close();
    void payments.close().finally(() => process.exit());
  });
}

/** Writes each payment to the ledger, and notes the run outside of the database. */
function handlerOf(pauses, write) {
  let runs = 0;
  return async ({ id, payment: { clientId, reference } }, { tx, attempt, idempotencyKey }) => {
    note({ clientId, eventId: id, idempotencyKey, attempt });
    const row = { client_id: clientId, reference, event_id: id, idempotency_key: idempotencyKey, attempt };
    const pay = async () => {
      await write(tx, row);
    };
    if (stops) return stoppable({ clientId, attempt, pay });
    const pause = pauses[runs++ % pauses.length];
    if (pause % 2 === 0) await delay(pause);
    await pay();
    if (pause % 2 === 1) await delay(pause);
  };
}

/** The first run of each payment waits for the harness to stop the process: before its first write, or after it. */
async function stoppable({ clientId, attempt, pay }) {
  // A process that is stopped in a write transaction of SQLite locks the file, so no other process can take over.
  const after = database.kind !== "sqlite" && Number(clientId.slice(2)) % 2 === 0;
  try {
    if (after) await pay();
    process.send({ handling: clientId, attempt });
    if (attempt === 1) await delay(200);
    if (!after) await pay();
  } finally {
    process.send({ ended: clientId, attempt });
  }
}

/** Allows the file this many further pages. A large number means that the disk has space again. */
async function limitPages(store, more) {
  await store.transaction(async (tx) => {
    const raw = await tx.raw;
    const { page_count: count } = raw.prepare("pragma page_count").get();
    raw.exec(`pragma max_page_count = ${Math.min(count + more, 4_294_967_294)}`);
  });
  process.send({ limited: more });
}
