import { type IncomingMessage, type ServerResponse } from "node:http";
import { Router, type ErrorRequestHandler, type Request, type RequestHandler, type Response } from "express";
import { type ReturnKind } from "../checkout/handle-return.js";
import { type Handler } from "../dispatch/handler.js";
import { ConfigurationError } from "../errors/index.js";
import { completeOptions } from "../kit/options/options-from-environment.js";
import { type PartialOptions, type PathOptions } from "../kit/options/options.js";
import { createPayments } from "../kit/create-payments.js";
import { type Payments } from "../kit/payments.js";
import { type SignedField } from "../model/signed-fields.js";
import { misspeltOptions, optionInvalid } from "../shared/unknown-names.js";
import { type SqlTx } from "../store/sql/index.js";
import { type SignatureScheme } from "../webhook/signature/scheme.js";
import { requestLog } from "./request-log.js";
import { returnEndpoints } from "./returns/return-endpoints.js";
import { shareShape } from "./create-express-server.js";
import { webhookEndpoint } from "./webhook/webhook-endpoint.js";

/** The router, for Express 4 and 5. */
export interface PaymentRouter<Covers extends SignedField = SignedField, Tx = unknown> {
  (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void;
  /** The kit behind the router. */
  readonly payments: Payments<Covers, Tx>;
}

/** The kit's options, and the handler that every shop needs. The environment completes the options. */
export interface InlineOptions<Covers extends SignedField, Tx> extends PartialOptions<Covers, Tx> {
  /** The handler for `payments.onPaymentCompleted`. @default none: add the handler to `payments` */
  onPaymentCompleted?: Handler<"payment.completed", Covers, Tx> | undefined;
}

/**
 * Returns the router of the three addresses in section 1 of the interface document: `POST /webhook`, `GET
 * /success/:token` and `GET /cancel/:token`. The router works at any mount path, and the option `paths`
 * changes its addresses. The router reads the body itself, so mount it before `express.json()`. If that is
 * not possible, see {@link captureRawBody}. The call also opens the store and starts to dispatch.
 *
 * Takes a kit, or options. The `TILLKIT_*` environment variables configure all options that are left out. An
 * option has priority over its variable.
 *
 * @throws ConfigurationError with every problem of the options and the environment.
 */
export function paymentRouter<Covers extends SignedField, Tx>(
  payments: Payments<Covers, Tx>,
): PaymentRouter<Covers, Tx>;
export function paymentRouter<Tx = SqlTx>(
  options?: InlineOptions<never, Tx> & { signature?: undefined },
): PaymentRouter<never, Tx>;
export function paymentRouter<Covers extends SignedField = SignedField, Tx = SqlTx>(
  options: InlineOptions<Covers, Tx> & { signature: SignatureScheme<Covers> | undefined },
): PaymentRouter<Covers, Tx>;
export function paymentRouter(
  source: Payments | InlineOptions<SignedField, unknown> = {},
): PaymentRouter<never, never> {
  return routerOf(paymentsOf(source), ["webhook", "success", "cancel"]) as PaymentRouter<never, never>;
}

/** Returns the router of the webhook address only. Mount {@link returnRouter} elsewhere. */
export function webhookRouter<Covers extends SignedField, Tx>(
  payments: Payments<Covers, Tx>,
): PaymentRouter<Covers, Tx> {
  expectPayments("webhookRouter", payments);
  return routerOf(payments, ["webhook"]);
}

/** Returns the router of the two return addresses only. Mount it at the path of `publicUrl`. */
export function returnRouter<Covers extends SignedField, Tx>(
  payments: Payments<Covers, Tx>,
): PaymentRouter<Covers, Tx> {
  expectPayments("returnRouter", payments);
  return routerOf(payments, ["success", "cancel"]);
}

function expectPayments(name: string, given: unknown): void {
  const isKit = typeof given === "object" && given !== null && "receiveWebhook" in given;
  if (!isKit) throw optionInvalid(name, "takes what createPayments returned.");
}

function routerOf<Covers extends SignedField, Tx>(
  payments: Payments<Covers, Tx>,
  parts: readonly (keyof PathOptions)[],
): PaymentRouter<Covers, Tx> {
  const { paths } = payments.options;
  const router = Router();
  const log = requestLog(payments.logger);
  const logged: RequestHandler = (request, response, next) => {
    log(request, response);
    next();
  };
  const webhook = parts.includes("webhook") && caught(webhookEndpoint(payments));
  if (webhook) router.all(paths.webhook, logged, webhook);
  for (const part of parts) if (part !== "webhook") mountReturns(router, payments, part, logged);
  // The start waits for the next iteration of the event loop. So handlers that the application adds
  // immediately after this call get the first event too.
  setImmediate(() => {
    payments.start({ keepAlive: false }).catch((error: unknown) => {
      payments.notify("store.unavailable", { during: "start", error });
    });
  });
  // Nearly every request is a webhook, so the webhook's address is compared before Express routes the
  // request. Other spellings of the address (a query, a slash at the end, capitals) go through the router.
  const direct: RequestHandler = (request, response, next) => {
    if (!webhook || request.url !== paths.webhook) return router(request, response, next);
    shareShape(request, response);
    log(request, response);
    return webhook(request, response, next);
  };
  return Object.assign(direct, { payments }) as unknown as PaymentRouter<Covers, Tx>;
}

/** An address that contains the separator of a return token, encoded or not. */
const mayContainToken = /~|%(25)*7e/i;

/** Adds the endpoints below one return path. */
function mountReturns<Covers extends SignedField, Tx>(
  router: Router,
  payments: Payments<Covers, Tx>,
  kind: ReturnKind,
  logged: RequestHandler,
): void {
  const path = payments.options.paths[kind];
  const { show, state } = returnEndpoints(payments, kind);
  // A token must not reach the application's 404 page and log. So below a mount path, the kit answers every
  // address below `path`. Without a mount path, it answers only addresses that may contain a token, because
  // the others may be the shop's own pages.
  router.use(path, ({ baseUrl, url }, _response, next) => {
    // Only Express gives a request a `path`.
    const rest = url.split("?", 1)[0]!;
    const isBelowMount = baseUrl.length > path.length;
    const isOurs = isBelowMount ? rest !== "/" : mayContainToken.test(rest);
    next(isOurs ? undefined : "router");
  });
  router.all(`${path}/:token`, logged, caught(show));
  router.all(`${path}/:token/state`, logged, caught(state));
  const forged: RequestHandler = (request, response, next) =>
    logged(request, response, () => caught(show)(request, response, next));
  router.use(path, forged, undecodable(forged));
}

/** Passes a rejection to `next`. Express 4 itself ignores a rejection, so the process would end. */
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
 * Shows the 404 page for a token that cannot be decoded (`%zz`). Express would show the error with a stack.
 */
function undecodable(forged: RequestHandler): ErrorRequestHandler {
  return (error: unknown, request, response, next) =>
    error instanceof Error && error.name === "URIError" ? forged(request, response, next) : next(error);
}

function paymentsOf(source: Payments | InlineOptions<SignedField, unknown>): Payments {
  if (typeof source !== "object" || source === null)
    throw optionInvalid(
      "paymentRouter",
      "takes what createPayments returned, an object with options, or no argument.",
    );
  if ("receiveWebhook" in source) return source;
  const { onPaymentCompleted, ...options } = source;
  const misspelt = misspeltOptions("", options, { onPaymentCompleted });
  if (misspelt.length > 0) throw new ConfigurationError(misspelt);
  const payments = createPayments(completeOptions(options));
  if (onPaymentCompleted) payments.onPaymentCompleted(onPaymentCompleted);
  return payments;
}
