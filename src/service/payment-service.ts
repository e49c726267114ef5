import { hasCode, TillkitError } from "../errors/index.js";
import { type Money } from "../model/payment.js";
import { type AccessToken, obtainToken, sendWithToken } from "./access-token.js";
import { brokenOff, type ServicePayment, readCreationAnswer } from "./creation-answer.js";
import { type CreationRequest } from "./creation-schemas.js";
import { sendRequest, untilAborted } from "./send-request.js";
import { PaymentCreationError } from "./service-errors.js";
import { type PaymentServiceOptions } from "./service-options.js";
import { because } from "../shared/because.js";

/** A payment to create at the service. */
export interface CreatePaymentRequest {
  clientId: string;
  total: Money;
  successUrl: string;
  cancelUrl: string;
  /** The language of the service's messages: a tag such as `fr`, sent as `Accept-Language`. */
  locale?: string | undefined;
}

/** The client of the payment service. */
export interface PaymentService {
  /**
   * Creates one payment (interface document, 4.1). Sends one request, and a second one only after a 401,
   * which proves that the first made no payment.
   *
   * @throws PaymentCreationError with every failure; its `certainty` says whether the payment may exist.
   * @throws TillkitError `locale_invalid`; nothing was sent.
   */
  createPayment(request: CreatePaymentRequest): Promise<ServicePayment>;
}

/** Makes the client of the payment service. The options must be checked already. */
export function createPaymentService(options: PaymentServiceOptions & { timeoutMs: number }): PaymentService {
  const { timeoutMs, fetch } = options;
  const accessToken = options.accessToken!;
  const address = `${options.baseUrl!.replace(/(?<!\/)\/+$/, "")}/v1/payments`;

  const createPayment = async (request: CreatePaymentRequest): Promise<ServicePayment> => {
    const { locale, total } = request;
    if (locale !== undefined && !/^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/.test(locale)) {
      throw new TillkitError("locale_invalid", 'locale must be a language tag such as "fr" or "en-GB".');
    }
    const signal = AbortSignal.timeout(timeoutMs);
    const call: Call = { address, timeoutMs, fetch, signal, body: bodyOf(request), locale };
    const { response, token } = await sendWithToken(
      (refused) => tokenFor(accessToken, call, refused),
      (current) => sendCreation(call, current),
    );
    return readCreationAnswer(response, { total, token, signal, timeoutMs });
  };

  return Object.freeze({ createPayment });
}

interface Call {
  address: string;
  timeoutMs: number;
  fetch: typeof globalThis.fetch | undefined;
  signal: AbortSignal;
  body: string;
  locale: string | undefined;
}

function bodyOf({ clientId, total, successUrl, cancelUrl }: CreatePaymentRequest): string {
  const { value, currency } = total;
  const body: CreationRequest = { purchase: { total: { value, currency } }, clientId, cancelUrl, successUrl };
  return JSON.stringify(body);
}

/**
 * Gets a token. Without a token, the creation has failed, because no request was sent, or the service
 * answered 401.
 */
async function tokenFor(accessToken: AccessToken, call: Call, refused: string | undefined): Promise<string> {
  const { signal, timeoutMs } = call;
  try {
    return await untilAborted(signal, obtainToken(accessToken, { refused, signal }));
  } catch (cause) {
    const httpStatus = refused === undefined ? undefined : 401;
    const details = { certainty: "failed", cause, httpStatus } as const;
    if (hasCode(cause, "access_token_refused")) {
      const message = `The issuer refused to give an access token, so no payment was created${because(cause)}`;
      throw new PaymentCreationError("access_token_refused", message, details);
    }
    const [reason, why] = signal.aborted
      ? [`was not there within ${timeoutMs} ms`, "."]
      : ["could not be obtained", because(cause)];
    const message = `The access token ${reason}, so no payment was created${why} Create it again.`;
    throw new PaymentCreationError("access_token_unavailable", message, details);
  }
}

async function sendCreation(call: Call, token: string): Promise<Response> {
  const { address, fetch, signal, body, locale } = call;
  const headers: Record<string, string> = {
    Accept: "application/json",
    Authorization: `Bearer ${token}`,
    "Content-Type": "application/json",
  };
  if (locale !== undefined) headers["Accept-Language"] = locale;
  try {
    return await sendRequest(fetch, address, { method: "POST", headers, body }, signal);
  } catch (cause) {
    if (wasNeverSent(cause)) {
      const message = `No payment was created: the service cannot be reached${because(cause)} Check service.baseUrl and the network.`;
      throw new PaymentCreationError("creation_unreachable", message, { certainty: "failed", cause });
    }
    throw brokenOff(cause, call);
  }
}

/** Codes that Node and its `fetch` use only before there is a connection. */
const beforeConnection: readonly unknown[] = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
];

/**
 * Returns whether an error of `fetch` proves that no request was sent, because there was no connection, or
 * the name has no address. After every other error, the request counts as sent. For example, the service may
 * have read the request before a reset of the connection.
 */
function wasNeverSent(error: unknown, depth = 0): boolean {
  // The fields of the error are checked, because an application's own `fetch` may throw errors of another
  // realm. Such an error may even be its own cause.
  if (typeof error !== "object" || error === null || depth > 8) return false;
  const { code, syscall, errors, cause } = error as Record<string, unknown>;
  // A host with several addresses has one error for each.
  if (Array.isArray(errors) && errors.length > 0) return errors.every((one) => wasNeverSent(one, depth + 1));
  if (beforeConnection.includes(code) || syscall === "connect" || syscall === "getaddrinfo") return true;
  // fetch() wraps the system's error.
  return wasNeverSent(cause, depth + 1);
}
