import request from "supertest";
import { fieldsSignature, MemoryStore, type MemoryTx } from "tillkit";
import { makeReturnToken } from "../../../src/checkout/return-token.js";
import { appOf, closeAll, secret, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed, statusBody } from "../../support/webhooks.js";

afterEach(closeAll);

describe("the events of webhooks", () => {
  it("show handlers no hash of a return token, which is for the kit alone", async () => {
    const { hash: returnKeyHash } = makeReturnToken("c-1");
    const store = new MemoryStore();
    const created = [
      pendingPayment({ returnKeyHash }),
      pendingPayment({ returnKeyHash, clientId: "c-2", serviceId: "s-2", open: false, replacedBy: "c-1" }),
      pendingPayment({ returnKeyHash, clientId: "c-3", serviceId: "s-3", reference: "order-3" }),
    ];
    await store.transaction((tx) => store.save(tx, { created }));
    const app = appOf(testKit<never, MemoryTx>({ store, dispatch: false }));
    for (const body of [
      statusBody("submitted"),
      completedBody(),
      completedBody({ clientId: "c-2", id: "s-2" }),
      completedBody({ clientId: "c-3", id: "s-3", total: { value: "1", currency: "KMF" } }),
      statusBody("reviewed_by_bank", { clientId: "c-2", id: "s-2" }),
    ]) {
      const { headers, rawBody } = signed(body);
      const answer = await request(app).post("/payments/webhook").set(headers).send(rawBody.toString());
      expect(answer.status).toBe(200);
    }
    const histories = await Promise.all(["c-1", "c-2", "c-3"].map((clientId) => store.history(clientId)));
    const events = histories.flatMap((history) => history.events);
    expect(events.map(({ type }) => type)).toEqual([
      "payment.updated",
      "payment.completed",
      "payment.paid_twice",
      "payment.paid_late",
      "payment.reported",
      "payment.mismatched",
    ]);
    expect(JSON.stringify(events)).not.toContain(returnKeyHash);
  });

  it("show no such hash either where no lookup confirms what only fields of a webhook say", async () => {
    const { hash: returnKeyHash } = makeReturnToken("c-1");
    const store = new MemoryStore();
    await store.transaction((tx) => store.save(tx, { created: [pendingPayment({ returnKeyHash })] }));
    const signature = fieldsSignature({ secret, merchantId: "m-1" });
    const fetch = () => Promise.reject(new Error("The service cannot be reached."));
    let now = new Date("2026-11-20T10:00:06.000Z");
    const payments = testKit<never, MemoryTx>({
      store,
      signature: signature as never,
      service: { baseUrl: "https://pay.invalid", accessToken: "a-token", fetch },
      lookup: true,
      confirm: "lookup",
      unmatchedAfterMs: 1,
      now: () => now,
    });
    expect(await payments.receiveWebhook(signed(completedBody(), signature))).toMatchObject({
      outcome: "unconfirmed",
    });
    now = new Date(now.getTime() + 1000);
    await payments.sweep();
    const { events } = await store.history("c-1");
    expect(events.map(({ type }) => type)).toEqual(["payment.unconfirmed"]);
    expect(JSON.stringify(events)).not.toContain(returnKeyHash);
  });
});
