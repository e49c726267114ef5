import bodyParser from "body-parser";
import express, { type ErrorRequestHandler, type Response, type Router } from "express";
import { type Sandbox } from "./contract.js";
import { type SandboxCore, type SandboxEvent } from "./core/core.js";
import { asyncRoute, noStore, ownOriginOnly } from "./http/middleware.js";
import { withTimeout } from "../shared/with-timeout.js";
import { type Scenario } from "./scenario/scenario.js";
import { throwMisuse } from "./state/misuse.js";

type ControlParams = Record<string, string>;
type Body = Record<string, unknown>;
type ControlCommand = (sandbox: Sandbox, params: ControlParams, body: Body, res: Response) => unknown;

/** The commands by method and path. The response is the result of the command, or `{ done: true }`. */
const commands: Readonly<Record<string, ControlCommand>> = {
  "GET /": overview,
  "GET /payments": (sandbox) => ({ payments: sandbox.payments() }),
  "GET /deliveries": ({ deliveries }) => ({ deliveries }),
  "GET /refusals": ({ refusals }) => ({ refusals }),
  "GET /scenarios": ({ currentScenario: current, scenarios }) => ({ current, scenarios }),
  "GET /events": (sandbox, _params, _body, res) => streamEvents(sandbox, res),
  "POST /payments/:id/pay": (sandbox, { id = "" }, { provider }) =>
    changePayment(sandbox, id, sandbox.pay(id, typeof provider === "string" ? { provider } : {})),
  "POST /payments/:id/cancel": (sandbox, { id = "" }) => changePayment(sandbox, id, sandbox.cancel(id)),
  "POST /payments/:id/fail": (sandbox, { id = "" }) => changePayment(sandbox, id, sandbox.fail(id)),
  "PUT /payments/:id/scenario": (sandbox, { id = "" }, { scenario }) =>
    sandbox.scenario(scenario as string | Scenario, { for: id }),
  "PUT /scenario": (sandbox, _params, { scenario }) => sandbox.scenario(scenario as string | Scenario),
  "PUT /settings": (sandbox, _params, body) => {
    sandbox.change(body);
    return sandbox.settings;
  },
  "POST /addresses": (sandbox, _params, { url }) => sandbox.registerWebhook(requireString("url", url)),
  "DELETE /addresses/:id": (sandbox, { id = "" }) => sandbox.unregisterWebhook(id),
  "POST /addresses/:id/try": (sandbox, { id = "" }) => sandbox.tryWebhook(id),
  "POST /deliveries/:id/again": (sandbox, { id = "" }) => sandbox.deliverAgain(id),
  "POST /secret/rotate": (sandbox) => ({ secret: sandbox.rotateSecret() }),
  "POST /tokens/revoke": (sandbox, _params, { id }) =>
    sandbox.revokeAccessTokens(typeof id === "string" ? id : undefined),
  "POST /webhooks/hold": (sandbox) => sandbox.holdWebhooks(),
  "POST /webhooks/release": (sandbox) => sandbox.releaseWebhooks(),
  "POST /clock": async ({ clock }, _params, { advanceMs, set }) => {
    if (set === undefined) await clock.advance(Number(advanceMs));
    else await clock.set(requireString("set", set));
    return { now: clock.now() };
  },
};

/** Makes the routes below `/sandbox/api`, with which other processes control the sandbox as a test does. */
export function controlApi({ options, stateFile }: SandboxCore, sandbox: Sandbox): Router {
  const router = express.Router();
  router.use(ownOriginOnly(options.publicUrl));
  router.use(bodyParser.json({ limit: "256kb" }));
  router.use(noStore);
  for (const [route, command] of Object.entries(commands)) {
    const [method, path] = route.split(" ") as ["GET" | "POST" | "PUT" | "DELETE", string];
    const run = asyncRoute(async (req, res) => {
      const result: unknown = await command(sandbox, req.params, req.body ?? {}, res);
      await stateFile.flushed();
      if (!res.headersSent) res.json(result ?? { done: true });
    });
    router[method.toLowerCase() as Lowercase<typeof method>](path, run);
  }
  router.use((_req, res) => {
    const detail = "docs/sandbox.md lists these addresses.";
    res.status(404).json({ status: 404, title: "Not found", detail });
  });
  router.use(sendRefusal);
  return router;
}

/** Returns the state of the sandbox without its long lists. */
function overview(sandbox: Sandbox) {
  return {
    now: sandbox.clock.now(),
    merchantName: sandbox.merchantName,
    client: sandbox.client,
    signing: sandbox.signing,
    webhookAddresses: sandbox.webhookAddresses,
    scenario: sandbox.currentScenario,
    settings: sandbox.settings,
    webhooksHeld: sandbox.webhooksHeld,
    payments: sandbox.payments().length,
    deliveries: sandbox.deliveries.length,
  };
}

/** Starts a change of the payment, and returns the payment without waiting for its webhooks. */
async function changePayment(sandbox: Sandbox, id: string, change: Promise<unknown>) {
  await withTimeout(change, 0);
  return sandbox.find(id);
}

function requireString(name: string, value: unknown): string {
  return typeof value === "string" ? value : throwMisuse(`${name} must be a string.`);
}

/** Writes each event as one line of JSON until the client disconnects. */
function streamEvents(sandbox: Sandbox, res: Response): void {
  res.status(200).type("application/x-ndjson");
  res.flushHeaders();
  const write = (event: SandboxEvent): void => void res.write(`${JSON.stringify(event)}\n`);
  res.on("close", sandbox.watch(write));
}

type Refused = Error & { code?: string; status?: number };

const sendRefusal: ErrorRequestHandler = (error: Refused, _req, res, next) => {
  const status = error.code === "sandbox_misused" ? 409 : error.status;
  if (status === undefined || status >= 500) return next(error);
  res.status(status).json({ status, title: "Refused", code: error.code, detail: error.message });
};
