import bodyParser from "body-parser";
import express, { type ErrorRequestHandler, type RequestHandler, type Response, type Router } from "express";
import { z } from "zod";
import { type Sandbox } from "./contract.js";
import { type SandboxCore, type SandboxEvent } from "./core/core.js";
import { asyncRoute, noStore, ownOriginOnly } from "./http/middleware.js";
import { withTimeout } from "../shared/with-timeout.js";
import { withoutUndefined } from "../shared/without-undefined.js";
import { type Scenario } from "./scenario/scenario.js";
import { parseOrThrowMisuse, strictObject, throwMisuse } from "./state/misuse.js";
import { type SandboxSettings } from "./state/sandbox-settings.js";

/** One call of a command. `id` is the id in the path, or empty. */
interface Call<Body = unknown> {
  sandbox: Sandbox;
  id: string;
  body: Body;
  res: Response;
}
type ControlCommand = (call: Call) => unknown;

/** Returns a command whose body may have only these fields. For any other body, throws `sandbox_misused`. */
function withFields<Shape extends z.ZodRawShape>(
  fields: Shape,
  run: (call: Call<z.infer<z.ZodObject<Shape>>>) => unknown,
): ControlCommand {
  const schema = strictObject(fields);
  return (call) => run({ ...call, body: parseOrThrowMisuse(schema, call.body, "The body cannot be used.") });
}

const scenario = z.custom<string | Scenario>();

/** The commands by method and path. The response is the result of the command, or `{ done: true }`. */
const commands: Readonly<Record<string, ControlCommand>> = {
  "GET /": ({ sandbox }) => overview(sandbox),
  "GET /payments": ({ sandbox }) => ({ payments: sandbox.payments() }),
  "GET /deliveries": ({ sandbox: { deliveries } }) => ({ deliveries }),
  "GET /refusals": ({ sandbox: { refusals } }) => ({ refusals }),
  "GET /scenarios": ({ sandbox }) => ({ current: sandbox.currentScenario, scenarios: sandbox.scenarios }),
  "GET /events": ({ sandbox, res }) => streamEvents(sandbox, res),
  "POST /payments/:id/pay": withFields({ provider: z.string().optional() }, ({ sandbox, id, body }) =>
    changePayment(sandbox, id, sandbox.pay(id, withoutUndefined(body))),
  ),
  "POST /payments/:id/cancel": withFields({}, ({ sandbox, id }) =>
    changePayment(sandbox, id, sandbox.cancel(id)),
  ),
  "POST /payments/:id/fail": withFields({}, ({ sandbox, id }) =>
    changePayment(sandbox, id, sandbox.fail(id)),
  ),
  "PUT /payments/:id/scenario": withFields({ scenario }, ({ sandbox, id, body }) =>
    sandbox.scenario(body.scenario, { for: id }),
  ),
  "PUT /scenario": withFields({ scenario }, ({ sandbox, body }) => sandbox.scenario(body.scenario)),
  "PUT /settings": ({ sandbox, body }) => {
    // `change` checks the names and the values.
    sandbox.change(body as Partial<SandboxSettings>);
    return sandbox.settings;
  },
  "POST /addresses": withFields({ url: z.string() }, ({ sandbox, body }) =>
    sandbox.registerWebhook(body.url),
  ),
  "DELETE /addresses/:id": withFields({}, ({ sandbox, id }) => sandbox.unregisterWebhook(id)),
  "POST /addresses/:id/try": withFields({}, ({ sandbox, id }) => sandbox.tryWebhook(id)),
  "POST /deliveries/:id/again": withFields({}, ({ sandbox, id }) => sandbox.deliverAgain(id)),
  "POST /secret/rotate": withFields({}, ({ sandbox }) => ({ secret: sandbox.rotateSecret() })),
  "POST /tokens/revoke": withFields({ id: z.string().optional() }, ({ sandbox, body }) =>
    sandbox.revokeAccessTokens(body.id),
  ),
  "POST /webhooks/hold": withFields({}, ({ sandbox }) => sandbox.holdWebhooks()),
  "POST /webhooks/release": withFields({}, ({ sandbox }) => sandbox.releaseWebhooks()),
  "POST /clock": withFields(
    { advanceMs: z.number().optional(), set: z.string().optional() },
    async ({ sandbox: { clock }, body: { advanceMs, set } }) => {
      if ((advanceMs === undefined) === (set === undefined)) throwMisuse("Give either advanceMs or set.");
      await (set === undefined ? clock.advance(advanceMs!) : clock.set(set));
      return { now: clock.now() };
    },
  ),
};

/** Makes the routes below `/sandbox/api`, with which other processes control the sandbox as a test does. */
export function controlApi({ options, stateFile }: SandboxCore, sandbox: Sandbox): Router {
  const router = express.Router();
  router.use(ownOriginOnly(options.publicUrl));
  router.use(requireJson, bodyParser.json({ limit: "256kb" }));
  router.use(noStore);
  for (const [route, command] of Object.entries(commands)) {
    const [method, path] = route.split(" ") as ["GET" | "POST" | "PUT" | "DELETE", string];
    const run = asyncRoute(async (req, res) => {
      const { id = "" } = req.params;
      const result: unknown = await command({ sandbox, id, body: req.body ?? {}, res });
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

/** Writes each event as one line of JSON until the client disconnects. */
function streamEvents(sandbox: Sandbox, res: Response): void {
  res.status(200).type("application/x-ndjson");
  res.flushHeaders();
  const write = (event: SandboxEvent): void => void res.write(`${JSON.stringify(event)}\n`);
  res.on("close", sandbox.watch(write));
}

/** Refuses a body of another type than JSON. The parser would skip it, as if the request had no body. */
const requireJson: RequestHandler = (req, res, next) => {
  const hasBody =
    req.headers["transfer-encoding"] !== undefined || Number(req.get("content-length") ?? 0) > 0;
  if (!hasBody || req.is("application/json")) return next();
  const detail = "Send the body as JSON with Content-Type: application/json.";
  res.status(400).json({ status: 400, title: "Refused", detail });
};

type Refused = Error & { code?: string; status?: number };

const sendRefusal: ErrorRequestHandler = (error: Refused, _req, res, next) => {
  const status = error.code === "sandbox_misused" ? 409 : error.status;
  if (status === undefined || status >= 500) return next(error);
  res.status(status).json({ status, title: "Refused", code: error.code, detail: error.message });
};
