import { type Money } from "../model/payment.js";
import { sameValue } from "../model/money.js";
import { PaymentCreationError } from "./creation-error.js";
import { parseJson, readBody } from "./response-body.js";
import { serviceMessage } from "./service-message.js";
import { creationResponseSchema } from "./wire.js";

/** What the service made. */
export interface CreatedPayment {
  /** The service's own id (`data.id`). */
  serviceId: string;
  /** Where to send the customer (`data.billing.submitUrl`). */
  checkoutUrl: string;
  /** As the service wrote it; the interface document shows `pending`. */
  status: string;
}

interface Expectation {
  total: Money;
  token: string;
  signal: AbortSignal;
  timeoutMs: number;
}

const bodyLimitBytes = 256 * 1024;
const mayExist =
  "The payment may exist: do not send it again; its webhook, or the service's dashboard, tells.";

/** 4xx after which the payment may exist: a time-out at the service, and a conflict with a payment it has. */
const uncertainRefusals: readonly number[] = [408, 409];

/** Turns the service's answer into a payment, or into an error that says what is known. */
export async function readCreationAnswer(
  response: Response,
  expectation: Expectation,
): Promise<CreatedPayment> {
  const { status: httpStatus } = response;
  // The interface document (4.1) does not show the success code; 201 is what services send.
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
  if (!parsed.success) throw invalid(describe(parsed.error.issues), httpStatus);
  const { id, status, purchase, billing } = parsed.data.data;
  const echoed = purchase.total;
  if (echoed.currency !== total.currency || !sameValue(echoed.value, total.value)) {
    throw invalid(
      `it must echo ${total.value} ${total.currency} in data.purchase.total, and has another amount`,
      httpStatus,
    );
  }
  return { serviceId: id, checkoutUrl: billing.submitUrl, status };
}

/** The error of a request that may have reached the service and has no answer that can be read to its end. */
export function brokenOff(
  cause: unknown,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
  httpStatus?: number,
): PaymentCreationError {
  const details = { certainty: "uncertain", cause, httpStatus } as const;
  return signal.aborted
    ? new PaymentCreationError(
        "creation_timeout",
        `The service gave no whole answer within ${timeoutMs} ms. ${mayExist}`,
        details,
      )
    : new PaymentCreationError(
        "creation_unreachable",
        `The connection broke before the service's answer was whole. ${mayExist}`,
        details,
      );
}

async function refusal(response: Response, { token, signal }: Expectation): Promise<PaymentCreationError> {
  const { status: httpStatus } = response;
  // The status alone decides what is known; a body that breaks off only costs the service's own words.
  const body = await readBody(response, bodyLimitBytes, signal).catch(() => undefined);
  const words = serviceMessage(body, token);
  const answered = `The service answered ${httpStatus}${words === undefined ? "" : ` (${words})`}`;
  const failed = { certainty: "failed", httpStatus, serviceMessage: words } as const;
  if (httpStatus === 401) {
    const message = `${answered}: it does not take the access token. Check service.accessToken.`;
    return new PaymentCreationError("access_token_refused", message, failed);
  }
  if (httpStatus >= 400 && httpStatus <= 499 && !uncertainRefusals.includes(httpStatus)) {
    const message = `${answered}: it refused the payment, and made none. Mend the request or the account.`;
    return new PaymentCreationError("creation_refused", message, failed);
  }
  const expected = httpStatus < 400 ? ", where a 2xx was expected; redirects are not followed" : "";
  const message = `${answered}${expected}. ${mayExist}`;
  return new PaymentCreationError("creation_failed", message, { ...failed, certainty: "uncertain" });
}

function invalid(why: string, httpStatus: number): PaymentCreationError {
  return new PaymentCreationError(
    "creation_response_invalid",
    `The service's answer is not the envelope of the interface document, 2.2: ${why}. ${mayExist}`,
    { certainty: "uncertain", httpStatus },
  );
}

/** The first fields that are wrong, by path; never their values. */
function describe(issues: readonly { path: readonly PropertyKey[] }[]): string {
  const paths = issues.map(({ path }) => path.map(String).join("."));
  if (paths.includes("")) return "it is not a JSON object";
  return `${paths.slice(0, 3).join(", ")} ${paths.length === 1 ? "is" : "are"} missing or not as specified`;
}
