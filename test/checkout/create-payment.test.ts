import { type ServerResponse } from "node:http";
import { createSandbox, type Sandbox, type SandboxOptions } from "tillkit/sandbox";
import { clientCredentials, MemoryStore, type MemoryTx } from "tillkit";
import { closeAll, serve, testKit } from "../support/kit.js";
import { pendingPayment, signed, statusBody } from "../support/webhooks.js";

let sandbox: Sandbox | undefined;

afterEach(async () => {
  await closeAll();
  await sandbox?.close();
  sandbox = undefined;
});

/** A kit with a real service on a real port. */
async function kit(sandboxOptions: SandboxOptions = {}, options: Parameters<typeof testKit>[0] = {}) {
  sandbox = createSandbox({ retryDelaysMs: [], ...sandboxOptions });
  await sandbox.start();
  const { url: baseUrl, tokenUrl, client } = sandbox;
  const store = new MemoryStore();
  const payments = testKit<never, MemoryTx>({
    service: { baseUrl, accessToken: clientCredentials({ tokenUrl, ...client }) },
    store,
    ...(options as object),
  });
  return { payments, sandbox, store };
}

const order = { reference: "order-7", total: { value: "1475", currency: "KMF" } };

describe("creating a payment", () => {
  it("stores it, creates it at the service, and returns the checkout address", async () => {
    const { payments, sandbox } = await kit();
    const { clientId, checkoutUrl, reused } = await payments.create({ ...order, metadata: { cart: 3 } });

    const [atService] = sandbox.payments();
    expect(atService).toMatchObject({ clientId, total: order.total });
    expect(checkoutUrl).toBe(`${sandbox.url}/payment/submit/${atService!.id}`);
    expect(reused).toBe(false);
    expect(await payments.find(clientId)).toMatchObject({
      state: "pending",
      open: true,
      serviceId: atService!.id,
      metadata: { cart: 3 },
    });
  });

  it("keeps what the service said of it, with the service's own time", async () => {
    const { payments, sandbox } = await kit({}, { now: () => new Date("2020-05-01T10:00:00.000Z") });
    const { clientId } = await payments.create(order);
    const { reported, service } = (await payments.find(clientId))!;
    expect(reported).toEqual({
      status: "pending",
      captured: false,
      at: "2020-05-01T10:00:00.000Z",
      verified: ["status", "captured"],
    });
    expect(service).toEqual({ createdAt: sandbox.payments()[0]!.createdAt });
  });

  it("keeps no return address, only the hash of its random part", async () => {
    const { payments, sandbox } = await kit();
    const { clientId } = await payments.create(order);
    const key = sandbox.payments()[0]!.successUrl.split("~")[1]!;
    expect(key).toHaveLength(22);
    expect(JSON.stringify(await payments.find(clientId))).not.toContain(key);
  });

  it("returns the open attempt again instead of making a second one", async () => {
    const { payments, sandbox } = await kit();
    const first = await payments.create(order);
    const again = await payments.create({ ...order, total: { value: "1475.00", currency: "KMF" } });
    expect(again).toEqual({ ...first, reused: true });
    expect(sandbox.payments()).toHaveLength(1);
  });

  it("makes one attempt of 20 simultaneous calls", async () => {
    const { payments, sandbox } = await kit();
    const created = await Promise.all(Array.from({ length: 20 }, () => payments.create(order)));
    expect(new Set(created.map(({ clientId }) => clientId)).size).toBe(1);
    expect(created.filter(({ reused }) => !reused)).toHaveLength(1);
    expect(sandbox.payments()).toHaveLength(1);
  });

  it("returns the attempt of another process that stored it after this one had looked", async () => {
    const { payments, sandbox, store } = await kit();
    const first = await payments.create(order);
    const lock = store.lock.bind(store);
    store.lock = async (tx, keys) => {
      store.lock = lock;
      return { ...(await lock(tx, keys)), payments: [] };
    };
    expect(await payments.create(order)).toEqual({ ...first, reused: true });
    expect(sandbox.payments()).toHaveLength(1);
  });

  it("marks an attempt as replaced that was stored and closed after the call had looked", async () => {
    const { payments, store } = await kit();
    const refused = await serve((_, response) => void response.writeHead(422).end());
    const other = testKit({ store, service: { baseUrl: refused, accessToken: "token-of-the-test" } });
    const creation = other.create({ ...order, clientId: "c-refused" });
    await expect(creation).rejects.toMatchObject({ code: "creation_refused" });
    const lock = store.lock.bind(store);
    store.lock = async (tx, keys) => {
      store.lock = lock;
      return { ...(await lock(tx, keys)), payments: [] };
    };
    const { clientId } = await payments.create({ ...order, total: { value: "9", currency: "KMF" } });
    expect(await payments.find("c-refused")).toMatchObject({ state: "failed", replacedBy: clientId });
  });

  it("makes a new attempt for another amount, and marks the old one as replaced", async () => {
    const { payments } = await kit();
    const first = await payments.create(order);
    const second = await payments.create({ ...order, total: { value: "1500", currency: "KMF" } });
    expect(await payments.find(first.clientId)).toMatchObject({ open: false, replacedBy: second.clientId });
  });

  it("takes the request as it was checked, whatever the caller changes in it later", async () => {
    const { payments, sandbox } = await kit();
    const request = { ...order, total: { ...order.total }, metadata: { cart: 3 } };
    const creating = payments.create(request);
    Object.assign(request.total, { value: 99999 });
    request.metadata.cart = 4;
    const { clientId } = await creating;
    expect(sandbox.payments()[0]).toMatchObject({ total: order.total });
    expect(await payments.find(clientId)).toMatchObject({ total: order.total, metadata: { cart: 3 } });
  });

  it("uses the clientId that is given, and refuses one that is taken", async () => {
    const { payments } = await kit();
    expect((await payments.create({ ...order, clientId: "shop:7" })).clientId).toBe("shop:7");
    await expect(
      payments.create({ ...order, reference: "order-8", clientId: "shop:7" }),
    ).rejects.toMatchObject({
      code: "client_id_taken",
    });
  });

  it("refuses immediately to open a second attempt under the clientId of the first", async () => {
    const { payments, sandbox } = await kit();
    const given = { ...order, clientId: "order-7" };
    await payments.create(given);
    expect(await payments.create(given)).toMatchObject({ reused: true });
    await expect(
      payments.create({ ...given, total: { value: "1500", currency: "KMF" } }),
    ).rejects.toMatchObject({ code: "client_id_taken" });
    expect(sandbox.payments()).toHaveLength(1);
  });

  it("refuses a reference that is paid", async () => {
    const { payments, store } = await kit();
    const paid = pendingPayment({ reference: order.reference, state: "completed", open: false });
    await store.transaction((tx) => store.save(tx, { created: [paid] }));
    await expect(payments.create(order)).rejects.toMatchObject({ code: "already_paid" });
  });

  it.each([
    ["an amount", { total: { value: "14.75", currency: "KMF" } }, "amount_invalid"],
    ["a clientId", { clientId: "a,b" }, "client_id_invalid"],
    ["a locale", { locale: "french!" }, "locale_invalid"],
    ["metadata", { metadata: { big: 1n } }, "metadata_invalid"],
  ])("refuses %s that it cannot take before anything is stored or sent", async (_, wrong, code) => {
    const { payments, sandbox, store } = await kit();
    await expect(payments.create({ ...order, ...wrong })).rejects.toMatchObject({ code });
    expect([await store.list({ newestFirst: false, limit: 10 }), sandbox.payments()]).toEqual([[], []]);
  });

  it("refuses metadata that it cannot take also where it would return the open attempt", async () => {
    const { payments } = await kit();
    await payments.create(order);
    const again = payments.create({ ...order, metadata: { big: 1n } });
    await expect(again).rejects.toMatchObject({ code: "metadata_invalid" });
  });

  it("leaves the payment failed when the service refuses it, and the next call makes a new one", async () => {
    const { payments, sandbox } = await kit();
    const refused = await serve((_, response) => {
      response
        .writeHead(422, { "content-type": "application/json" })
        .end('{"title":"No","detail":"not today"}');
    });
    const other = testKit({
      store: payments.store,
      service: { baseUrl: refused, accessToken: "token-of-the-test" },
    });
    const failure = await other.create({ ...order, clientId: "c-refused" }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "creation_refused",
      serviceMessage: expect.stringContaining("not today"),
    });
    expect(await payments.find("c-refused")).toMatchObject({
      state: "failed",
      open: false,
      failure: "creation_refused",
    });

    expect(await payments.create(order)).toMatchObject({ reused: false });
    expect(sandbox.payments()).toHaveLength(1);
  });

  it("leaves the payment uncertain when the connection breaks, and still matches its webhook", async () => {
    const broken = await serve(({ socket }) => socket.destroy());
    const payments = testKit({ service: { baseUrl: broken, accessToken: "token-of-the-test" } });
    await expect(payments.create({ ...order, clientId: "c-1" })).rejects.toMatchObject({
      certainty: "uncertain",
    });
    expect(await payments.find("c-1")).toMatchObject({ state: "uncertain", open: false });

    const completed = new Promise<void>((resolve) => payments.onPaymentCompleted(() => resolve()));
    await payments.start({ keepAlive: false });
    await payments.receiveWebhook(signed(statusBody("completed")));
    await completed;
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
  });

  it("finds its payment when the webhook overtakes the service's answer", async () => {
    const payments = testKit<never, MemoryTx>({
      service: { baseUrl: "http://127.0.0.1:9", accessToken: "token-of-the-test" },
    });
    const id = "64f0c0ffee64f0c0ffee64f0";
    const outcomes: string[] = [];
    const answer = async (response: ServerResponse) => {
      outcomes.push((await payments.receiveWebhook(signed(statusBody("completed", { id })))).outcome);
      const checkout = "http://127.0.0.1/payment/submit/1";
      response.writeHead(201, { "content-type": "application/json" });
      response.end(
        JSON.stringify({
          next: checkout,
          data: { id, status: "pending", purchase: { total: order.total }, billing: { submitUrl: checkout } },
        }),
      );
    };
    const baseUrl = await serve((_, response) => void answer(response));
    const creating = testKit({
      store: payments.store,
      service: { baseUrl, accessToken: "token-of-the-test" },
    });
    await creating.create({ ...order, clientId: "c-1" });
    expect(outcomes).toEqual(["applied"]);
    expect(await payments.find("c-1")).toMatchObject({
      state: "completed",
      status: "completed",
      serviceId: id,
      // What the webhook said, and not the answer, which is older.
      reported: { status: "completed", captured: true },
    });
  });

  it("matches a webhook that was parked before the payment was known", async () => {
    const { payments, store } = await kit();
    await payments.start({ keepAlive: false });
    expect((await payments.receiveWebhook(signed(statusBody("completed")))).outcome).toBe("unmatched");
    await store.transaction((tx) =>
      store.save(tx, { created: [pendingPayment({ createdAt: "2020-01-01T00:00:00.000Z" })] }),
    );
    await payments.sweep();
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
  });
});
