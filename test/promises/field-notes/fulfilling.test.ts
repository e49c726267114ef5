import request from "supertest";
import { clientCredentials } from "tillkit";
import { makeReturnToken } from "../../../src/checkout/return-token.js";
import { until } from "../processes/members.js";
import { shown, showingService } from "../../operations/lookup/service.js";
import { envelope } from "../../service/creation.js";
import { answerJson, localServer } from "../../service/local-server.js";
import { closeAll } from "../../support/kit.js";
import { completedBody, pendingPayment } from "../../support/webhooks.js";
import { shop } from "./shop.js";

afterEach(closeAll);

describe("mistakes in fulfilling", () => {
  it("marked processed before the handler succeeded: a handler that fails runs again until it is done", async () => {
    const { post, seed, payments, store } = shop();
    let runs = 0;
    const fulfilled: string[] = [];
    payments.onPaymentCompleted(async ({ payment }, { tx }) => {
      tx.onCommit(() => fulfilled.push(payment.reference));
      if (++runs < 3) throw new Error("no paper");
    });
    await payments.start({ keepAlive: false });
    await seed(pendingPayment());
    // Acknowledged, because it is recorded. Fulfilled only after the handler has succeeded.
    expect(await post(completedBody())).toBe(200);
    await until(async () => (await store.history("c-1")).dispatches[0]?.state === "done", "the handler");
    expect([runs, fulfilled]).toEqual([3, ["order-1"]]);
  });

  it("a duplicate, or the return page, credits twice: ten copies and ten visits have one effect", async () => {
    const { post, seed, payments, app, events } = shop();
    const fulfilled: string[] = [];
    payments.onPaymentCompleted(({ payment }, { tx }) =>
      tx.onCommit(() => fulfilled.push(payment.reference)),
    );
    await payments.start({ keepAlive: false });
    const { token, hash } = makeReturnToken("c-1");
    await seed(pendingPayment({ returnKeyHash: hash }));
    const visit = () => request(app).get(`/payments/success/${token}`);
    const tries = Array.from({ length: 10 }, () => [post(completedBody()), visit()]).flat();
    await Promise.all(tries);
    await until(async () => fulfilled.length > 0, "the effect");
    expect(await events("c-1")).toEqual(["payment.completed"]);
    await payments.close();
    expect(fulfilled).toEqual(["order-1"]);
  });

  it("the success redirect is trusted: the page confirms only what the webhook confirmed", async () => {
    const { seed, payments, app, events } = shop();
    const { token, hash } = makeReturnToken("c-1");
    await seed(pendingPayment({ returnKeyHash: hash }));
    await request(app).get(`/payments/success/${token}`).expect(200);
    const { body } = (await request(app).get(`/payments/success/${token}/state`)) as { body: unknown };
    expect(body).toMatchObject({ state: "confirming", final: false });
    expect(await payments.find("c-1")).toMatchObject({ state: "pending" });
    expect(await events("c-1")).toEqual([]);
  });

  it("a sweep picks the same oldest rows and starves the rest: each payment is read one time before any payment is read two times", async () => {
    const service = await showingService();
    let now = Date.parse("2026-11-20T12:00:00.000Z");
    const { seed, payments } = shop({
      service: { baseUrl: service.url, accessToken: "a-token" },
      // Four lookups in a sweep, and twelve payments that never change.
      lookup: { perSecond: 1000, afterMs: 1 },
      sweepMs: 4,
      now: () => new Date(now),
    });
    const ids = Array.from({ length: 12 }, (_, n) => `s-${n}`);
    for (const id of ids) service.payments.set(id, shown(id, { status: "pending", captured: false }));
    await seed(
      ...ids.map((id) =>
        pendingPayment({
          clientId: id,
          reference: id,
          serviceId: id,
          nextLookupAt: "2026-11-20T10:00:00.000Z",
        }),
      ),
    );
    for (let sweep = 0; sweep < 3; sweep++) {
      await payments.sweep();
      now += 1000;
    }
    expect(service.asked().toSorted()).toEqual(ids.toSorted());
    await service.close();
  });

  it("a lost webhook leaves an order pending for ever: the kit looks it up, or raises an event", async () => {
    const service = await showingService();
    const options = { now: () => new Date("2026-11-22T12:00:00.000Z"), dispatch: false as const };
    const open = pendingPayment({ nextLookupAt: "2026-11-20T10:00:00.000Z" });
    service.payments.set(open.serviceId!, shown(open.serviceId!));

    const asking = shop({
      ...options,
      service: { baseUrl: service.url, accessToken: "a-token" },
      lookup: true,
    });
    await asking.seed(open);
    await asking.payments.sweep();
    expect(await asking.events("c-1")).toEqual(["payment.completed"]);

    const silent = shop(options);
    await silent.seed(open);
    for (let sweep = 0; sweep < 3; sweep++) await silent.payments.sweep();
    expect(await silent.events("c-1")).toEqual(["payment.overdue"]);
    await service.close();
  });

  it("every request fetches a token when it expires: forty concurrent creations share one", async () => {
    let made = 0;
    const service = await localServer((response, { path }) => {
      if (path === "/token") return answerJson(response, 200, { access_token: "t-1", expires_in: 3600 });
      const { next, data } = envelope();
      answerJson(response, 201, { next, data: { ...data, id: `s-${++made}` } });
    });
    const accessToken = clientCredentials({
      tokenUrl: `${service.url}/token`,
      clientId: "shop",
      clientSecret: "k",
    });
    const { payments } = shop({ service: { baseUrl: service.url, accessToken } });
    const total = { value: "1475", currency: "KMF" };
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => payments.create({ reference: `order-${n}`, total })),
    );
    expect(service.received.filter(({ path }) => path === "/token")).toHaveLength(1);
    expect(made).toBe(40);
    await service.close();
  });
});
