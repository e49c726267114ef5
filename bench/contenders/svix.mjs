// As its documentation shows: https://docs.svix.com/receiving/verifying-payloads/how
import { createServer } from "node:http";
import express from "express";
import { Webhook } from "svix";
import { listen } from "../harness/listen.mjs";
import { standardSigner } from "../harness/sign.mjs";
import { secret } from "../harness/webhooks.mjs";

export const sign = standardSigner("svix", secret);

export function start(port) {
  const webhook = new Webhook(Buffer.from(secret).toString("base64"));
  const app = express();
  app.post("/webhook", express.raw({ type: "application/json" }), (request, response) => {
    try {
      webhook.verify(request.body, request.headers);
    } catch {
      return response.status(400).json({});
    }
    response.json({ received: true });
  });
  return listen(createServer(app), port);
}
