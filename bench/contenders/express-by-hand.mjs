// What a good developer writes in Express without a kit: raw body, HMAC, JSON.parse.
import { createServer } from "node:http";
import express from "express";
import { listen } from "../harness/listen.mjs";
import { isSignedHex, signHex } from "../harness/sign.mjs";

export const sign = signHex;

export function start(port) {
  const app = express();
  app.post("/webhook", express.raw({ type: "application/json" }), (request, response) => {
    if (!isSignedHex(request, request.body)) return response.sendStatus(401);
    JSON.parse(request.body.toString());
    response.json({ received: true });
  });
  return listen(createServer(app), port);
}
