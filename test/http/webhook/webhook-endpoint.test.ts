import { createHash } from "node:crypto";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import express from "express";
import request from "supertest";
import { captureRawBody, paymentRouter, type PaymentStore, type SignatureScheme } from "tillkit";
import { appOf, closeAll, serve, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed } from "../../support/webhooks.js";
import { collectedLog } from "../collected-log.js";

afterEach(closeAll);

const { rawBody, headers } = signed(completedBody());
const good = headers["service-signature"];

function post(signature: string | undefined, body = rawBody.toString()) {
  const payments = testKit();
  const sent = request(appOf(payments)).post("/payments/webhook").set("content-type", "application/json");
  if (signature !== undefined) sent.set("service-signature", signature);
  return sent.send(body);
}

describe("the webhook endpoint answers", () => {
  it.each([
    ["no signature", undefined],
    ["an empty signature", ""],
    ["a signature that is not hexadecimal", "zz".repeat(32)],
    ["a truncated signature", good.slice(0, -2)],
    ["a signature with something behind it", `${good}00`],
    ["the signature twice, joined as Node joins repeated headers", `${good}, ${good}`],
    [
      "the signature of another body",
      signed(completedBody({ clientId: "c-2" })).headers["service-signature"],
    ],
  ])("%s with 401 and one constant body", async (_, signature) => {
    const response = await post(signature);
    expect(response.status).toBe(401);
    expect(response.body).toEqual({ error: "signature_invalid" });
  });

  it("a changed byte with 401", async () => {
    const response = await post(good, rawBody.toString().replace("1475", "1476"));
    expect(response.status).toBe(401);
  });

  it("a repeated signature header with 401, though each is right", async () => {
    const address = new URL(await serve(appOf(testKit())));
    const answer = await raw(address, [
      "POST /payments/webhook HTTP/1.1",
      "Host: shop",
      "Content-Type: application/json",
      `Content-Length: ${rawBody.length}`,
      `Service-Signature: ${good}`,
      `Service-Signature: ${good}`,
      "Connection: close",
      "",
      rawBody.toString(),
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  it("another method with 405 and Allow", async () => {
    const response = await request(appOf(testKit())).get("/payments/webhook");
    expect([response.status, response.headers["allow"]]).toEqual([405, "POST"]);
  });

  it.each(["application/x-www-form-urlencoded", "Multipart/form-data; boundary=x"])(
    "a form (%s) with 415",
    async (type) => {
      const response = await request(appOf(testKit()))
        .post("/payments/webhook")
        .set({ ...headers, "content-type": type })
        .send(rawBody.toString());
      expect(response.status).toBe(415);
    },
  );

  it.each([
    "text/plain",
    "application/json",
    "application/vnd.pay+json",
    "application/json;note=multipart/mixed",
    "*/*",
    undefined,
  ])("the content type %s with 200", async (type) => {
    const answer = await raw(new URL(await serve(appOf(testKit()))), [
      "POST /payments/webhook HTTP/1.1",
      "Host: shop",
      ...(type === undefined ? [] : [`Content-Type: ${type}`]),
      `Content-Length: ${rawBody.length}`,
      `Service-Signature: ${good}`,
      "Connection: close",
      "",
      rawBody.toString(),
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("a content type with a charset with 200", async () => {
    const response = await request(appOf(testKit()))
      .post("/payments/webhook")
      .set({ ...headers, "content-type": "application/json; charset=utf-8" })
      .send(rawBody.toString());
    expect(response.status).toBe(200);
  });

  it("a content-encoding with 415, and decompresses nothing", async () => {
    const response = await request(appOf(testKit()))
      .post("/payments/webhook")
      .set({ ...headers, "content-encoding": "gzip" })
      .send(gzipSync(rawBody));
    expect(response.status).toBe(415);
  });

  it.each(["identity", "Identity"])("the content-encoding %s with 200", async (encoding) => {
    const sent = request(appOf(testKit())).post("/payments/webhook");
    const response = await sent.set({ ...headers, "content-encoding": encoding }).send(rawBody.toString());
    expect(response.status).toBe(200);
  });

  it("a body over the limit with 413 and a closed connection, declared or streamed", async () => {
    const app = appOf(testKit({ webhook: { limitBytes: 100 } }));
    const declared = await request(app).post("/payments/webhook").set(headers).send(rawBody.toString());
    expect([declared.status, declared.headers["connection"]]).toEqual([413, "close"]);

    const chunk = `ff\r\n${"x".repeat(255)}\r\n`;
    const streamed = await raw(new URL(await serve(app)), [
      "POST /payments/webhook HTTP/1.1",
      "Host: shop",
      "Content-Type: application/json",
      "Transfer-Encoding: chunked",
      `Service-Signature: ${good}`,
      "",
      chunk,
    ]);
    expect(streamed).toMatch(/^HTTP\/1\.1 413 [\s\S]*connection: close/i);
  });

  it("a body over the limit with 413 also where the application has parsed it", async () => {
    const app = express().use(express.json({ verify: captureRawBody }));
    app.use("/payments", paymentRouter(testKit({ webhook: { limitBytes: 100 } })));
    const response = await request(app).post("/payments/webhook").set(headers).send(rawBody.toString());
    expect(response.status).toBe(413);
  });

  it("503 with Retry-After when nothing can keep the webhook, and nothing is promised", async () => {
    const payments = testKit({ webhook: { recordTimeoutMs: 50 } });
    await payments.store.close();
    const unavailable: string[] = [];
    payments.on("store.unavailable", ({ during }) => void unavailable.push(during));
    const response = await request(appOf(payments))
      .post("/payments/webhook")
      .set(headers)
      .send(rawBody.toString());
    expect([response.status, response.headers["retry-after"]]).toEqual([503, "5"]);
    expect(unavailable).toContain("record");
  });

  it("a verification that throws with 401, and keeps running", async () => {
    const signature: SignatureScheme = {
      header: "x-own",
      covers: "body",
      verify() {
        throw new Error("a bug in the scheme");
      },
    };
    const app = appOf(testKit({ signature }));
    for (const _ of [1, 2]) {
      const response = await request(app).post("/payments/webhook").set(headers).send(rawBody.toString());
      expect(response.status).toBe(401);
    }
  });

  it("a merchant's scheme that returns true with 200, and one that returns a truthy value with 401", async () => {
    const own = (answer: unknown): SignatureScheme => ({
      header: "x-own",
      covers: "body",
      verify: async ({ headers }) => (headers["x-own"] === "let me in" ? (answer as boolean) : false),
    });
    const send = (answer: unknown) =>
      request(appOf(testKit({ signature: own(answer) })))
        .post("/payments/webhook")
        .set({ "content-type": "application/json", "x-own": "let me in" })
        .send(rawBody.toString());
    expect((await send(true)).status).toBe(200);
    expect((await send("yes")).status).toBe(401);
  });
});

describe("a webhook that was answered 200", () => {
  it("is recorded before the answer is sent", async () => {
    const payments = testKit();
    await seed(payments.store, pendingPayment());
    await request(appOf(payments))
      .post("/payments/webhook")
      .set(headers)
      .send(rawBody.toString())
      .expect(200);
    expect(await payments.find("c-1")).toMatchObject({ state: "completed" });
  });
});

describe("a webhook that is refused", () => {
  const bodyHash = createHash("sha256").update(rawBody).digest("hex").slice(0, 12);

  it.each([
    [
      "without a signature",
      { "service-signature": "" },
      { code: "signature_missing", status: 401, bodyHash },
    ],
    [
      "with a wrong one",
      { "service-signature": "0".repeat(64) },
      { code: "signature_mismatch", status: 401, bodyHash },
    ],
    [
      "before its body is read",
      { "content-encoding": "br" },
      { code: "content_encoding_unsupported", status: 415 },
    ],
  ])("%s is announced, with the hash of a body that was read", async (_, changed, notice) => {
    const payments = testKit();
    const refused: unknown[] = [];
    payments.on("webhook.rejected", (each) => void refused.push(each));
    const sent = request(appOf(payments)).post("/payments/webhook");
    const response = await sent.set({ ...headers, ...changed }).send(rawBody.toString());
    expect(response.status).toBe(notice.status);
    expect(refused).toEqual([notice]);
  });

  it("by an error of the kit itself is answered 503, and the error is logged", async () => {
    const { logger, lines } = collectedLog();
    let time = new Date();
    const payments = testKit({ logger, now: () => time });
    const app = appOf(payments);
    await payments.start({ keepAlive: false });
    const notices: unknown[] = [];
    payments.on("webhook.rejected", (each) => void notices.push(each));
    // It cannot be formatted.
    time = new Date(Number.NaN);
    const sent = request(app).post("/payments/webhook").set(headers);
    const { status, body, headers: answered } = await sent.send(rawBody.toString());
    expect([status, answered["retry-after"], body]).toEqual([503, "5", { error: "unavailable" }]);
    const code = "record_unavailable";
    expect(notices).toEqual([{ code, status, bodyHash }]);
    expect(lines.filter(({ err, level }) => level === 50 && err)).toMatchObject([
      { code, err: { type: "RangeError" } },
      { code, res: { status } },
    ]);
  });

  it("by the application's own timeout is not announced, because the kit has the webhook", async () => {
    const payments = testKit();
    const refused: unknown[] = [];
    payments.on("webhook.rejected", (each) => void refused.push(each));
    const app = express().use((_request, response, next) => next(void response.status(503).end()));
    const received = jest.fn(payments.receiveWebhook);
    app.use("/payments", paymentRouter({ ...payments, receiveWebhook: received }));
    await request(app).post("/payments/webhook").set(headers).send(rawBody.toString()).expect(503);
    expect(await received.mock.results[0]!.value).toMatchObject({ outcome: "unmatched" });
    await new Promise(setImmediate);
    expect(refused).toEqual([]);
  });

  it("by a fault of the application is logged as an error, with its code", async () => {
    const { logger, lines } = collectedLog();
    const app = express().use(express.json());
    app.use("/payments", paymentRouter(testKit({ logger })));
    await request(app).post("/payments/webhook").set(headers).send(rawBody.toString()).expect(500);
    expect(lines).toMatchObject([
      { level: 50, code: "raw_body_consumed", err: { type: "WebhookRejectedError" } },
      { level: 50, code: "raw_body_consumed", res: { status: 500 } },
    ]);
  });

  it("by a fault of its sender is logged as a warning", async () => {
    const { logger, lines } = collectedLog();
    await request(appOf(testKit({ logger })))
      .get("/payments/webhook")
      .expect(405);
    expect(lines).toMatchObject([{ level: 40, code: "method_not_allowed", res: { status: 405 } }]);
  });
});

async function seed<Tx>(store: PaymentStore<Tx>, payment: ReturnType<typeof pendingPayment>) {
  await store.transaction((tx) => store.save(tx, { created: [payment] }));
}

/** Sends bytes that no HTTP client would send, and resolves to the whole answer. */
function raw({ hostname, port }: URL, lines: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(lines.join("\r\n")));
    let answer = "";
    socket.setEncoding("latin1");
    socket.on("data", (data) => (answer += data));
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}
