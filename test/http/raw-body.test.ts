import express5 from "express";
import express4 from "express4";
import request from "supertest";
import { captureRawBody, paymentRouter } from "tillkit";
import { closeAll, testKit } from "../support/kit.js";
import { completedBody, signed } from "../support/webhooks.js";

afterEach(closeAll);

// JSON.stringify would not write this space, so only the exact bytes verify.
const body = JSON.stringify(completedBody()).replace('{"topic":', '{ "topic" :');
const versions = [
  ["Express 5", express5],
  ["Express 4", express4 as unknown as typeof express5],
] as const;

describe.each(versions)("the raw body, on %s,", (_, express) => {
  const post = (app: ReturnType<typeof express>, path: string) => {
    const { headers, rawBody } = signed(body);
    return request(app).post(path).set(headers).send(rawBody.toString());
  };
  const router = () => paymentRouter(testKit());

  it("is read by the router, mounted at the root", async () => {
    const app = express().use(router() as never);
    expect((await post(app, "/webhook")).status).toBe(200);
  });

  it("is read by the router, mounted deep inside another router", async () => {
    const outer = express.Router().use("/pay", router() as never);
    const app = express().use("/api/v2", outer);
    expect((await post(app, "/api/v2/pay/webhook")).status).toBe(200);
  });

  it("is read by the router when express.json() comes after it", async () => {
    const app = express().use("/payments", router() as never);
    app.use(express.json());
    app.post("/echo", (req, res) => void res.json(req.body));
    expect((await post(app, "/payments/webhook")).status).toBe(200);
    const echoed = await request(app).post("/echo").send({ a: 1 });
    expect(echoed.body).toEqual({ a: 1 });
  });

  it("is taken from captureRawBody when express.json() comes before it", async () => {
    const app = express().use(express.json({ verify: captureRawBody }));
    app.use("/payments", router() as never);
    expect((await post(app, "/payments/webhook")).status).toBe(200);
  });

  it("is taken from express.raw() when that comes before it", async () => {
    const app = express().use(express.raw({ type: "*/*" }));
    app.use("/payments", router() as never);
    expect((await post(app, "/payments/webhook")).status).toBe(200);
  });

  it("whose body a JSON parser has read gets a 500 that names the fix; no body is serialised again", async () => {
    const payments = testKit();
    const rejected: { code: string; status: number }[] = [];
    payments.on("webhook.rejected", (notice) => void rejected.push(notice));
    const app = express().use(express.json());
    app.use("/payments", paymentRouter(payments) as never);

    const response = await post(app, "/payments/webhook");

    expect(response.status).toBe(500);
    expect(rejected).toEqual([{ code: "raw_body_consumed", status: 500 }]);
  });

  it.each([
    ["is read by the router", undefined],
    ["is taken from captureRawBody", express.json({ verify: captureRawBody, limit: "1mb" })],
    ["is taken from express.raw()", express.raw({ type: "*/*", limit: "1mb" })],
  ])("may have exactly the bytes of the limit, and not one more, where it %s", async (_, parser) => {
    const payments = testKit({ webhook: { limitBytes: Buffer.byteLength(body) } });
    const app = express();
    if (parser) app.use(parser);
    app.use("/payments", paymentRouter(payments) as never);
    expect((await post(app, "/payments/webhook")).status).toBe(200);

    const larger = signed(`${body} `);
    const refused = await request(app)
      .post("/payments/webhook")
      .set(larger.headers)
      .send(larger.rawBody.toString());
    expect(refused.status).toBe(413);
  });

  it("is refused at the first byte too many, where its length is not announced", async () => {
    const limitBytes = Buffer.byteLength(body);
    const app = express().use("/payments", paymentRouter(testKit({ webhook: { limitBytes } })) as never);
    const chunked = (text: string) => {
      const { headers } = signed(text);
      const sending = request(app)
        .post("/payments/webhook")
        .set({ ...headers, "transfer-encoding": "chunked" });
      sending.write(text.slice(0, 10));
      return sending.send(text.slice(10));
    };
    expect((await chunked(body)).status).toBe(200);
    expect((await chunked(`${body} `)).status).toBe(413);
  });

  it("may be empty, and is then not signed", async () => {
    const app = express().use("/payments", router() as never);
    const response = await request(app).post("/payments/webhook").set("content-type", "application/json");
    expect(response.status).toBe(401);
  });
});
