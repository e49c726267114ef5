import { isUtf8 } from "node:buffer";
import bodyParser from "body-parser";
import express, { type Request, type RequestHandler, type Response, type Router } from "express";
import { type SandboxCore } from "../core/core.js";
import { asyncRoute, noStore, onBodyError } from "../http/middleware.js";
import { sendError, sendErrorPage } from "../http/page.js";
import { type PaymentTransitions } from "../operations/payment-transitions.js";
import { type TokenFaults } from "../scenario/scenario-registry.js";
import { type Scenario } from "../scenario/scenario.js";
import { type NewPayment, type SandboxPayment } from "../state/payments.js";
import { readCreationRequest } from "./creation-request.js";
import { serviceDescription } from "./openapi.js";

interface PaymentsApiParts {
  tokenFaults: TokenFaults;
  transitions: PaymentTransitions;
  baseUrl: (host: string | undefined) => string;
}

/** Makes the routes for the merchant's server (interface document, 4.1), and their OpenAPI description. */
export function paymentsApi(core: SandboxCore, parts: PaymentsApiParts): Router {
  const { settings } = core;
  const api = new PaymentsApi(core, parts);
  const router = express.Router();
  router.get("/openapi.json", noStore, (req, res) => {
    res.json(serviceDescription(parts.baseUrl(req.get("host")), settings.current));
  });
  router.use("/v1", noStore);
  router.use("/v1/payments", api.requireToken);
  const readJson = bodyParser.json({
    limit: "64kb",
    // `create` refuses a body that is not an object, and names the rule.
    strict: false,
    type: (req) => api.acceptsBody(req as Request),
    verify: (_req, _res, body) => {
      if (!isUtf8(body)) throw new Error("it is not UTF-8");
    },
  });
  router.post("/v1/payments", readJson, asyncRoute(api.create));
  const requireReadBack: RequestHandler = (_req, _res, next) =>
    next(settings.current.readBack ? undefined : "route");
  router.get("/v1/payments", requireReadBack, api.list);
  router.get("/v1/payments/:id", requireReadBack, api.show);
  router.all("/v1/payments", (_req, res) => {
    res.set("Allow", settings.current.readBack ? "GET, HEAD, POST" : "POST");
    const detail = "Create a payment with POST; the interface shows no other operation.";
    api.fail(res, 405, "Method not allowed", detail);
  });
  router.use("/v1", (_req, res) => api.fail(res, 404, "Not found", onlyAddress));
  router.use("/v1", api.refuseBody);
  return router;
}

const onlyAddress = "The interface shows one address here: POST /v1/payments.";

const tokenProblems = {
  missing: "Send the header Authorization: Bearer <ACCESS_TOKEN>.",
  unknown: "The access token was not issued by this sandbox; a restart forgets its tokens.",
  expired: "The access token has expired; obtain a new one.",
  revoked: "The access token was revoked; obtain a new one.",
};

class PaymentsApi {
  constructor(
    private readonly core: SandboxCore,
    private readonly parts: PaymentsApiParts,
  ) {}

  readonly requireToken: RequestHandler = (req, res, next) => {
    const token = tokenOf(req);
    const result = token === undefined ? "missing" : this.core.tokens.check(token);
    if (result === "valid") return next();
    this.#refuseToken(res, result);
  };

  /** Returns whether the body may be read: in strict mode only if its content type is JSON. */
  acceptsBody(req: Request): boolean {
    return !this.#settings.strict || Boolean(req.is("application/json"));
  }

