import { z } from "zod";
import { TillkitError } from "../errors/index.js";
import { discardBody, parseJson, readBody, sendRequest } from "./send-request.js";
import { because } from "../shared/because.js";

const bodyLimitBytes = 64 * 1024;
/** The lifetime of a token if the answer has no `expires_in`. */
const assumedLifetimeSeconds = 300;

// Some issuers write the number as a string.
const digits = z.string().regex(/^\d{1,10}$/);
const tokenAnswer = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  expires_in: z.union([z.number(), digits.transform(Number)]).nullish(),
});

/** Statuses of an issuer that refuses these credentials. */
const refusals: readonly number[] = [400, 401, 403];

/** The error codes of RFC 6749, 5.2. Messages contain no other text of an answer, which may echo a secret. */
const knownErrors: readonly unknown[] = [
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
];

interface TokenRequest {
  tokenUrl: string;
  form: string;
  timeoutMs: number;
  fetch: typeof globalThis.fetch | undefined;
}

/** Sends one token request, with a time limit and a maximum size of the answer. Follows no redirect. */
export async function requestToken(request: TokenRequest): Promise<{ token: string; lifetimeMs: number }> {
  const signal = AbortSignal.timeout(request.timeoutMs);
  let answer: { status: number; body: Buffer | undefined };
  try {
    answer = await sendTokenRequest(request, signal);
  } catch (cause) {
    throw unavailable(
      signal.aborted
        ? `the token address did not answer within ${request.timeoutMs} ms.`
        : `the token address could not be reached, or it broke the connection${because(cause)}`,
      cause,
    );
  }
  const { status, body } = answer;
  const json = body === undefined ? undefined : parseJson(body);
  if (refusals.includes(status)) {
    throw new TillkitError(
      "access_token_refused",
      `No access token: the token address answered ${status}${knownError(json)}. ` +
        "Check clientId, clientSecret and scope.",
    );
  }
  if (status < 200 || status > 299) throw unavailable(`the token address answered ${status}, not 200.`);
  if (body === undefined) throw unavailable(`the answer is larger than ${bodyLimitBytes} bytes.`);
  const parsed = tokenAnswer.safeParse(json);
  if (!parsed.success) {
    throw unavailable(
      "the answer must be JSON with an access_token of visible ASCII and, where present, " +
        "an expires_in in seconds (RFC 6749, 5.1).",
    );
  }
  const { access_token: token, expires_in: seconds } = parsed.data;
  return { token, lifetimeMs: Math.max(0, seconds ?? assumedLifetimeSeconds) * 1000 };
}

async function sendTokenRequest({ tokenUrl, form, fetch }: TokenRequest, signal: AbortSignal) {
  const headers = { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" };
  const response = await sendRequest(fetch, tokenUrl, { method: "POST", headers, body: form }, signal);
  const { status } = response;
  if (status >= 200 && status <= 299)
    return { status, body: await readBody(response, bodyLimitBytes, signal) };
  if (refusals.includes(status)) {
    // Only the status determines the error. Without a complete body, only the code is missing in the message.
    return { status, body: await readBody(response, bodyLimitBytes, signal).catch(() => undefined) };
  }
  discardBody(response);
  return { status, body: undefined };
}

function knownError(json: unknown): string {
  const error = typeof json === "object" && json !== null && "error" in json ? json.error : undefined;
  return knownErrors.includes(error) ? ` (${String(error)})` : "";
}

function unavailable(why: string, cause?: unknown): TillkitError {
  return new TillkitError(
    "access_token_unavailable",
    `No access token: ${why}`,
    cause === undefined ? {} : { cause },
  );
}
