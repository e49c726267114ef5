import { withoutSecrets } from "../errors/conceal-secrets.js";
import { sameValue } from "../model/money.js";
import { type Money } from "../model/payment.js";
import { creationResponseSchema } from "./creation-schemas.js";
import { parseJson, readBody } from "./send-request.js";
import { PaymentCreationError } from "./service-errors.js";

/** A payment that the service created. */
export interface ServicePayment {
  /** The service's own id (`data.id`). */
  serviceId: string;
  /** The address for the customer's browser (`data.billing.submitUrl`). */
  checkoutUrl: string;
  /** The status as the service wrote it; the interface document shows `pending`. */
  status: string;
  captured?: boolean | undefined;
  /** The time of creation by the service's clock: an RFC 3339 date-time. */
  createdAt?: string | undefined;
}

interface Expectation {
  total: Money;
  token: string;
  signal: AbortSignal;
  timeoutMs: number;
}

const bodyLimitBytes = 256 * 1024;
const maxMessageLength = 500;
const mayExist =
  "The payment may exist: do not send it again. Its webhook or the service's dashboard shows whether it does.";

/** The 4xx statuses after which the payment may exist: a timeout, or a conflict with a stored payment. */
const uncertainRefusals: readonly number[] = [408, 409];

/** Returns the payment in the service's answer. Throws a `PaymentCreationError` if there is none. */
export async function readCreationAnswer(
  response: Response,
  expectation: Expectation,
): Promise<ServicePayment> {
  const { status: httpStatus } = response;
  // The interface document (4.1) does not show the success code; services send 201.
  if (httpStatus < 200 || httpStatus > 299) throw await refusal(response, expectation);
  const { signal, total } = expectation;
  let bytes: Buffer | undefined;
  try {
    bytes = await readBody(response, bodyLimitBytes, signal);
  } catch (cause) {
    throw brokenOff(cause, expectation, httpStatus);
  }
  if (bytes === undefined) throw invalid(`it is larger than ${bodyLimitBytes} bytes`, httpStatus);
  const parsed = creationResponseSchema.safeParse(parseJson(bytes));
  if (!parsed.success) throw invalid(describeIssues(parsed.error.issues), httpStatus);
  const { id, status, purchase, billing, captured, createdAt } = parsed.data.data;
  const echoed = purchase.total;
  if (echoed.currency !== total.currency || !sameValue(echoed.value, total.value)) {
    throw invalid(
      `it must echo ${total.value} ${total.currency} in data.purchase.total, and has another amount`,
      httpStatus,
    );
  }
  return { serviceId: id, checkoutUrl: billing.submitUrl, status, captured, createdAt };
}

/** Returns the error of a request that may have reached the service, but got no complete answer. */
export function brokenOff(
  cause: unknown,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
  httpStatus?: number,
): PaymentCreationError {
  const details = { certainty: "uncertain", cause, httpStatus } as const;
  if (!signal.aborted) {
    const message = `The connection broke before the service's answer was complete. ${mayExist}`;
    return new PaymentCreationError("creation_unreachable", message, details);
  }
  const message = `The service gave no complete answer within ${timeoutMs} ms. ${mayExist}`;
  return new PaymentCreationError("creation_timeout", message, details);
}

async function refusal(response: Response, { token, signal }: Expectation): Promise<PaymentCreationError> {
  const { status: httpStatus } = response;
  // Only the status determines the error. If the body is incomplete, only the service's message is missing.
  const body = await readBody(response, bodyLimitBytes, signal).catch(() => undefined);
  const serviceMessage = body && messageIn(body, token);
  const answered = `The service answered ${httpStatus}${serviceMessage === undefined ? "" : ` (${serviceMessage})`}`;
  const failed = { certainty: "failed", httpStatus, serviceMessage } as const;
  if (httpStatus === 401) {
    const message = `${answered}: it does not accept the access token. Check service.accessToken.`;
    return new PaymentCreationError("access_token_refused", message, failed);
  }
  if (httpStatus >= 400 && httpStatus <= 499 && !uncertainRefusals.includes(httpStatus)) {
    const message = `${answered}: the service refused to create the payment. Fix the request or the account.`;
    return new PaymentCreationError("creation_refused", message, failed);
  }
  const expected = httpStatus < 400 ? ", but a 2xx was expected; redirects are not followed" : "";
  const message = `${answered}${expected}. ${mayExist}`;
  return new PaymentCreationError("creation_failed", message, { ...failed, certainty: "uncertain" });
}

/**
 * Returns `title` and `detail` of an error's JSON body, as services with this interface send them (the
 * interface document, 7, shows no format). The result is for people and logs: one line of at most 500
 * characters, without the token that a service may echo.
 */
function messageIn(body: Buffer, token: string): string | undefined {
  const json = parseJson(body);
  if (typeof json !== "object" || json === null) return undefined;
  const { title, detail } = json as { title?: unknown; detail?: unknown };
  const text = [title, detail]
    .filter((part) => typeof part === "string")
    // Replaces control characters, invisible format characters, line separators and lone surrogates.
    .map((part) => part.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").trim())
    .filter((part) => part !== "")
    .join(": ")
    .replaceAll(token, "[token]");
  return text === ""
    ? undefined
    : Array.from(withoutSecrets(text)).slice(0, maxMessageLength).join("").trim();
}

function invalid(why: string, httpStatus: number): PaymentCreationError {
  return new PaymentCreationError(
    "creation_response_invalid",
    `The service's answer is not the envelope of the interface document, 2.2: ${why}. ${mayExist}`,
    { certainty: "uncertain", httpStatus },
  );
}

/**
 * The fields of zod's issues that the kit uses. An issue with the code `custom` has a message of {@link
 * creationResponseSchema}.
 */
interface Issue {
  code?: string | undefined;
  message: string;
  path: readonly PropertyKey[];
}

/** Returns the paths of the first wrong fields, without their values. */
function describeIssues(issues: readonly Issue[]): string {
  const paths = issues.map(({ path }) => path.map(String).join("."));
  if (paths.includes("")) return "it is not a JSON object";
  const [first] = issues;
  if (issues.length === 1 && first?.code === "custom") return `${paths[0]} ${first.message}`;
  return `${paths.slice(0, 3).join(", ")} ${paths.length === 1 ? "is" : "are"} missing or not as specified`;
}
