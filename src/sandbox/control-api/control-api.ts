import bodyParser from "body-parser";
import express, { type ErrorRequestHandler, type Response, type Router } from "express";
import { type Sandbox, type SandboxEvent } from "../contract.js";
import { misused } from "../misused.js";
import { type Scenario } from "../scenario/scenario.js";
import { type SandboxSettings } from "../state/settings.js";
import { type Parts } from "../parts.js";
import { asyncRoute } from "../async-route.js";
import { begun } from "./started.js";
import { ownOriginOnly } from "../own-origin.js";

/**
 * What a test does with the sandbox in its own process, for other processes: `/sandbox/api`, JSON in and out. It has
 * nothing to do with the service's interface.
 */
export function controlApi({ sandbox, resolved, flushed }: Parts): Router {
  const router = express.Router();
  router.use(ownOriginOnly(resolved.publicUrl));
  router.use(bodyParser.json({ limit: "256kb" }));
  router.use((_req, res, next) => {
    res.set("Cache-Control", "no-store");
    next();
  });

  /** Answers what an order came to, after it is on disk. */
  const order = <Params extends Record<string, string>>(
    run: (params: Params, body: Record<string, unknown>) => unknown,
  ) =>
    asyncRoute<Params>(async (req, res) => {
      const body: unknown = req.body;
      const answer: unknown = await run(req.params, (body ?? {}) as Record<string, unknown>);
      await flushed();
      res.json(answer ?? { done: true });
    });

  const paymentOf = async (id: string, run: () => Promise<unknown>) => {
    await begun(run);
    return sandbox.find(id);
  };

  router.get("/", (_req, res) => void res.json(overview(sandbox)));
  router.get("/payments", (_req, res) => void res.json({ payments: sandbox.payments() }));
  router.get("/deliveries", (_req, res) => void res.json({ deliveries: sandbox.deliveries }));
  router.get("/scenarios", (_req, res) => {
    res.json({ current: sandbox.currentScenario, scenarios: sandbox.scenarios });
  });
  router.get("/events", (_req, res) => streamEvents(sandbox, res));

  router.post(
    "/payments/:id/pay",
    order<{ id: string }>(({ id }, { provider }) => {
      const options = typeof provider === "string" ? { provider } : {};
      return paymentOf(id, () => sandbox.pay(id, options));
    }),
  );
  router.post(
    "/payments/:id/cancel",
    order<{ id: string }>(({ id }) => paymentOf(id, () => sandbox.cancel(id))),
  );
  router.post(
    "/payments/:id/fail",
    order<{ id: string }>(({ id }) => paymentOf(id, () => sandbox.fail(id))),
  );
  router.put(
    "/payments/:id/scenario",
    order<{ id: string }>(({ id }, body) => sandbox.scenario(scenarioOf(body), { for: id })),
  );
  router.put(
    "/scenario",
    order((_params, body) => sandbox.scenario(scenarioOf(body))),
  );
  router.put(
    "/settings",
    order((_params, body) => (sandbox.change(body as Partial<SandboxSettings>), sandbox.settings)),
  );
  router.post(
    "/addresses",
    order((_params, { url }) => sandbox.registerWebhook(textOf({ url }))),
  );
  router.delete(
    "/addresses/:id",
    order<{ id: string }>(({ id }) => sandbox.unregisterWebhook(id)),
  );
  router.post(
    "/addresses/:id/try",
    order<{ id: string }>(({ id }) => sandbox.tryWebhook(id)),
  );
  router.post(
    "/deliveries/:id/again",
    order<{ id: string }>(({ id }) => sandbox.deliverAgain(id)),
  );
  router.post(
    "/secret/rotate",
    order(() => ({ secret: sandbox.rotateSecret() })),
  );
  router.post(
    "/tokens/revoke",
    order((_params, { id }) => sandbox.revokeAccessTokens(typeof id === "string" ? id : undefined)),
  );
  router.post(
    "/webhooks/hold",
    order(() => sandbox.holdWebhooks()),
  );
  router.post(
    "/webhooks/release",
    order(() => sandbox.releaseWebhooks()),
  );
  router.post(
    "/clock",
    order(async (_params, { advanceMs, set }) => {
      await (set === undefined
        ? sandbox.clock.advance(Number(advanceMs))
        : sandbox.clock.set(textOf({ set })));
      return { now: sandbox.clock.now() };
    }),
  );

  router.use((_req, res) => {
    res
      .status(404)
      .json({ status: 404, title: "Not found", detail: "docs/sandbox.md lists these addresses." });
  });
  router.use(refused);
  return router;
}

/** The state, without what would be long. */
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

/** The one value of the object. */
function textOf(named: Record<string, unknown>): string {
  const [[name, value] = []] = Object.entries(named);
  return typeof value === "string" ? value : misused(`${name} must be text.`);
}

function scenarioOf(body: Record<string, unknown>): string | Scenario {
  const { scenario } = body;
  return typeof scenario === "string" ? scenario : (scenario as Scenario);
}

/** One JSON object a line, for as long as the reader stays. */
function streamEvents(sandbox: Sandbox, res: Response): void {
  res.status(200).type("application/x-ndjson");
  res.flushHeaders();
  const write = (event: SandboxEvent): void => void res.write(`${JSON.stringify(event)}\n`);
  res.on("close", sandbox.watch(write));
}

const refused: ErrorRequestHandler = (error: Error & { code?: string; status?: number }, _req, res, next) => {
  const status = error.code === "sandbox_misused" ? 409 : error.status;
  if (status === undefined || status >= 500) return next(error);
  res.status(status).json({ status, title: "Refused", code: error.code, detail: error.message });
};
