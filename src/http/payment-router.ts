import { type IncomingMessage, type ServerResponse } from "node:http";
import { Router, type ErrorRequestHandler, type Request, type RequestHandler, type Response } from "express";
import { type Handler } from "../dispatch/handler.js";
import { optionsFromEnvironment } from "../kit/options/options-from-environment.js";
import { type PaymentsOptions } from "../kit/options/options.js";
import { createPayments } from "../kit/create-payments.js";
import { type Payments } from "../kit/payments.js";
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

/** The kit's options with the handler that every shop needs. */
export interface InlineOptions<Covers extends SignedField, Tx> extends PaymentsOptions<Covers, Tx> {
  /** Is passed to `payments.onPaymentCompleted`. */
  onPaymentCompleted?: Handler<"payment.completed", Covers, Tx> | undefined;
}

/**
 * Returns the router of the three addresses of the interface document, 1: `POST /webhook`, `GET /success/:token` and
 * `GET /cancel/:token`, for any mount path. It reads the body itself, so mount it before `express.json()`; see
 * {@link captureRawBody} where that is not possible. Opens the store and starts to dispatch.
 *
 * Without an argument, the `TILLKIT_*` environment variables configure it.
 *
 * @throws ConfigurationError with every problem of the options.
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
    // Any other address below may contain a token: it must not reach the application's own 404 page and log.
    const forged: RequestHandler = (request, response, next) =>
      request.path === "/" ? next() : logged(request, response, () => caught(show)(request, response, next));
    router.use(`/${kind}`, forged, undecodable(forged));
  }
  // In the next iteration, so that handlers that the application adds now are registered before the first event.
  setImmediate(() => {
    payments.start({ keepAlive: false }).catch((error: unknown) => {
      payments.notify("store.unavailable", { during: "start", error });
    });
  });
  // Nearly every request is a webhook, so its address is compared before the router is asked. Other spellings of it (a
  // query, a slash at the end, capitals) go through the router.
  const direct: RequestHandler = (request, response, next) => {
    if (request.url !== "/webhook") return router(request, response, next);
    shareShape(request, response);
    log(request, response);
    return webhook(request, response, next);
  };
  return Object.assign(direct, { payments }) as unknown as PaymentRouter<Covers, Tx>;
}

/** Passes a rejection to `next`: Express 4 does not, and the process would end. */
function caught(endpoint: (request: Request, response: Response) => Promise<void>): RequestHandler {
  return async (request, response, next) => {
    try {
      await endpoint(request, response);
    } catch (error) {
      next(error);
    }
  };
}

/** Shows the 404 page for a token that cannot be decoded (`%zz`). Express would show the error with a stack. */
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
