// As its readme shows: unmarshal() over the raw body.
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { Paddle } from "@paddle/paddle-node-sdk";
import express from "express";
import { listen } from "../harness/listen.mjs";
import { secret } from "../harness/webhooks.mjs";

export function sign(body) {
  // It accepts signatures that are five seconds old at most, and a round can last longer; one of the future is accepted.
  const timestamp = Math.floor(Date.now() / 1000) + 300;
  const signature = createHmac("sha256", secret).update(`${timestamp}:${body}`).digest("hex");
  return { "Paddle-Signature": `ts=${timestamp};h1=${signature}` };
}

export function start(port) {
  const paddle = new Paddle("bench");
  const app = express();
  app.post("/webhook", express.raw({ type: "application/json" }), async (request, response) => {
    try {
      const signature = request.headers["paddle-signature"];
      await paddle.webhooks.unmarshal(request.body.toString(), secret, signature);
    } catch {
      return response.status(400).json({});
    }
    response.json({ received: true });
  });
  return listen(createServer(app), port);
}
