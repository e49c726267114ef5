import express, { type ErrorRequestHandler } from "express";
import express4 from "express4";
import { MemoryStore, paymentRouter, type MemoryTx } from "tillkit";
import { makeReturnToken } from "../../../src/checkout/return-token.js";
import { closeAll, serve, testKit } from "../../support/kit.js";
import { pendingPayment } from "../../support/webhooks.js";
import { send } from "../../promises/corpora/world.js";

afterEach(closeAll);

const { token, hash } = makeReturnToken("c-1");

/** A shop whose own error page and console would show the address of a request. */
async function open(framework: typeof express): Promise<{ url: string; reached: string[] }> {
  const store = new MemoryStore();
  await store.transaction((tx) => store.save(tx, { created: [pendingPayment({ returnKeyHash: hash })] }));
  const app = framework();
  app.use("/payments", paymentRouter(testKit<never, MemoryTx>({ store })));
  const reached: string[] = [];
  app.use((request, response) => {
    reached.push(request.originalUrl);
    response.status(404).send("the shop's own");
  });
  app.use(((_error, request, response, _next) => {
    reached.push(request.originalUrl);
    response.status(500).send("the shop's own");
  }) satisfies ErrorRequestHandler);
  return { url: await serve(app), reached };
}

const forged = [
  `${token}x`,
  `${token}/`.replace("~", "~~"),
  `${token}%`,
  `${token}%ff`,
  `${token}%E0%A4%A`,
  `${token}%00`,
  `${token}/state%ff`,
  `${token}%ff/state`,
  `${token}/other`,
  `${token}/state/state`,
  `${token}//`,
  `/${token}`,
  "<script>alert(1)</script>",
  "%3Cscript%3Ealert(1)%3C/script%3E",
  "..%2f..%2f",
  "../../%2e%2e",
  "https://evil.example/",
  "/evil.example",
  "\\\\evil.example",
  "x?next=https://evil.example",
  "%0d%0aSet-Cookie:a=b",
  ":token",
  "*",
  "__proto__",
  "constructor/state",
];

for (const [version, framework] of [
  ["5", express],
  ["4", express4 as unknown as typeof express],
] as const) {
  describe(`an unknown return address, under Express ${version}`, () => {
    it("is answered 404 by the kit, never by the application, whose error page would show the address", async () => {
      const { url, reached } = await open(framework);
      for (const kind of ["success", "cancel"]) {
        for (const part of forged) {
          const answer = await send(url, { path: `/payments/${kind}/${part}` });
          expect([part, answer.status]).toEqual([part, 404]);
          expect(answer.body).not.toContain(token.split("~")[1]);
          expect(answer.body).not.toMatch(/evil|alert\(1\)|URIError| at /);
          expect(answer.headers["location"]).toBeUndefined();
          expect(answer.headers).toMatchObject({
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
          });
        }
      }
      expect(reached).toEqual([]);
    });

    it("leaves other addresses to the application, and finds a valid return address", async () => {
      const { url, reached } = await open(framework);
      for (const path of [
        "/payments",
        "/payments/success",
        "/payments/success/",
        "/payments/successes/x",
        "/payments/webhook/x",
      ])
        expect([path, (await send(url, { path })).body]).toEqual([path, "the shop's own"]);
      expect(reached).toHaveLength(5);
      expect((await send(url, { path: `/payments/success/${token}` })).status).toBe(200);
      expect((await send(url, { path: `/payments/success/${encodeURIComponent(token)}/state` })).status).toBe(
        200,
      );
    });

    it("is answered 405 for other methods than GET and HEAD", async () => {
      const { url } = await open(framework);
      for (const path of [`/payments/cancel/${token}`, "/payments/cancel/a/b/c", "/payments/cancel/%ff"])
        expect([path, (await send(url, { method: "POST", path })).status]).toEqual([path, 405]);
    });
  });
}
