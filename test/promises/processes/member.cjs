// One process of a shop. Its environment variable `MEMBER` is a JSON object of `MemberSettings`. It sends messages about its work
// to its parent, so that the parent knows when to kill, stop or end it.
const path = require("node:path");
const express = require("express");

const settings = JSON.parse(process.env.MEMBER);
const { kit, address, secret, spool, web, names, dispatch, at, act } = settings;
const { createPayments, hmacSignature, paymentRouter } = require(path.join(kit, "index.js"));
const { loadStore } = require("../crash/harness/open-store.cjs");
const { recordInSteps } = require("./record-in-steps.cjs");

const never = new Promise(() => {});
process.on("disconnect", () => process.exit(1));

/** Sends a message to the parent, and does what the settings say for this point. */
async function reach(point, facts = {}) {
  process.send({ [point]: true, ...facts });
  if (at !== point) return;
  if (act === "die") process.kill(process.pid, "SIGKILL");
  if (act === "hang") await never;
  if (act === "linger") await new Promise((resolve) => setTimeout(resolve, 500));
}

const { store } = loadStore(kit, address)(address);
const { save, record } = store;
// In one call, like nearly every webhook, or in the steps of a lookup.
const recordOnce = settings.inSteps
  ? (keys, decide) => recordInSteps.call(store, keys, decide)
  : (keys, decide) =>
      record.call(store, keys, (locked) => {
        const changes = decide(locked);
        // Inside of the transaction. Its statements may be sent with its commit, so it cannot wait at a later point.
        if (changes.webhooks?.length > 0) void reach("saved");
        // After it, when every statement of this iteration has been sent.
        setImmediate(() => void reach("sent"));
        return changes;
      });
store.record = async (keys, decide) => {
  const isRecorded = await recordOnce(keys, decide);
  if (isRecorded) await reach("committed");
  return isRecorded;
};
store.save = async (tx, changes) => {
  const saved = await save.call(store, tx, changes);
  if (changes.webhooks?.length > 0) await reach("saved");
  return saved;
};
if (settings.renewalFails) store.renew = () => Promise.reject(new Error("renewals fail in this process"));

const payments = createPayments({
  publicUrl: "http://localhost/payments",
  service: { baseUrl: "http://localhost:9", accessToken: "token-of-the-test" },
  signature: hmacSignature({ secret }),
  store,
  spool: spool ? { directory: spool } : false,
  dispatch,
  logger: false,
});
payments.on("dispatch.dead", ({ error }) => void process.send({ dead: error }));
for (const name of names) payments.onPaymentCompleted(handlerOf(name), { name });

function handlerOf(name) {
  return async ({ id, payment: { clientId } }, { tx, attempt, idempotencyKey }) => {
    const facts = { name, clientId, attempt, idempotencyKey };
    await reach("handling", facts);
    const values = tx.dialect === "postgres" ? "$1, $2, $3, $4, $5" : "?, ?, ?, ?, ?";
    await tx.query(
      `insert into ${address.prefix}ledger (name, client_id, event_id, attempt, idempotency_key) values (${values})`,
      [name, clientId, id, attempt, idempotencyKey],
    );
    await reach("written", facts);
    process.send({ ended: true, ...facts });
  };
}

async function main() {
  if (settings.migrateOnly) {
    process.send({ ready: true });
    await new Promise((resolve) => process.once("message", resolve));
    await store.migrate();
    await store.close();
    process.exit(0);
    return;
  }
  let server;
  process.once("SIGTERM", () => {
    process.send({ closing: true });
    server?.close();
    void payments.close().then(() => process.exit(0));
  });
  if (!web) {
    await payments.start();
    process.send({ ready: true });
    return;
  }
  await payments.start({ keepAlive: false });
  server = express().use("/payments", paymentRouter(payments)).listen(0, "127.0.0.1");
  server.on("listening", () => process.send({ ready: true, port: server.address().port }));
}

void main();
