// As its documentation shows: the client's own unwrap().
import { createServer } from "node:http";
import DodoPayments from "dodopayments";
import express from "express";
import { listen } from "../harness/listen.mjs";
import { standardSigner } from "../harness/sign.mjs";
import { secret } from "../harness/webhooks.mjs";

export const sign = standardSigner("webhook", secret);

export function start(port) {
  const webhookKey = Buffer.from(secret).toString("base64");
  const client = new DodoPayments({ bearerToken: "bench", webhookKey });
  const app = express();
  app.post("/webhook", express.raw({ type: "application/json" }), (request, response) => {
    try {
      client.webhooks.unwrap(request.body.toString(), { headers: request.headers });
    } catch {
      return response.status(400).json({});
    }
    response.json({ received: true });
  });
  return listen(createServer(app), port);
}