  readonly create = async (req: Request, res: Response): Promise<void> => {
    const { strict } = this.#settings;
    const { activity, payments, tokens } = this.core;
    // Express also accepts capital letters in the path, and a slash at the end.
    if (strict && req.path !== "/v1/payments") return this.fail(res, 404, "Not found", onlyAddress);
    if (!this.acceptsBody(req)) {
      const detail = "Send the body as JSON with Content-Type: application/json.";
      return this.fail(res, 400, "Not JSON", detail);
    }
    const read = readCreationRequest(req.body, { strict });
    if ("detail" in read) return this.fail(res, 400, "Invalid payment", read.detail);
    if (strict && payments.isTaken(read.request.clientId)) {
      const detail =
        "clientId already used. Generate a new one for every payment, also for a second attempt.";
      return this.fail(res, 400, "Invalid payment", detail);
    }
    if (this.parts.tokenFaults.refusesCreation(read.request)) {
      tokens.revoke(tokenOf(req)!.slice(-8));
      return this.#refuseToken(res, "expired");
    }
    await activity.run(() => this.#createWithScenario(read.request, req, res));
  };

  /** Creates the payment, and responds as its scenario says. */
  async #createWithScenario(request: NewPayment, req: Request, res: Response): Promise<void> {
    const { activity, clock, options, payments, scenarios, stateFile } = this.core;
    const name = scenarios.nameFor(request);
    const { creation = {} } = scenarios.named(name);
    const { answer = "normal", exists = false, delayMs = 0, afterWebhooks = false } = creation;
    if (answer !== "normal" && !exists) {
      await clock.wait(delayMs);
      return this.#failCreation(creation, res);
    }
    const payment = payments.create(request, name);
    const { transitions } = this.parts;
    const source = options.providers[0]!.code;
    const sent = transitions.run("created", payment, source);
    void transitions.runReplaced(payment, source);
    await stateFile.flushed();
    await clock.wait(delayMs);
    if (afterWebhooks) {
      // This task does not count as working, because the webhooks may be held or wait for the clock.
      activity.leave();
      await sent.finally(() => activity.enter());
    }
    if (answer !== "normal") return this.#failCreation(creation, res);
    // The response shows the payment as it was created. Webhooks report later changes.
    const data = this.#view(payment, req);
    res.status(this.#settings.successStatus).json({ next: data.billing.submitUrl, data });
  }

  /** Responds with the fault of the scenario. With `hang`, the request ends at the merchant's timeout. */
  #failCreation({ answer, status = 500 }: NonNullable<Scenario["creation"]>, res: Response): void {
    if (answer === "reset") res.destroy();
    if (answer === "error") this.fail(res, status, "Internal error", "The scenario makes the creation fail.");
    if (answer === "html") {
      const detail = "This page is not the response that the request expects.";
      sendErrorPage(res, { status: 200, title: "One moment", detail });
    }
  }

  readonly list: RequestHandler = (req, res) => {
    const [offset, limit] = [readCount(req.query["offset"], 0), readCount(req.query["limit"], 20)];
    const all = this.core.payments.list();
    const data = all.slice(offset, offset + limit).map((payment) => this.#readBack(payment, req));
    res.json(this.#settings.readBackBare ? data : { data, offset, limit, total: all.length });
  };

  readonly show: RequestHandler = (req, res) => {
    const payment = this.core.payments.byId(String(req.params["id"]));
    if (payment === undefined) return this.fail(res, 404, "Not found", "There is no payment with this id.");
    const data = this.#readBack(payment, req);
    res.json(this.#settings.readBackBare ? data : { data });
  };

  readonly refuseBody = onBodyError((res, status, detail) =>
    status === 413 ? this.fail(res, 413, "Too large", detail) : this.fail(res, 400, "Not JSON", detail),
  );

  get #settings() {
    return this.core.settings.current;
  }

  fail(res: Response, status: number, title: string, detail: string): void {
    this.core.noteRefusal(res.req, status, detail);
    sendError(res, this.#settings.errorBodies, { status, title, detail });
  }

  #refuseToken(res: Response, why: keyof typeof tokenProblems): void {
    res.set("WWW-Authenticate", why === "missing" ? "Bearer" : 'Bearer error="invalid_token"');
    this.fail(res, 401, "Unauthorized", tokenProblems[why]);
  }

  /** Returns the payment with all its present fields. */
  #readBack(payment: SandboxPayment, req: Request) {
    const { clientId, submittedAt, completedAt, providerId, source } = payment;
    const { billing, ...view } = this.#view(payment, req);
    return { ...view, clientId, billing: { ...billing, providerId }, source, submittedAt, completedAt };
  }

  /** Returns the payment as the response to its creation shows it. */
  #view(payment: SandboxPayment, req: Request) {
    return {
      id: payment.id,
      status: payment.status,
      captured: payment.captured,
      purchase: { total: { value: payment.total.value, currency: payment.total.currency } },
      cancelUrl: payment.cancelUrl,
      successUrl: payment.successUrl,
      billing: { submitUrl: `${this.parts.baseUrl(req.get("host"))}/payment/submit/${payment.id}` },
      createdAt: payment.createdAt,
      ...(this.#settings.echoClientId && { clientId: payment.clientId }),
    };
  }
}

function tokenOf(req: Request): string | undefined {
  return /^Bearer +(\S+)$/i.exec(req.get("authorization") ?? "")?.[1];
}

function readCount(value: unknown, otherwise: number): number {
  return typeof value === "string" && /^\d{1,6}$/.test(value) ? Number(value) : otherwise;
}
