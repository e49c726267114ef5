// A shop in a process of its own, which the test kills: `node shop.cjs <built kit> <database> <slow|fast>`.
const path = require("node:path");
const express = require("express");

const [, , kit, database, speed] = process.argv;
const { createPayments, hmacSignature, paymentRouter } = require(path.join(kit, "index.js"));
const { sqliteStore } = require(path.join(kit, "store/sql/index.js"));

const store = sqliteStore(database);
const payments = createPayments({
  publicUrl: "http://localhost/payments",
  service: { baseUrl: "http://localhost:9", accessToken: "token-of-the-test" },
  signature: hmacSignature({ secret: process.env.SECRET }),
  store,
  dispatch: { leaseMs: 300, pollMs: 20 },
  logger: false,
});

payments.onPaymentCompleted(async ({ payment }, { tx, attempt, idempotencyKey }) => {
  await tx.query("insert into ledger (reference, attempt, idempotency_key) values (?, ?, ?)", [
    payment.reference,
    attempt,
    idempotencyKey,
  ]);
  process.send?.({ handling: payment.reference, attempt });
  // Long enough for the test to kill it. The transaction stays open.
  if (speed === "slow") await new Promise((resolve) => setTimeout(resolve, 60_000));
});

async function main() {
  await store.migrate();
  await store.transaction(async (tx) => {
    await tx.query(
      "create table if not exists ledger (reference text, attempt integer, idempotency_key text)",
    );
  });
  const server = express().use("/payments", paymentRouter(payments)).listen(0, "127.0.0.1");
  server.on("listening", () => process.send?.({ port: server.address().port }));
  process.on("message", () => void sendLedger());
}

async function sendLedger() {
  const { rows } = await store.transaction((tx) => tx.query("select * from ledger"));
  process.send?.({ ledger: rows });
}

void main();
