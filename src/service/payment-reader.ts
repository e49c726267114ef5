import { obtainToken, sendWithToken } from "./access-token.js";
import { discardBody, parseJson, readBody, sendRequest, untilAborted } from "./send-request.js";
import { LookupError } from "./service-errors.js";
import { type PaymentServiceOptions } from "./service-options.js";
import { anySignal } from "../shared/with-timeout.js";
import { because } from "../shared/because.js";

/** A payment as the service shows it. The fields of the payment are then read by the rules of webhooks. */
export type ShownPayment = Readonly<Record<string, unknown>>;

/** Reads payments, at addresses that the interface document does not show. `closing` ends a request early. */
export interface PaymentReader {
  /**
   * Reads one payment with `GET /v1/payments/{id}`. The answer is the payment, or has it under `data`.
   *
   * @throws LookupError for every other answer, including a 404, and if there is no token or no answer
   */
  read(serviceId: string, closing?: AbortSignal): Promise<ShownPayment>;
  /**
   * Reads a list of payments with `GET /v1/payments?limit=&offset=`. The answer is the list, or has it under
   * `data`.
   *
   * @throws LookupError for every other answer, and if there is no token or no answer
   */
  list(page: { limit: number; offset: number }, closing?: AbortSignal): Promise<ShownPayment[]>;
}

const bodyLimitBytes = 1024 * 1024;

/** Makes the reader. The options must be checked already. */
export function createPaymentReader(options: PaymentServiceOptions, timeoutMs: number): PaymentReader {
  const address = `${options.baseUrl!.replace(/(?<!\/)\/+$/, "")}/v1/payments`;

  const get = async (path: string, closing: AbortSignal | undefined): Promise<unknown> => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const { signal, release } = anySignal(closing ? [timeout, closing] : [timeout]);
    try {
      const response = await request(options, address + path, signal);
      if (response.status < 200 || response.status > 299) throw refusal(response);
      const bytes = await readBody(response, bodyLimitBytes, signal);
      if (bytes === undefined) throw invalid(`is larger than ${bodyLimitBytes} bytes`);
      const json = parseJson(bytes);
      if (typeof json !== "object" || json === null) throw invalid("is not a JSON object");
      return "data" in json && !Array.isArray(json) ? json.data : json;
    } catch (cause) {
      if (cause instanceof LookupError) throw cause;
      const message = timeout.aborted
        ? `The service gave no complete answer within ${timeoutMs} ms.`
        : `The service could not be asked${because(cause)}`;
      throw new LookupError("lookup_failed", message, { cause });
    } finally {
      release();
    }
  };

  return Object.freeze<PaymentReader>({
    async read(serviceId, closing) {
      const payment = await get(`/${encodeURIComponent(serviceId)}`, closing);
      if (!isObject(payment)) throw invalid("is not a payment");
      if (payment["id"] !== serviceId) throw invalid("is about another payment than was asked for");
      return payment;
    },
    async list({ limit, offset }, closing) {
      const payments = await get(`?limit=${limit}&offset=${offset}`, closing);
      if (!Array.isArray(payments)) throw invalid("is not a list");
      return payments.filter(isObject);
    },
  });
}

async function request(
  { accessToken, fetch }: PaymentServiceOptions,
  address: string,
  signal: AbortSignal,
): Promise<Response> {
  const { response } = await sendWithToken(
    (refused) => untilAborted(signal, obtainToken(accessToken!, { refused, signal })),
    (token) => {
      const headers = { Accept: "application/json", Authorization: `Bearer ${token}` };
      return sendRequest(fetch, address, { method: "GET", headers }, signal);
    },
  );
  return response;
}

function refusal(response: Response): LookupError {
  const { status: httpStatus } = response;
  discardBody(response);
  const retryAfterMs = readRetryAfter(response.headers);
  const message = `The service answered the lookup with ${httpStatus}, but a 2xx was expected.`;
  return new LookupError("lookup_failed", message, { httpStatus, retryAfterMs });
}

/**
 * Returns the wait that `Retry-After` asks for (RFC 9110, 10.2.3), in milliseconds. A date is compared with
 * the answer's own `Date`, because the clocks may differ. If the answer has no readable `Date`, the date is
 * compared with this machine's clock.
 */
function readRetryAfter(headers: Pick<Headers, "get">): number | undefined {
  const wait = (headers.get("retry-after") ?? "").trim();
  if (/^\d+$/.test(wait)) return Number(wait) * 1000;
  const until = httpDate(wait);
  if (until === undefined) return undefined;
  return Math.max(0, until - (httpDate(headers.get("date") ?? "") ?? Date.now()));
}

/** Returns the time of a date as HTTP writes it (RFC 9110, 5.6.7), in milliseconds since 1970. */
function httpDate(text: string): number | undefined {
  // The third form, of asctime, has no time zone and is not in use.
  const isForm = /^[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -](\d{2}|\d{4}) \d\d:\d\d:\d\d GMT$/.test(text);
  const time = isForm ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time;
}

function invalid(why: string): LookupError {
  return new LookupError("lookup_answer_invalid", `The service's answer to the lookup ${why}.`);
}

function isObject(value: unknown): value is ShownPayment {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
