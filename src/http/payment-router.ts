import { type IncomingMessage, type ServerResponse } from "node:http";
import { Router, type ErrorRequestHandler, type Request, type RequestHandler, type Response } from "express";
import { type Handler } from "../dispatch/handler.js";
import { optionsFromEnvironment } from "../kit/options/options-from-environment.js";
import { type PaymentsOptions } from "../kit/options/options.js";
import { createPayments, type Payments } from "../kit/create-payments.js";
import { type IndispensableField, type SignedField } from "../model/signed-fields.js";
import { type SqlTx } from "../store/sql/index.js";
import { requestLog } from "./request-log.js";
import { returnEndpoints } from "./return-endpoints.js";
import { shareShape } from "./shared-shape.js";
import { webhookEndpoint } from "./webhook-endpoint.js";

/** The router, usable with Express 4 and 5; `payments` is the kit behind it. */
export interface PaymentRouter<Covers extends SignedField = SignedField, Tx = unknown> {
  (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void;
  readonly payments: Payments<Covers, Tx>;
}

/** The kit's options with the one handler that every shop has. */
export interface InlineOptions<Covers extends SignedField, Tx> extends PaymentsOptions<Covers, Tx> {
  /** Subscribed as `payments.onPaymentCompleted` would. */
  onPaymentCompleted?: Handler<"payment.completed", Covers, Tx> | undefined;
}

/**
 * The three addresses of the interface document, 1: `POST /webhook`, `GET /success/:token` and `GET /cancel/:token`,
 * at any mount path. Brings its own body parser, so mount it before `express.json()`; see {@link captureRawBody}
 * where that cannot be. Opens the store and begins to dispatch.
 *
 * Without an argument it is configured by the `TILLKIT_*` environment variables alone.
 *
 * @throws ConfigurationError with everything that is wrong or missing, at once.
 */
export function paymentRouter(): PaymentRouter<IndispensableField, SqlTx>;
export function paymentRouter<Covers extends SignedField, Tx>(
  payments: Payments<Covers, Tx>,
): PaymentRouter<Covers, Tx>;
export function paymentRouter<Covers extends SignedField, Tx>(
  options: InlineOptions<Covers, Tx>,
): PaymentRouter<Covers, Tx>;
export function paymentRouter<Covers extends SignedField, Tx>(
  source?: Payments<Covers, Tx> | InlineOptions<Covers, Tx>,
): PaymentRouter<Covers, Tx> {
  const payments = paymentsOf(source);
  const router = Router();
  const log = requestLog(payments.logger);
  const logged: RequestHandler = (request, response, next) => {
    log(request, response);
    next();
  };
  const webhook = caught(webhookEndpoint(payments));
  router.all("/webhook", logged, webhook);
  for (const kind of ["success", "cancel"] as const) {
    const { show, state } = returnEndpoints(payments, kind);
    router.all(`/${kind}/:token`, logged, caught(show));
    router.all(`/${kind}/:token/state`, logged, caught(state));
    // Whatever else stands below was never made, and may still hold a token: it must not reach the page and the log
    // that the application has for addresses it does not know.
    const forged: RequestHandler = (request, response, next) =>
      request.path === "/" ? next() : logged(request, response, () => caught(show)(request, response, next));
    router.use(`/${kind}`, forged, undecodable(forged));
  }
  // After this turn, so that handlers which the application registers next are known from the first event on.
  setImmediate(() => {
    payments.start({ keepAlive: false }).catch((error: unknown) => {
      payments.notify("store.unavailable", { during: "start", error });
    });
  });
  // Nearly every request is this one; routing it once more would cost a tenth of a webhook. With a query, a slash at its
  // end or in capitals it is the router's.
  const straight: RequestHandler = (request, response, next) => {
    if (request.url !== "/webhook") return router(request, response, next);
    shareShape(request, response);
    log(request, response);
    return webhook(request, response, next);
  };
  return Object.assign(straight, { payments }) as unknown as PaymentRouter<Covers, Tx>;
}

/** Express 4 leaves a rejection to the process, which ends by it. */
function caught(endpoint: (request: Request, response: Response) => Promise<void>): RequestHandler {
  return async (request, response, next) => {
    try {
      await endpoint(request, response);
    } catch (error) {
      next(error);
    }
  };
}

/**
 * A token that cannot be decoded (`%zz`) is an error to Express, whose own page would show it, with a stack. It is an
 * address that was never made, like any other.
 */
function undecodable(forged: RequestHandler): ErrorRequestHandler {
  return (error: unknown, request, response, next) =>
    error instanceof Error && error.name === "URIError" ? forged(request, response, next) : next(error);
}

function paymentsOf<Covers extends SignedField, Tx>(
  source: Payments<Covers, Tx> | InlineOptions<Covers, Tx> | undefined,
): Payments<Covers, Tx> {
  if (source && "receiveWebhook" in source) return source;
  const { onPaymentCompleted, ...options } =
    source ?? (optionsFromEnvironment(process.env) as unknown as InlineOptions<Covers, Tx>);
  const payments = createPayments(options);
  if (onPaymentCompleted) payments.onPaymentCompleted(onPaymentCompleted);
  return payments;
}
