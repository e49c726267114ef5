import { readFileSync } from "node:fs";
import request, { type Response } from "supertest";
import { MemoryStore, type MemoryTx, type Payment, type ReturnOptions } from "tillkit";
import { makeReturnToken } from "../../src/checkout/return-token.js";
import { checkerOf } from "../sandbox/service-api/description-checker.js";
import { appOf, closeAll, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";

afterEach(closeAll);

const check = checkerOf(JSON.parse(readFileSync("docs/interfaces/router.openapi.json", "utf8")) as never);
const { token, hash } = makeReturnToken("c-1");

/** Returns an application with one payment, whose answers are compared with the description. */
async function open(returns?: ReturnOptions, payment: Partial<Payment> = {}) {
  const store = new MemoryStore();
  const createdAt = new Date().toISOString();
  const created = [pendingPayment({ returnKeyHash: hash, createdAt, ...payment })];
  await store.transaction((tx) => store.save(tx, { created }));
  return appOf(testKit<never, MemoryTx>({ store, returns }));
}

function found(path: string, method: "get" | "post", answer: Response) {
  return { status: answer.status, problems: check(path, method, answer) };
}

const described = (status: number) => ({ status, problems: [] });

describe("the description of the router", () => {
  it("says what the webhook's address answers", async () => {
    const app = await open();
    const { rawBody, headers } = signed(completedBody());
    const post = (more: Record<string, string>, body: Buffer | string = rawBody) =>
      request(app)
        .post("/payments/webhook")
        .set({ ...headers, ...more })
        .send(body.toString());
    expect(found("/webhook", "post", await post({}))).toEqual(described(200));
    expect(found("/webhook", "post", await post({}))).toEqual(described(200));
    expect(found("/webhook", "post", await post({ "service-signature": "00".repeat(32) }))).toEqual(
      described(401),
    );
    expect(found("/webhook", "post", await post({ "content-type": "multipart/form-data" }))).toEqual(
      described(415),
    );
    expect(found("/webhook", "post", await post({}, "x".repeat(2_000_000)))).toEqual(described(413));
    expect(found("/webhook", "post", await request(app).get("/payments/webhook"))).toEqual(described(405));
  });

  it.each(["success", "cancel"])("says what the %s address answers", async (kind) => {
    const app = await open();
    const path = `/${kind}/{token}`;
    expect(found(path, "get", await request(app).get(`/payments/${kind}/${token}`))).toEqual(described(200));
    expect(found(path, "get", await request(app).get(`/payments/${kind}/unknown`))).toEqual(described(404));
    const state = `${path}/state`;
    expect(found(state, "get", await request(app).get(`/payments/${kind}/${token}/state`))).toEqual(
      described(200),
    );
    expect(found(state, "get", await request(app).get(`/payments/${kind}/unknown/state`))).toEqual(
      described(404),
    );
    expect(found(state, "get", await request(app).post(`/payments/${kind}/${token}/state`))).toEqual(
      described(405),
    );
    const pages = { successUrl: "https://shop.example/thanks", cancelUrl: "https://shop.example/basket" };
    const redirected = await request(await open(pages)).get(`/payments/${kind}/${token}`);
    expect(found(path, "get", redirected)).toEqual(described(303));
  });

  it("says what a claim is answered", async () => {
    const app = await open({}, { successReturnedAt: new Date(Date.now() - 150_000).toISOString() });
    const path = "/success/{token}";
    const post = (number: string, of = token) =>
      request(app).post(`/payments/success/${of}?claim`).type("form").send({ number });
    const state = await request(app).get(`/payments/success/${token}/state`);
    expect(found(`${path}/state`, "get", state)).toEqual(described(200));
    expect(found(path, "post", await post("MVK-778"))).toEqual(described(303));
    expect(found(path, "post", await post("?"))).toEqual(described(422));
    expect(found(path, "post", await post("MVK-778", "unknown"))).toEqual(described(404));
    expect(found(path, "post", await post("MVK-778").set("sec-fetch-site", "cross-site"))).toEqual(
      described(403),
    );
    for (let index = 0; index < 3; index++) await post("?");
    expect(found(path, "post", await post("?"))).toEqual(described(429));
    expect(found(path, "post", await request(app).post(`/payments/success/${token}`))).toEqual(
      described(405),
    );
  });
});
