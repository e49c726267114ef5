import express from "express";
import {
  createPayments,
  fieldsSignature,
  hmacSignature,
  MemoryStore,
  optionsFromEnvironment,
  paymentRouter,
  type MemoryTx,
  type PaymentRouter,
  type PaymentStore,
  type SignedField,
  type SigningScheme,
  type TillkitEvent,
} from "tillkit";
import { sqliteStore, type SqlPaymentStore, type SqlTx } from "tillkit/sql";
import { send } from "../promises/corpora/world.js";
import { closeAll, secret, serve } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";

const before = { ...process.env };
beforeEach(() => {
  process.env = {
    ...before,
    TILLKIT_PUBLIC_URL: "https://shop.example",
    TILLKIT_SERVICE_URL: "https://pay.invalid",
    TILLKIT_ACCESS_TOKEN: "a-token",
    TILLKIT_WEBHOOK_SECRET: secret,
    TILLKIT_MERCHANT_ID: "m-7",
    TILLKIT_LOG: "off",
  };
});
afterEach(async () => {
  process.env = { ...before };
  await closeAll();
});

const hmac = hmacSignature({ secret });
const fields = fieldsSignature({ secret, merchantId: "m-7" });

/** Sends one completion to a router over HTTP. Resolves to the event that its handlers get. */
async function completedOf<Covers extends SignedField, Tx>(
  router: PaymentRouter<Covers, Tx>,
  scheme: SigningScheme<never> | SigningScheme = hmac,
): Promise<TillkitEvent<"payment.completed", Covers>> {
  const { payments } = router;
  try {
    const event = new Promise<TillkitEvent<"payment.completed", Covers>>((resolve) =>
      payments.onPaymentCompleted(resolve),
    );
    const { store } = payments;
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment()] }));
    const { headers, rawBody } = signed(completedBody(), scheme);
    const url = await serve(express().use(router));
    await send(url, { method: "POST", path: "/webhook", headers, body: rawBody });
    return await event;
  } finally {
    await payments.close();
  }
}

// The compiler checks the types; the values show that they are true.
describe("what a handler gets by type", () => {
  it("follows a scheme that signs the body", async () => {
    const router = paymentRouter({ store: new MemoryStore(), signature: hmac });
    const { verified, untrusted } = await completedOf(router);
    const captured: boolean = verified.captured;
    // @ts-expect-error everything is signed, and topic is never odd
    const topic = untrusted.topic;
    expect([captured, verified.providerId, topic]).toEqual([true, "MVK-778", undefined]);
  });

  it("follows a scheme that signs fields", async () => {
    const router = paymentRouter({ store: new MemoryStore(), signature: fields });
    const { verified, untrusted } = await completedOf(router, fields);
    const submittedAt: string | undefined = verified.submittedAt;
    // @ts-expect-error not signed
    const topic = verified.topic;
    const hint: unknown = untrusted.topic;
    expect([submittedAt, topic, hint]).toEqual(["2026-11-20T10:00:00.000Z", undefined, "payment.completed"]);
  });

  it("has every field under an own scheme that covers the body", async () => {
    const own = { header: "Service-Signature", covers: "body", verify: () => true } as const;
    const { verified } = await completedOf(paymentRouter({ store: new MemoryStore(), signature: own }));
    const topic: string = verified.topic;
    expect(topic).toBe("payment.completed");
  });

  it("has the indispensable fields, and perhaps the others, where the environment configures the scheme", async () => {
    const { verified, untrusted } = await completedOf(paymentRouter({ store: new MemoryStore() }));
    const sure: string[] = [
      verified.id,
      verified.clientId,
      verified.status,
      verified["total.value"],
      verified["total.currency"],
    ];
    const providerId: string | undefined = verified.providerId;
    // @ts-expect-error it may be absent
    const topic: string = verified.topic;
    // @ts-expect-error always verified
    const status = untrusted.status;
    // @ts-expect-error perhaps verified
    const captured = untrusted.captured;
    expect([...sure, providerId, topic, status, captured]).toEqual([
      "64f0c0ffee64f0c0ffee64f0",
      "c-1",
      "completed",
      "1475",
      "KMF",
      "MVK-778",
      "payment.completed",
      undefined,
      undefined,
    ]);
  });

  it("is true for fieldsSignature by environment too", async () => {
    process.env["TILLKIT_SIGNATURE"] = "fields";
    const { verified } = await completedOf(paymentRouter({ store: new MemoryStore() }), fields);
    const topic: string | undefined = verified.topic;
    expect([verified.status, topic]).toEqual(["completed", undefined]);
  });

  it("is the same for the options of the environment", async () => {
    process.env["TILLKIT_DATABASE"] = "unused.db";
    const payments = createPayments({ ...optionsFromEnvironment(), store: new MemoryStore() });
    const { verified } = await completedOf(paymentRouter(payments));
    const source: string | undefined = verified.source;
    // @ts-expect-error it may be absent
    const captured: boolean = verified.captured;
    expect([source, captured]).toEqual(["MVK", true]);
  });

  it("has the time of the completion", async () => {
    const { payment } = await completedOf(paymentRouter({ store: new MemoryStore() }));
    const completedAt: string = payment.completedAt;
    const state: "completed" = payment.state;
    expect([Date.parse(completedAt) > 0, state]).toEqual([true, "completed"]);
  });

  it("has the transaction of the given store, and that of a SQL store by environment", () => {
    process.env["TILLKIT_DATABASE"] = "unused.db";
    const inMemory = paymentRouter({
      store: new MemoryStore(),
      onPaymentCompleted: (_event, { tx }) => void (tx satisfies MemoryTx),
    });
    const inDatabase = paymentRouter({
      dispatch: false,
      onPaymentCompleted: async ({ payment, verified }, { tx }) => {
        await tx.query("update orders set source = ? where id = ?", [verified.source, payment.reference]);
      },
    });
    const routers: [PaymentRouter<never, MemoryTx>, PaymentRouter<never, SqlTx>] = [inMemory, inDatabase];
    // @ts-expect-error not a SQL store
    const other: PaymentRouter<never, SqlTx> = inMemory;
    expect([...routers, other]).toHaveLength(3);
    return Promise.all(routers.map(({ payments }) => payments.close()));
  });

  it("has a store with `query` in each form over SQL, and only there", async () => {
    const file = "unused.db";
    process.env["TILLKIT_DATABASE"] = file;
    const options = { publicUrl: "https://shop.example", signature: hmac, logger: false } as const;
    const service = { baseUrl: "https://pay.invalid", accessToken: "a" };
    const wrapped: PaymentStore<SqlTx> = sqliteStore(file);
    const overSql = [
      paymentRouter().payments,
      paymentRouter({ dispatch: false }).payments,
      paymentRouter({ store: sqliteStore(file), signature: hmac }).payments,
      createPayments({ ...options, service, store: sqliteStore(file) }),
      createPayments(optionsFromEnvironment()),
      // @ts-expect-error a store over SQL transactions has `query`, too
      createPayments({ ...options, service, store: wrapped }),
    ];
    const queries = overSql.map(
      ({ store }) => Reflect.get(store satisfies SqlPaymentStore, "query") as unknown,
    );
    const inMemory = createPayments({ ...options, service, store: new MemoryStore() });
    // @ts-expect-error not a SQL store
    const none: unknown = inMemory.store.query;
    expect([...queries, none].map((query) => typeof query)).toEqual([
      ...Array(6).fill("function"),
      "undefined",
    ]);
    await Promise.all([...overSql, inMemory].map((payments) => payments.close()));
  });
});
