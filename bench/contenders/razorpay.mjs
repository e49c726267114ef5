import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import express from "express";
import Razorpay from "razorpay";
import { listen } from "../harness/listen.mjs";
import { secret } from "../harness/webhooks.mjs";

export function sign(body) {
  return { "X-Razorpay-Signature": createHmac("sha256", secret).update(body).digest("hex") };
}

export function start(port) {
  const app = express();
  app.post("/webhook", express.raw({ type: "application/json" }), (request, response) => {
    const body = request.body.toString();
    const signature = request.headers["x-razorpay-signature"];
    if (!Razorpay.validateWebhookSignature(body, signature, secret)) return response.status(400).json({});
    JSON.parse(body);
    response.json({ received: true });
  });
  return listen(createServer(app), port);
}
