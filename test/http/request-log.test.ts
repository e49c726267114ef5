import { Writable } from "node:stream";
import { pino } from "pino";
import request from "supertest";
import { makeReturnToken } from "../../src/checkout/return-token.js";
import { MemoryStore, type MemoryTx } from "tillkit";
import { appOf, closeAll, secret, testKit } from "../support/kit.js";
import { completedBody, pendingPayment, signed } from "../support/webhooks.js";

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
    });
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
    const { lines } = await logged();
    const { default: express } = await import("express");
    const { paymentRouter } = await import("tillkit");
    const logger = pino(
      new Writable({ write: (line: Buffer, _, done) => (lines.push(line.toString()), done()) }),
    );
    const app = express()
      .use(express.json())
      .use(paymentRouter(testKit({ logger })));
    const { headers, rawBody } = signed(completedBody());
    await request(app).post("/webhook").set(headers).send(rawBody.toString()).expect(500);
    expect(lines.join("")).toContain("captureRawBody");
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
