import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import express from "express";
import request from "supertest";
import { captureRawBody, fieldsSignature, hmacSignature } from "tillkit";
import { closeAll, scheme, secret } from "../../support/kit.js";
import { completedBody, pendingPayment, signed, statusBody } from "../../support/webhooks.js";
import { shop } from "./shop.js";

afterEach(closeAll);

describe("mistakes in receiving webhooks", () => {
  it("a parser ate the raw body: a body that was serialised again is never verified, and the parser can keep the bytes", async () => {
    // A service may write it like this. No serialiser makes these bytes again.
    const rawBody = Buffer.from(` ${JSON.stringify(completedBody(), null, 3)}\n`);
    const headers = { "content-type": "application/json", "service-signature": scheme.sign(rawBody) };
    const status = async (parser: express.RequestHandler) => {
      const { app, seed } = shop({}, (one) => one.use(parser));
      await seed(pendingPayment());
      return (await request(app).post("/payments/webhook").set(headers).send(rawBody.toString())).status;
    };
    expect(await status(express.json())).toBe(500);
    expect(await status(express.json({ verify: captureRawBody }))).toBe(200);
  });

  it("verification is skipped, or its secret comes from the body: without a secret the kit does not start, and the body cannot choose one", async () => {
    for (const nothing of [undefined, "", "   ", "short"])
      expect(() => hmacSignature({ secret: nothing })).toThrow(/secret/);
    const { app, seed, payments } = shop();
    await seed(pendingPayment());
    const { rawBody, headers } = signed(completedBody());
    const post = (given: Record<string, string>, body: Buffer) =>
      request(app).post("/payments/webhook").set(given).send(body.toString());
    expect((await post({ "content-type": "application/json" }, rawBody)).status).toBe(401);

    const attacker = "an-attackers-secret-of-32-characters";
    const forged = Buffer.from(JSON.stringify({ ...completedBody(), secret: attacker, algorithm: "none" }));
    const byAttacker = { ...headers, "service-signature": hmacSignature({ secret: attacker }).sign(forged) };
    expect((await post(byAttacker, forged)).status).toBe(401);
    expect(await payments.find("c-1")).toMatchObject({ state: "pending" });

    const fields = shop({ signature: fieldsSignature({ secret, merchantId: "m-1" }) });
    const other = signed(
      completedBody({ merchantId: "m-2" }),
      fieldsSignature({ secret, merchantId: "m-2" }),
    );
    await request(fields.app)
      .post("/payments/webhook")
      .set(other.headers)
      .send(other.rawBody.toString())
      .expect(401);
  });

  it("an unknown event is answered with 4xx: every signed message is answered 200, stored and visible", async () => {
    const { post, seed, store, payments } = shop();
    await seed(pendingPayment());
    expect(await post(statusBody("under_review", { captured: false }))).toBe(200);
    expect(await post({ ...statusBody("pending"), topic: "refund.created", type: "refund" })).toBe(200);
    expect(await post({ hello: "world" })).toBe(200);
    expect(await post([1, 2, 3])).toBe(200);
    expect(await payments.find("c-1")).toMatchObject({ status: "under_review" });
    const kept = await store.webhooks({ limit: 10 });
    expect(kept.map(({ outcome }) => outcome).toSorted()).toEqual([
      "applied",
      "inadmissible",
      "inadmissible",
      "unrecognised",
    ]);
  });

  it("tests mock the verifier: no test of this kit does, and the real verifier refuses one changed byte", async () => {
    const { app } = shop();
    const { rawBody, headers } = signed(completedBody());
    const altered = rawBody.toString().replace('"1475"', '"1476"');
    await request(app).post("/payments/webhook").set(headers).send(altered).expect(401);

    const root = path.resolve(__dirname, "../..");
    const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".ts"),
    );
    expect(files.length).toBeGreaterThan(100);
    const mocks =
      /jest\.(?:mock|doMock|unstable_mockModule|spyOn)\((?!AbortSignal)[^)]*(?:verif|sign|hmac|tillkit)/i;
    const own = path.join("promises/field-notes", path.basename(__filename));
    const mocking = files.filter(
      (file) => file !== own && mocks.test(readFileSync(path.join(root, file), "utf8")),
    );
    expect(mocking).toEqual([]);
  });

  it("test credentials end up in production: the kit does not start with credentials of the sandbox", () => {
    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = "production";
    try {
      const refused = expect.objectContaining({ code: expect.stringMatching(/invalid|sandbox/) });
      expect(() => hmacSignature({ secret: `sandbox_${"x".repeat(40)}` })).toThrow(refused);
      expect(() =>
        shop({ service: { baseUrl: "https://pay.example", accessToken: "sandbox_token" } }),
      ).toThrow(/sandbox/);
    } finally {
      process.env.NODE_ENV = before;
    }
  });
});
