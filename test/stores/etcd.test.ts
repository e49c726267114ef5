import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as tillkit from "tillkit";
import { type EtcdCluster, startEtcdCluster } from "../support/etcd-cluster.js";
import { appOf, closeAll, serve, testKit } from "../support/kit.js";
import { onOwnServers, stopOwnServers } from "../support/own-servers.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";
import { create } from "./modules/etcd.js";
import { storeTests } from "./support/store-tests.js";

const kills = 5;

onOwnServers("the tests of a store in etcd", ["etcd"], () => {
  let cluster: EtcdCluster;
  beforeAll(async () => {
    cluster = await startEtcdCluster();
    process.env["TILLKIT_TEST_ETCD_URLS"] = cluster.endpoints.join();
    process.env["TILLKIT_TEST_ETCD_TIMEOUT_MS"] = "10000";
  });
  afterAll(stopOwnServers);

  storeTests({ name: "a store in etcd", module: "etcd.ts" });

  it(`nothing is lost and nothing made twice where etcd's leader is killed ${kills} times under load`, async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "tillkit-etcd-"));
    delete process.env["TILLKIT_TEST_ETCD_TIMEOUT_MS"];
    const { store, write, rows } = await create({ folder, prefix: "leader" }, tillkit);
    const payments = testKit({ store, dispatch: { firstDelayMs: 1, pollMs: 20 } });
    payments.onPaymentCompleted(async ({ id, payment }, { tx, attempt, idempotencyKey }) => {
      const { clientId, reference } = payment;
      await write(tx, {
        client_id: clientId,
        reference,
        event_id: id,
        idempotency_key: idempotencyKey,
        attempt,
      });
    });
    await payments.start();
    const load = startLoad(store, `${await serve(appOf(payments))}/payments/webhook`);
    for (let killed = 0; killed < kills; killed++) {
      await load.untilMoreAccepted();
      const leader = await cluster.leader();
      await cluster.kill(leader);
      await load.untilMoreAccepted();
      cluster.start(leader);
      await cluster.untilComplete();
    }
    const sent = await load.stop();
    const isPaid = async () => (await rows()).length >= sent.length;
    for (const until = performance.now() + 60_000; !(await isPaid()) && performance.now() < until;)
      await delay(100);
    await payments.close(); // It waits for the commits.
    const ledger = (await rows()).map((row) => row.client_id);
    expect(ledger.toSorted()).toEqual(sent.toSorted());
    await closeAll();
    rmSync(folder, { recursive: true });
  }, 240_000);
});

/** Has payments completed one after the other, in four rows at the same time. Each webhook is sent until it is accepted. */
function startLoad<Tx>(store: tillkit.PaymentStore<Tx>, url: string) {
  const accepted: string[] = [];
  const stop = new AbortController();
  let waiting: { resolve: () => void; since: number }[] = [];
  const untilAccepted = async (action: () => Promise<boolean>): Promise<void> => {
    while (!(await action().catch(() => false))) await delay(20);
  };
  const pay = async (clientId: string): Promise<void> => {
    const serviceId = `service-${clientId}`;
    const payment = pendingPayment({ clientId, serviceId, reference: `order-${clientId}` });
    // Whether a write was made whose answer was lost shows when it is made again.
    await untilAccepted(async () => {
      await store.transaction((tx) => store.save(tx, { created: [payment] }));
      return true;
    });
    const { rawBody, headers } = signed(completedBody({ clientId, id: serviceId }));
    const since = performance.now();
    await untilAccepted(async () => (await fetch(url, { method: "POST", body: rawBody, headers })).ok);
    accepted.push(clientId);
    const done = waiting.filter((one) => one.since <= since);
    waiting = waiting.filter((one) => one.since > since);
    for (const { resolve } of done) resolve();
  };
  const row = async (name: string): Promise<void> => {
    for (let number = 0; !stop.signal.aborted; number++) await pay(`c-${name}-${number}`);
  };
  const running = Promise.all(["a", "b", "c", "d"].map(row));
  return {
    /** Resolves when a webhook is accepted that was sent first after this call. */
    untilMoreAccepted: () =>
      new Promise<void>((resolve) => void waiting.push({ resolve, since: performance.now() })),
    /** Resolves with all clientIds. */
    async stop(): Promise<string[]> {
      stop.abort();
      await running;
      return accepted;
    },
  };
}
