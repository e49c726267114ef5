// As its documentation shows for an own route: validate() over the raw body; parsing is left to the caller.
// Version 13, because 14 needs a newer version of Node than the benchmark.
// eslint-disable-next-line import/no-unassigned-import -- selects the adapter for Node.
import "@shopify/shopify-api/adapters/node";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { ApiVersion, LogSeverity, shopifyApi } from "@shopify/shopify-api";
import express from "express";
import { listen } from "../harness/listen.mjs";
import { secret } from "../harness/webhooks.mjs";

export function sign(body, n) {
  return {
    "X-Shopify-Hmac-Sha256": createHmac("sha256", secret).update(body).digest("base64"),
    "X-Shopify-Topic": "orders/paid",
    "X-Shopify-Shop-Domain": "bench.myshopify.com",
    "X-Shopify-API-Version": "2026-01",
    "X-Shopify-Webhook-Id": `bench-${n}`,
  };
}

export function start(port) {
  const shopify = shopifyApi({
    apiKey: "bench",
    apiSecretKey: secret,
    apiVersion: Object.values(ApiVersion)[0],
    hostName: "shop.example",
    isEmbeddedApp: false,
    logger: { level: LogSeverity.Error, log() {} },
  });
  const app = express();
  app.post("/webhook", express.raw({ type: "application/json" }), async (request, response) => {
    const rawBody = request.body.toString();
    const { valid } = await shopify.webhooks.validate({
      rawBody,
      rawRequest: request,
      rawResponse: response,
    });
    if (!valid) return response.status(401).json({});
    JSON.parse(rawBody);
    response.json({ received: true });
  });
  return listen(createServer(app), port);
}
