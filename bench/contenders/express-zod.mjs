// Express by hand, with the fields checked by zod, which the kit also does.
import { createServer } from "node:http";
import express from "express";
import { z } from "zod";
import { listen } from "../harness/listen.mjs";
import { isSignedHex, signHex } from "../harness/sign.mjs";

export const sign = signHex;

const webhook = z.object({
  topic: z.string(),
  timestamp: z.iso.datetime(),
  type: z.string(),
  data: z.object({
    id: z.string(),
    status: z.string(),
    captured: z.boolean(),
    total: z.object({ value: z.string().regex(/^\d+(\.\d+)?$/), currency: z.string().length(3) }),
    submittedAt: z.iso.datetime(),
    clientId: z.string(),
    providerId: z.string().optional(),
    source: z.string().optional(),
  }),
});

export function start(port) {
  const app = express();
  app.post("/webhook", express.raw({ type: "application/json" }), (request, response) => {
    if (!isSignedHex(request, request.body)) return response.sendStatus(401);
    webhook.parse(JSON.parse(request.body.toString()));
    response.json({ received: true });
  });
  return listen(createServer(app), port);
}
