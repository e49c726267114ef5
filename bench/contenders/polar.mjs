// Its middleware for Express, which needs a parsed body and a payload of its own service.
import { createServer } from "node:http";
import { Webhooks } from "@polar-sh/express";
import express from "express";
import { listen } from "../harness/listen.mjs";
import { standardSigner } from "../harness/sign.mjs";
import { secret } from "../harness/webhooks.mjs";

// It takes the secret as text, and encodes it in base64 itself.
export const sign = standardSigner("webhook", secret);

export function body(n) {
  return Buffer.from(
    JSON.stringify({
      type: "customer.deleted",
      data: {
        id: `bench-${n}`,
        created_at: "2026-03-01T10:00:00.000Z",
        modified_at: null,
        metadata: {},
        external_id: null,
        email: "customer@shop.example",
        email_verified: true,
        name: null,
        billing_address: null,
        tax_id: null,
        organization_id: "organization",
        deleted_at: null,
        avatar_url: "https://shop.example/avatar",
      },
    }),
  );
}

export function start(port) {
  console.log = () => {}; // It logs every forged webhook.
  const app = express();
  app.use(express.json());
  app.post("/webhook", Webhooks({ webhookSecret: secret, onPayload: async () => {} }));
  return listen(createServer(app), port);
}
