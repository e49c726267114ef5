import { once } from "node:events";
import { type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { Writable } from "node:stream";
import express from "express";
import { pino } from "pino";
import request from "supertest";
import { makeReturnToken } from "../../src/checkout/return-token.js";
import { fieldsSignature, MemoryStore, paymentRouter, type MemoryTx } from "tillkit";
import { appOf, closeAll, secret, serve, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";
import { until } from "../webhook/spool/fixtures.js";
import { collectedLog } from "./collected-log.js";

afterEach(closeAll);

/** A kit with one payment, whose log lines are collected. */
async function logged() {
  const lines: string[] = [];
  const logger = pino(
    new Writable({ write: (line: Buffer, _, done) => (lines.push(line.toString()), done()) }),
  );
  const store = new MemoryStore();
  const { token, hash } = makeReturnToken("c-1");
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment({ returnKeyHash: hash })] }));
  const payments = testKit<never, MemoryTx>({
    logger,
    store,
    service: { baseUrl: "https://pay.invalid", accessToken: "token-that-stays-secret" },
  });
  return { app: appOf(payments), lines, token };
}

/** Resolves with the lines about a webhook whose body a JSON parser has read. */
async function linesOfConsumed() {
  const { logger, lines } = collectedLog();
  const app = express()
    .use(express.json())
    .use(paymentRouter(testKit({ logger })));
  const { headers, rawBody } = signed(completedBody());
  await request(app).post("/webhook").set(headers).send(rawBody.toString()).expect(500);
  return lines;
}

describe("the log", () => {
  it("has one line per request, with a request id and the webhook's outcome", async () => {
    const { app, lines } = await logged();
    const { headers, rawBody } = signed(completedBody());
    await request(app).post("/payments/webhook").set(headers).send(rawBody.toString()).expect(200);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 30,
      req: { method: "POST" },
      res: { status: 200 },
      reqId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      route: "/webhook",
      outcome: "applied",
      clientId: "c-1",
      bytes: rawBody.length,
      bodyHash: expect.stringMatching(/^[0-9a-f]{12}$/) as string,
      responseTime: expect.any(Number) as number,
      msg: "payment request",
    });
    // JSON.parse takes the last of two fields with one name.
    expect(lines[0]!.match(/"req":/g)).toHaveLength(1);
  });

  it.each([
    ["/payments/success/:token", "/success/:token", 200, 30],
    ["/payments/cancel/:token/state", "/cancel/:token/state", 200, 30],
    ["/payments/success/:token~", "/success/:token", 404, 40],
  ])("has one line for %s, with the route and the payment", async (path, route, status, level) => {
    const { app, lines, token } = await logged();
    const answer = await request(app).get(path.replace(":token", token));
    expect(answer.status).toBe(status);
    expect(lines).toHaveLength(1);
    const { clientId, ...line } = JSON.parse(lines[0]!) as Record<string, unknown>;
    expect(line).toMatchObject({ level, route, req: { method: "GET" }, res: { status } });
    expect(clientId).toBe(status === 200 ? "c-1" : undefined);
  });

  it("says that a webhook was aborted whose sender went away during its body, and no status", async () => {
    const { logger, lines } = collectedLog();
    const url = new URL(await serve(appOf(testKit({ logger }))));
    const { headers } = signed(completedBody());
    const socket = connect(Number(url.port), url.hostname);
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(
      `POST /payments/webhook HTTP/1.1\r\nhost: shop\r\n${head.join("")}content-length: 100\r\n\r\n{`,
    );
    await once(socket, "ready");
    socket.destroy();
    await until(() => lines.length > 0);
    expect(lines).toMatchObject([{ level: 40, route: "/webhook", res: { aborted: true } }]);
    expect(lines[0]!["res"]).not.toHaveProperty("status");
  });

  it("has the level warn for an answer 400", async () => {
    const { logger, lines } = collectedLog();
    const signature = fieldsSignature({ secret, merchantId: "m-1" });
    const app = appOf(testKit({ logger, signature }));
    const { headers } = signed(completedBody());
    await request(app).post("/payments/webhook").set(headers).send("[]").expect(400);
    expect(lines).toMatchObject([{ level: 40, code: "signed_fields_unreadable", res: { status: 400 } }]);
  });

  it("has the level error for an answer 500, with the facts of the request and the error's name and message", async () => {
    const lines = await linesOfConsumed();
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatchObject({
      level: 50,
      route: "/webhook",
      code: "raw_body_consumed",
      reqId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      req: { method: "POST" },
      res: { status: 500 },
      msg: "payment request",
    });
    expect(lines[1]!["err"]).toEqual({ name: "Error", message: expect.stringContaining("500") as string });
  });

  it.each([
    ["error", true],
    ["fatal", false],
  ])("adds nothing to a request where no line could be written: level %s", async (level, isLogged) => {
    const { logger, lines } = collectedLog(level);
    const requests: IncomingMessage[] = [];
    const app = express().use((arrived, _response, next) => next(void requests.push(arrived)));
    app.use(paymentRouter(testKit({ logger })));
    await request(app).get("/webhook").expect(405);
    expect(lines).toEqual([]);
    expect(requests.map((arrived) => "log" in arrived)).toEqual([isLogged]);
  });

  it("has the request id that the application gave", async () => {
    const { logger, lines } = collectedLog();
    const app = express().use((arrived, _response, next) =>
      next(void Object.assign(arrived, { id: "req-7" })),
    );
    app.use(paymentRouter(testKit({ logger })));
    await request(app).get("/webhook").expect(405);
    expect(lines).toMatchObject([{ reqId: "req-7" }]);
  });

  it("says why a webhook was refused, with its error code", async () => {
    const { app, lines } = await logged();
    const { headers, rawBody } = signed(completedBody());
    await request(app).post("/payments/webhook").set(headers).send(`${rawBody.toString()} `).expect(401);
    expect(JSON.parse(lines[1]!)).toMatchObject({
      level: 40,
      code: "signature_mismatch",
      res: { status: 401 },
    });
  });

  it("names the fix where the application is at fault", async () => {
    const lines = await linesOfConsumed();
    expect(JSON.stringify(lines)).toContain("captureRawBody");
  });

  it("never holds a body, a signature, a secret, a token, a return address or a query string", async () => {
    const { app, lines, token } = await logged();
    const { headers, rawBody } = signed(completedBody());
    await request(app)
      .post("/payments/webhook?key=in-the-query")
      .set(headers)
      .send(rawBody.toString())
      .expect(200);
    await request(app).post("/payments/webhook").set(headers).send(`${rawBody.toString()} `).expect(401);
    await request(app).get(`/payments/success/${token}?key=in-the-query`).expect(200);
    await request(app).get(`/payments/cancel/${token}/state`).expect(200);
    await request(app).get("/payments/success/forged~AAAAAAAAAAAAAAAAAAAAAA").expect(404);

    expect(lines).toHaveLength(6);
    const all = lines.join("");
    const key = token.split("~")[1]!;
    for (const hidden of [
      secret,
      headers["service-signature"],
      "token-that-stays-secret",
      key,
      "in-the-query",
      "MVK-778",
      "forged~",
      "submittedAt",
    ]) {
      expect(all).not.toContain(hidden);
    }
  });
});
