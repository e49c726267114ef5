// As its documentation shows: https://docs.stripe.com/webhooks
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import express from "express";
import { Stripe } from "stripe";
import { listen } from "../harness/listen.mjs";
import { secret } from "../harness/webhooks.mjs";

export function sign(body) {
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  return { "Stripe-Signature": `t=${timestamp},v1=${signature}` };
}

export function start(port) {
  const stripe = new Stripe("sk_test_bench");
  const app = express();
  app.post("/webhook", express.raw({ type: "application/json" }), (request, response) => {
    try {
      stripe.webhooks.constructEvent(request.body, request.headers["stripe-signature"], secret);
    } catch {
      return response.status(400).send("Webhook Error");
    }
    response.json({ received: true });
  });
  return listen(createServer(app), port);
}
