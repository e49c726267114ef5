import bodyParser from "body-parser";
import express, { type ErrorRequestHandler, type Response, type Router } from "express";
import { type Sandbox } from "./contract.js";
import { type SandboxCore, type SandboxEvent } from "./core/core.js";
import { asyncRoute, noStore, ownOriginOnly } from "./http/middleware.js";
import { started } from "./operations/actions.js";
import { type Scenario } from "./scenario/scenario.js";
import { throwMisuse } from "./state/throw-misuse.js";

type ControlParams = Record<string, string>;
type Body = Record<string, unknown>;
type ControlCommand = (sandbox: Sandbox, params: ControlParams, body: Body) => unknown;

/** What can be read, by method and path. */
const reads: Readonly<Record<string, (sandbox: Sandbox, res: Response) => void>> = {
  "GET /": (sandbox, res) => void res.json(overview(sandbox)),
  "GET /payments": (sandbox, res) => void res.json({ payments: sandbox.payments() }),
  "GET /deliveries": (sandbox, res) => void res.json({ deliveries: sandbox.deliveries }),
  "GET /refusals": ({ refusals }, res) => void res.json({ refusals }),
  "GET /scenarios": ({ currentScenario: current, scenarios }, res) => void res.json({ current, scenarios }),
  "GET /events": streamEvents,
};

/** What changes the sandbox, by method and path. The response is the result, or `{ done: true }`. */
const commands: Readonly<Record<string, ControlCommand>> = {
  "POST /payments/:id/pay": (sandbox, { id = "" }, { provider }) =>
    changePayment(sandbox, id, () => sandbox.pay(id, typeof provider === "string" ? { provider } : {})),
  "POST /payments/:id/cancel": (sandbox, { id = "" }) => changePayment(sandbox, id, () => sandbox.cancel(id)),
  "POST /payments/:id/fail": (sandbox, { id = "" }) => changePayment(sandbox, id, () => sandbox.fail(id)),
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
  for (const [route, read] of Object.entries(reads))
    router.get(route.split(" ")[1]!, (_req, res) => read(sandbox, res));
  for (const [route, command] of Object.entries(commands)) {
    const [method, path] = route.split(" ") as ["POST" | "PUT" | "DELETE", string];
    const run = asyncRoute(async (req, res) => {
      const result: unknown = await command(sandbox, req.params, req.body ?? {});
      await stateFile.flushed();
      res.json(result ?? { done: true });
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
async function changePayment(sandbox: Sandbox, id: string, run: () => Promise<unknown>) {
  await started(run);
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
