import { ConfigurationError, hasCode, TillkitError } from "../errors/index.js";
import { type Money } from "../model/payment.js";
import { obtainToken, type AccessToken } from "./access-token.js";
import { PaymentCreationError } from "./creation-error.js";
import { brokenOff, readCreationAnswer, type CreatedPayment } from "./creation-answer.js";
import { untilAborted } from "./deadline.js";
import { wasNeverSent } from "./never-sent.js";
import { discardBody } from "./response-body.js";
import { serviceProblems, type PaymentServiceOptions } from "./service-options.js";
import { type CreationRequest } from "./wire.js";

/** What the kit asks the service for. */
export interface CreatePaymentRequest {
  clientId: string;
  total: Money;
  successUrl: string;
  cancelUrl: string;
  /** Language of the service's messages: a tag such as `fr`, sent as `Accept-Language`. */
  locale?: string | undefined;
}

/** The client of the payment service. */
export interface PaymentService {
  /**
   * Creates one payment (interface document, 4.1). Sends at most one request, and a second one only after a 401,
   * which proves that the first made nothing.
   *
   * @throws PaymentCreationError with every failure; its `certainty` says whether the payment may exist.
   * @throws TillkitError `locale_invalid`; nothing was sent.
   */
  createPayment(request: CreatePaymentRequest): Promise<CreatedPayment>;
}

/**
 * Makes the client of the payment service.
 *
 * @throws ConfigurationError with the problems of {@link serviceProblems}.
 */
export function createPaymentService(options: PaymentServiceOptions): PaymentService {
  const problems = serviceProblems(options);
  const { baseUrl, accessToken, timeoutMs = 10_000, fetch = globalThis.fetch } = options;
  if (problems.length > 0 || baseUrl === undefined || accessToken === undefined) {
    throw new ConfigurationError(problems);
  }
  const address = `${baseUrl.replace(/\/+$/, "")}/v1/payments`;

  const createPayment = async (request: CreatePaymentRequest): Promise<CreatedPayment> => {
    const { locale, total } = request;
    if (locale !== undefined && !/^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/.test(locale)) {
      throw new TillkitError("locale_invalid", 'locale must be a language tag such as "fr" or "en-GB".');
    }
    const signal = AbortSignal.timeout(timeoutMs);
    const call: Call = { address, timeoutMs, fetch, signal, body: bodyOf(request), locale };
    let token = await tokenFor(accessToken, call, undefined);
    let response = await send(call, token);
    if (response.status === 401) {
      const renewed = await tokenFor(accessToken, call, token).catch((error: unknown) => {
        discardBody(response);
        throw error;
      });
      // The same token again (a plain string, for one) would be refused again.
      if (renewed !== token) {
        discardBody(response);
        token = renewed;
        response = await send(call, token);
      }
    }
    return readCreationAnswer(response, { total, token, signal, timeoutMs });
  };

  return Object.freeze({ createPayment });
}

interface Call {
  address: string;
  timeoutMs: number;
  fetch: typeof globalThis.fetch;
  signal: AbortSignal;
  body: string;
  locale: string | undefined;
}

function bodyOf({ clientId, total, successUrl, cancelUrl }: CreatePaymentRequest): string {
  const { value, currency } = total;
  const body: CreationRequest = { purchase: { total: { value, currency } }, clientId, cancelUrl, successUrl };
  return JSON.stringify(body);
}

/** Nothing was created yet, or a 401 proves that nothing was: without a token the creation has failed for certain. */
async function tokenFor(accessToken: AccessToken, call: Call, refused: string | undefined): Promise<string> {
  const { signal, timeoutMs } = call;
  try {
    return await untilAborted(signal, obtainToken(accessToken, { refused, signal }));
  } catch (cause) {
    const details = {
      certainty: "failed",
      cause,
      httpStatus: refused === undefined ? undefined : 401,
    } as const;
    if (hasCode(cause, "access_token_refused")) {
      const message = "The issuer refused to give an access token, so no payment was created; see the cause.";
      throw new PaymentCreationError("access_token_refused", message, details);
    }
    const reason = signal.aborted ? `was not there within ${timeoutMs} ms` : "could not be obtained";
    const message = `The access token ${reason}, so no payment was created; see the cause, then create it again.`;
    throw new PaymentCreationError("access_token_unavailable", message, details);
  }
}

async function send(
  { address, fetch, signal, body, locale, timeoutMs }: Call,
  token: string,
): Promise<Response> {
  const headers: Record<string, string> = {
    Accept: "application/json",
    Authorization: `Bearer ${token}`,
    "Content-Type": "application/json",
  };
  if (locale !== undefined) headers["Accept-Language"] = locale;
  try {
    const request = { method: "POST", headers, body, redirect: "manual", signal } as const;
    return await untilAborted(signal, fetch(address, request));
  } catch (cause) {
    if (wasNeverSent(cause)) {
      const message =
        "The service could not be connected to, so no payment was created. Check service.baseUrl and the network.";
      throw new PaymentCreationError("creation_unreachable", message, { certainty: "failed", cause });
    }
    throw brokenOff(cause, { signal, timeoutMs });
  }
}
