import { type TillkitEvent } from "tillkit";
import { envelope } from "../../service/creation.js";
import { answerJson, localServer } from "../../service/local-server.js";
import { closeAll } from "../../support/kit.js";
import { completedBody, pendingPayment, statusBody } from "../../support/webhooks.js";
import { shop } from "./shop.js";

afterEach(closeAll);

const order = { reference: "order-1", total: { value: "1475", currency: "KMF" } };

describe("mistakes in deciding", () => {
  it("the webhook comes before the creation's answer: it is matched, because the payment was stored first", async () => {
    const { id } = envelope().data;
    const answers: number[] = [];
    const service = await localServer((response, { body }) => {
      const { clientId } = JSON.parse(body) as { clientId: string };
      const early = one.post(completedBody({ clientId, id })).then((status) => answers.push(status));
      void early.finally(() => answerJson(response, 201, envelope()));
    });
    const one = shop({ service: { baseUrl: service.url, accessToken: "a-token" } });
    const { clientId } = await one.payments.create(order);
    await service.close();
    expect(answers).toEqual([200]);
    expect(await one.payments.find(clientId)).toMatchObject({ state: "completed", serviceId: id });
    expect(await one.events(clientId)).toEqual(["payment.completed"]);
  });

  it("one clientId for every payment: each attempt gets its own, and a used clientId is refused", async () => {
    let made = 0;
    const service = await localServer((response, { body }) => {
      const { total } = (JSON.parse(body) as { purchase: { total: { value: string } } }).purchase;
      const { next, data } = envelope(total);
      answerJson(response, 201, { next, data: { ...data, id: `s-${++made}` } });
    });
    const { payments } = shop({ service: { baseUrl: service.url, accessToken: "a-token" }, reuseForMs: 1 });
    const first = await payments.create(order);
    const second = await payments.create({ ...order, total: { value: "1500", currency: "KMF" } });
    expect(second.clientId).not.toBe(first.clientId);
    expect(await payments.find(first.clientId)).toMatchObject({ replacedBy: second.clientId });
    await expect(
      payments.create({ ...order, reference: "order-2", clientId: first.clientId }),
    ).rejects.toMatchObject({ code: "client_id_taken" });
    await service.close();
  });

  it("failed is made final, and the late success dropped: the success counts, and raises payment.paid_late", async () => {
    const { post, seed, payments, events } = shop();
    await seed(pendingPayment());
    for (const status of ["failed", "held", "canceled", "completed", "failed"])
      expect(await post(statusBody(status, { captured: status === "completed" }))).toBe(200);
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
    expect(await events("c-1")).toEqual([
      "payment.updated",
      "payment.reported",
      "payment.updated",
      "payment.completed",
      "payment.paid_late",
    ]);
  });

  it("a second completed payment is swallowed: it raises an event with both payments, and fulfils nothing", async () => {
    const { post, seed, payments, events } = shop();
    const twice = new Promise<TillkitEvent<"payment.paid_twice">>((resolve) =>
      payments.on("payment.paid_twice", resolve),
    );
    await payments.start({ keepAlive: false });
    await seed(pendingPayment({ open: false }), pendingPayment({ clientId: "c-2", serviceId: "s-2" }));
    await post(completedBody());
    await post(completedBody({ clientId: "c-2", id: "s-2" }));
    expect(await events("c-2")).toEqual(["payment.paid_twice"]);
    expect(await twice).toMatchObject({
      payment: { clientId: "c-2", serviceId: "s-2", reference: "order-1", total: { value: "1475" } },
      firstClientId: "c-1",
      first: { clientId: "c-1", state: "completed" },
      verified: { providerId: "MVK-778" },
    });
  });

  it("amount or currency is not compared, or as floats: one franc more is a mismatch, and digits beyond the precision of floats count", async () => {
    const { post, seed, payments, events } = shop();
    const large = { value: "9007199254740993", currency: "KMF" };
    await seed(
      pendingPayment(),
      pendingPayment({ clientId: "c-2", reference: "order-2", serviceId: "s-2", total: large }),
    );
    await post(completedBody({ total: { value: "1476", currency: "KMF" } }));
    await post(completedBody({ total: { value: "1475", currency: "EUR" } }));
    // Equal as a float, but another amount.
    expect(Number(large.value)).toBe(Number("9007199254740992"));
    await post(completedBody({ clientId: "c-2", id: "s-2", total: { ...large, value: "9007199254740992" } }));
    expect(await events("c-1")).toEqual(["payment.mismatched", "payment.mismatched"]);
    expect(await events("c-2")).toEqual(["payment.mismatched"]);
    await post(completedBody({ total: { value: "1475.00", currency: "KMF" } }));
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
    expect(await payments.find("c-2")).toMatchObject({ state: "pending" });
  });
});
