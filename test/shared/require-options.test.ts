import express from "express";
import {
  canonicalFields,
  captureRawBody,
  clientCredentials,
  createExpressServer,
  createPayments,
  fetchHandler,
  fieldsSignature,
  hmacSignature,
  publicKeySignature,
  returnRouter,
  standardWebhooksSignature,
  webhookRouter,
} from "tillkit";
import { createSandbox } from "tillkit/sandbox";
import { asPool, schemaState, sqlStore } from "tillkit/sql";
import { htmlReport } from "tillkit/statement";
import { examineStore, testPayments, testStore } from "tillkit/testing";

describe("a scheme without options", () => {
  it.each([
    ["hmacSignature", hmacSignature, "signature: must be an object of options, such as { secret }."],
    ["fieldsSignature", fieldsSignature, "signature: must be an object of options, such as { secret }."],
    [
      "standardWebhooksSignature",
      standardWebhooksSignature,
      "signature: must be an object of options, such as { secret }.",
    ],
    [
      "publicKeySignature",
      publicKeySignature,
      "signature: must be an object of options, such as { publicKey }.",
    ],
    [
      "clientCredentials",
      clientCredentials,
      "clientCredentials: must be an object of options, such as { tokenUrl, clientId, clientSecret }.",
    ],
  ])("%s names what it expects, and does not repeat a secret", (_name, scheme, message) => {
    for (const given of [undefined, null, "8f1c0e7d5b3a49c6", 5]) {
      const construct = () => (scheme as (options: unknown) => unknown)(given);
      expect(construct).toThrow(expect.objectContaining({ code: "option_invalid" }));
      expect(construct).toThrow(message);
      expect(construct).not.toThrow("8f1c0e7d5b3a49c6");
    }
  });
});

describe("a forgotten argument, or one of another kind", () => {
  it.each<[string, unknown, unknown[], string]>([
    ["webhookRouter", webhookRouter, [undefined, null, "x", {}], "takes what createPayments returned."],
    ["returnRouter", returnRouter, [undefined, null, "x", {}], "takes what createPayments returned."],
    ["fetchHandler", fetchHandler, [undefined, null, "x", {}], "takes what paymentRouter returned."],
    ["createExpressServer", createExpressServer, [undefined, {}, () => {}], "createExpressServer(express())"],
    ["captureRawBody", captureRawBody, [undefined, {}], "express.json({ verify: captureRawBody })"],
    ["canonicalFields", canonicalFields, [undefined, {}], "such as { fields, merchantId }"],
    ["createPayments", createPayments, ["x", 5], "such as { publicUrl, service, signature, store }"],
    ["createSandbox", createSandbox, [null, "x"], "such as { webhookUrls }"],
    ["asPool", asPool, [undefined, null, {}], "takes the tx of a handler."],
    ["htmlReport", htmlReport, [null, "fr"], "such as { language }"],
    ["testStore", testStore, [undefined, null, {}], "takes { create }, which makes a store."],
    ["sqlStore", sqlStore, [undefined, null, {}], "must be a path or an address."],
  ])("of %s is refused with a code, and says what to give", (_name, call, arguments_, message) => {
    for (const given of arguments_) {
      const use = () => (call as (given: unknown) => unknown)(given);
      expect(use).toThrow(expect.objectContaining({ code: "option_invalid" }));
      expect(use).toThrow(message);
    }
  });

  it.each<[string, (given: never) => Promise<unknown>, unknown]>([
    ["schemaState", schemaState, undefined],
    ["examineStore", examineStore, undefined],
    ["testPayments", testPayments, null],
  ])("of %s is refused with a code", async (_name, call, given) => {
    await expect(call(given as never)).rejects.toMatchObject({ code: "option_invalid" });
  });

  it("of captureRawBody is refused where it is used as a middleware, instead of hanging", async () => {
    const app = express().use(captureRawBody as never);
    const server = app.listen(0);
    const { port } = server.address() as { port: number };
    const log = jest.spyOn(console, "error").mockImplementation(() => {});
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { Connection: "close" } });
    log.mockRestore();
    server.close();
    expect(answer.status).toBe(500);
    expect(await answer.text()).toContain("captureRawBody");
  });
});
