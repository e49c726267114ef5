// Measures a single webhook over the full SQL store and over a store of `examples/stores`, alternately on one PostgreSQL:
// node bench/stores.mjs [--module test/stores/modules/knex.ts] [--rounds 10] [--webhooks 60]. It needs dist and `npm ci --prefix examples/stores`.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import express from "express";
import { Database } from "../test/promises/crash/harness/database.mjs";
import { paymentOf, secret, Sender } from "../test/promises/crash/harness/webhooks.mjs";

const { values } = parseArgs({
  options: {
    module: { type: "string", default: "test/stores/modules/knex.ts" },
    rounds: { type: "string", default: "10" },
    webhooks: { type: "string", default: "60" },
  },
});
const require = createRequire(import.meta.url);
const { openStore } = require("../test/promises/crash/harness/open-store.cjs");
const cjs = process.env.TILLKIT_BENCH_KIT ?? path.resolve(import.meta.dirname, "../dist/cjs");
const { createPayments, hmacSignature, paymentRouter } = require(path.join(cjs, "index.js"));
const count = Number(values.webhooks);
const url = process.env.TILLKIT_TEST_POSTGRES_URL ?? "postgres://postgres@127.0.0.1:5432/test";

/** Opens a shop without handlers. `singles` returns the times of webhooks that are sent one after the other. */
async function shopOver(address) {
  const { store, prepare, remove } = await openStore(cjs, address);
  await prepare?.();
  await store.migrate?.();
  const signature = hmacSignature({ secret });
  const payments = createPayments({
    publicUrl: "http://localhost/payments",
    service: { baseUrl: "http://localhost:9", accessToken: "token-of-the-benchmark" },
    signature,
    store,
    dispatch: false,
    logger: false,
  });
  const server = createServer(express().use("/payments", paymentRouter(payments)));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sender = new Sender(signature, { keepAlive: true });
  let next = 0;
  return {
    times: [],
    async singles() {
      const indexes = Array.from({ length: count }, () => next++);
      // One by one, because some databases limit the changes of one transaction.
      for (const index of indexes)
        await store.transaction((tx) => store.save(tx, { created: [paymentOf(index)] }));
      for (const payment of indexes) {
        const started = performance.now();
        const status = await sender.post(server.address().port, { payment, status: "completed" });
        if (status !== 200) throw new Error(`A webhook was answered ${status}.`);
        this.times.push(performance.now() - started);
      }
    },
    async close() {
      sender.close();
      server.close();
      await payments.close();
      if (remove || address.module) return remove?.();
      const database = new Database(cjs, address);
      await database.drop();
      await database.close();
    },
  };
}

const folder = mkdtempSync(path.join(tmpdir(), "tillkit-bench-"));
const prefix = `bench_${randomBytes(4).toString("hex")}_`;
const shops = {
  postgresStore: await shopOver({ kind: "postgres", url, prefix }),
  [path.basename(values.module)]: await shopOver({ module: path.resolve(values.module), folder, prefix }),
};
for (const shop of Object.values(shops)) await shop.singles(); // The first webhooks are slow.
for (const shop of Object.values(shops)) shop.times.length = 0;
for (let round = 0; round < Number(values.rounds); round++) {
  for (const shop of Object.values(shops)) await shop.singles();
}
const medians = Object.entries(shops).map(([name, { times }]) => {
  const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
  console.log(`${name}: p50 ${median.toFixed(2)} ms of ${times.length} webhooks`);
  return median;
});
console.log(`ratio ${(medians[1] / medians[0]).toFixed(2)}`);
for (const shop of Object.values(shops)) await shop.close();
rmSync(folder, { recursive: true, force: true });
