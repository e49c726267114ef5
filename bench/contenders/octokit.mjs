// Its own middleware, on node:http or in Express.
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { createNodeMiddleware, Webhooks } from "@octokit/webhooks";
import express from "express";
import { listen } from "../harness/listen.mjs";
import { secret } from "../harness/webhooks.mjs";

export function sign(body, n) {
  return {
    "X-GitHub-Delivery": `bench-${n}`,
    "X-GitHub-Event": "payment",
    "X-Hub-Signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  };
}

export function start(port, { onExpress }) {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const webhooks = new Webhooks({ secret, log });
  const middleware = createNodeMiddleware(webhooks, { path: "/webhook", log });
  if (!onExpress)
    return listen(
      createServer((request, response) => void middleware(request, response)),
      port,
    );
  const app = express();
  app.use(middleware);
  return listen(createServer(app), port);
}
