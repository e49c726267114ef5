import bodyParser from "body-parser";
import express, {
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from "express";
import { type Scenario } from "../scenario/scenario.js";
import { type PaymentRequest, type SandboxPayment } from "../state/payments.js";
import { type AccessTokens } from "../state/tokens.js";
import { type Parts } from "../parts.js";
import { asyncRoute } from "../async-route.js";
import { answerError, answerPage } from "./error-answer.js";
import { readPaymentRequest } from "./payment-request.js";

/** The part of the service that the merchant's server talks to: `/v1/payments` (interface document, 4.1). */
export function paymentsApi(parts: Parts): Router {
  const { sandbox, resolved, payments, tokens, scenarios, troubles, moves, clock } = parts;
  const { activity, flushed, baseUrl } = parts;
  const router = express.Router();
  const fail = (res: Response, status: number, title: string, detail: string): void =>
    answerError(res, sandbox.settings.errorBodies, { status, title, detail });
  const show = (payment: SandboxPayment, req: Request) => ({
    id: payment.id,
    status: payment.status,
    captured: payment.captured,
    purchase: { total: { value: payment.total.value, currency: payment.total.currency } },
    cancelUrl: payment.cancelUrl,
    successUrl: payment.successUrl,
    billing: { submitUrl: `${baseUrl(req.get("host"))}/payment/submit/${payment.id}` },
    createdAt: payment.createdAt,
    ...(sandbox.settings.echoClientId && { clientId: payment.clientId }),
  });

  router.use("/v1", (_req, res, next) => {
    res.set("Cache-Control", "no-store");
    next();
  });
  router.use("/v1/payments", requireToken(tokens, fail));

  const readJson = bodyParser.json({ limit: "64kb", type: (req) => isRead(req as Request) });
  /** In strict mode a body is read only where it is said to be JSON. */
  const isRead = (req: Request): boolean => !sandbox.settings.strict || Boolean(req.is("application/json"));
  router.post(
    "/v1/payments",
    readJson,
    asyncRoute(async (req, res) => {
      const { strict } = sandbox.settings;
      if (!isRead(req)) {
        return fail(res, 400, "Not JSON", "Send the body as JSON with Content-Type: application/json.");
      }
      const read = readPaymentRequest(req.body, { strict });
      if ("detail" in read) return fail(res, 400, "Invalid payment", read.detail);
      if (strict && payments.isTaken(read.request.clientId)) {
        const detail =
          "clientId already used. Generate a new one for every payment, also for a second attempt.";
        return fail(res, 400, "Invalid payment", detail);
      }
      if (troubles.beginsWith(read.request)) {
        tokens.revoke(tokenOf(req)!.slice(-8));
        return refuseToken(res, "expired", fail);
      }
      await activity.run(() => create(read.request, req, res));
    }),
  );

  async function create(request: PaymentRequest, req: Request, res: Response): Promise<void> {
    const name = scenarios.nameFor(request);
    const { creation = {} } = scenarios.named(name);
    const { answer = "normal", exists = false, delayMs = 0, afterWebhooks = false } = creation;
    if (answer !== "normal" && !exists) {
      await clock.wait(delayMs);
      return answerBadly(creation, res);
    }
    const payment = payments.create(request, name);
    const sent = moves.at("created", payment, resolved.providers[0]!.code);
    await flushed();
    await clock.wait(delayMs);
    if (afterWebhooks) {
      // Whether they are late, or held, is not this request's work.
      activity.leave();
      await sent.finally(() => activity.enter());
    }
    if (answer !== "normal") return answerBadly(creation, res);
    // As it was created: what happened meanwhile is told by webhooks.
    const data = show(payment, req);
    res.status(sandbox.settings.successStatus).json({ next: data.billing.submitUrl, data });
  }

  function answerBadly(creation: NonNullable<Scenario["creation"]>, res: Response): void {
    const { answer, status = 500 } = creation;
    if (answer === "reset") res.destroy();
    if (answer === "error") fail(res, status, "Internal error", "The scenario has the creation fail.");
    if (answer === "html")
      answerPage(res, { status: 200, title: "One moment", detail: "This page is not what was asked for." });
    // What hangs is ended by the merchant's patience, or with the sandbox.
  }

  const readBack: RequestHandler = (_req, _res, next) =>
    next(sandbox.settings.readBack ? undefined : "route");
  router.get("/v1/payments", readBack, (req, res) => {
    const offset = readCount(req.query["offset"], 0);
    const page = payments.list().slice(offset, offset + readCount(req.query["limit"], 20));
    res.json({ data: page.map((payment) => ({ ...show(payment, req), clientId: payment.clientId })) });
  });
  router.get("/v1/payments/:id", readBack, (req, res) => {
    const payment = payments.byId(String(req.params["id"]));
    if (payment === undefined) return fail(res, 404, "Not found", "There is no payment with this id.");
    res.json({ data: { ...show(payment, req), clientId: payment.clientId } });
  });

  router.all("/v1/payments", (_req, res) => {
    res.set("Allow", sandbox.settings.readBack ? "GET, HEAD, POST" : "POST");
    const detail = "Create a payment with POST; the interface shows no other operation.";
    fail(res, 405, "Method not allowed", detail);
  });
  router.use("/v1", (_req, res) => {
    fail(res, 404, "Not found", "The interface shows one address here: POST /v1/payments.");
  });
  /** Turns what the JSON parser threw into an answer of the same form as the others. */
  const unreadable: ErrorRequestHandler = (error: { type?: string; status?: number }, _req, res, next) => {
    if (error.type === "entity.too.large") return fail(res, 413, "Too large", "Send at most 64 KiB.");
    if (typeof error.status !== "number" || error.status >= 500) return next(error);
    fail(res, 400, "Not JSON", "The body could not be read as JSON.");
  };
  router.use("/v1", unreadable);
  return router;
}

type Fail = (res: Response, status: number, title: string, detail: string) => void;

function requireToken(tokens: AccessTokens, fail: Fail): RequestHandler {
  return (req, res, next) => {
    const token = tokenOf(req);
    const check = token === undefined ? "missing" : tokens.check(token);
    if (check === "valid") return next();
    refuseToken(res, check, fail);
  };
}

function tokenOf(req: Request): string | undefined {
  return /^Bearer +(\S+)$/i.exec(req.get("authorization") ?? "")?.[1];
}

const tokenProblems = {
  missing: "Send the header Authorization: Bearer <ACCESS_TOKEN>.",
  unknown: "The access token was not issued by this sandbox; a restart forgets its tokens.",
  expired: "The access token has expired; obtain a new one.",
  revoked: "The access token was revoked; obtain a new one.",
};

function refuseToken(res: Response, why: keyof typeof tokenProblems, fail: Fail): void {
  res.set("WWW-Authenticate", why === "missing" ? "Bearer" : 'Bearer error="invalid_token"');
  fail(res, 401, "Unauthorized", tokenProblems[why]);
}

function readCount(value: unknown, otherwise: number): number {
  return typeof value === "string" && /^\d{1,6}$/.test(value) ? Number(value) : otherwise;
}
