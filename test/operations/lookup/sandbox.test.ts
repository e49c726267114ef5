import { hmacSignature, type TillkitEvent } from "tillkit";
import { createSandbox, type Sandbox } from "tillkit/sandbox";
import { localServer } from "../../service/local-server.js";
import { closeAll, testKit } from "../../support/kit.js";
import { pendingPayment } from "../../support/webhooks.js";

describe("a shop whose webhooks are all lost", () => {
  let sandbox: Sandbox;
  beforeEach(async () => {
    // No webhook address is registered.
    sandbox = createSandbox({ readBack: true });
    await sandbox.start();
  });
  afterEach(async () => {
    await closeAll();
    await sandbox.close();
  });

  it("closes immediately while the service has not answered yet", async () => {
    const silent = await localServer(() => undefined);
    const payments = testKit({
      service: { baseUrl: silent.url, accessToken: "a-token" },
      lookup: { timeoutMs: 60_000 },
    });
    const failed: unknown[] = [];
    payments.on("lookup.failed", ({ error }) => failed.push(error));
    const { store } = payments;
    const due = pendingPayment({ nextLookupAt: "2020-01-01T00:00:00.000Z" });
    await store.transaction((tx) => store.save(tx, { created: [due] }));
    const sweeping = payments.sweep();
    while (silent.received.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const from = performance.now();
    await payments.close();
    expect(performance.now() - from).toBeLessThan(30_000);
    await sweeping.catch(() => undefined);
    expect(failed).toEqual([]);
    await silent.close();
  });

  it("learns about its payments by asking the sandbox, as it would ask the service", async () => {
    const payments = testKit({
      service: { baseUrl: sandbox.url, accessToken: () => sandbox.accessToken() },
      signature: hmacSignature({ secret: sandbox.secret }),
      lookup: { perSecond: 1000, afterMs: 1 },
    });
    const completed = new Promise<TillkitEvent<"payment.completed">>((resolve) =>
      payments.onPaymentCompleted(resolve),
    );
    await payments.start({ keepAlive: false });
    const { clientId } = await payments.create({
      reference: "order-1",
      total: { value: "1475", currency: "KMF" },
    });
    await sandbox.pay(clientId);
    // The first lookup is due a millisecond after the creation.
    while ((await payments.find(clientId))?.state !== "completed") await payments.sweep();
    expect(await completed).toMatchObject({ reportedBy: "lookup", payment: { reference: "order-1" } });
  });
});
