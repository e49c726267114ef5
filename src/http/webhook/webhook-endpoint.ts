import { type IncomingMessage, type ServerResponse } from "node:http";
import { type Logger } from "pino";
import { rejectionStatus, type RejectionCode, WebhookRejectedError } from "../../errors/index.js";
import { loggable } from "../../errors/conceal-secrets.js";
import { type Payments } from "../../kit/payments.js";
import { isRejection, isVerificationFailure } from "../../webhook/signature/verify-signature.js";
import { type WebhookRequest } from "../../webhook/receive-webhook.js";
import { doctorAgent, suggestedRefusedDirectory, verifyLast } from "../../shared/refused-files.js";
import { type SignedField } from "../../model/signed-fields.js";
import { clientAddress, failureThrottle } from "./failure-throttle.js";
import { rawBodyReader } from "./raw-body.js";
import { refuse, replyReceived } from "../reply.js";
import { bodyHash, noteFacts } from "../request-log.js";

/** The minimum time between two log lines about wrong signatures. */
const mismatchLogMs = 60_000;

/** Returns the endpoint to which the service posts webhooks. */
export function webhookEndpoint<Covers extends SignedField, Tx>(payments: Payments<Covers, Tx>) {
  const { receiveWebhook, options, notify, logger } = payments;
  const readRawBody = rawBodyReader(options.webhook);
  const countSignature = mismatchLog(logger, options.webhook.keepRefused);
  const spend = options.webhook.failures && failureThrottle(options.webhook.failures);

  /** Counts a failed verification. Returns the seconds for the `Retry-After` header, or `undefined`. */
  function retryAfterOf(request: IncomingMessage, code: RejectionCode): number | undefined {
    if (code === "record_unavailable") return 5;
    return isVerificationFailure(code) ? spend?.(clientAddress(request)) : undefined;
  }

  return async function webhook(
    request: IncomingMessage & { originalUrl?: string },
    response: ServerResponse,
  ): Promise<void> {
    noteFacts(request, { route: options.paths.webhook });
    const isByDoctor = request.headers["user-agent"] === doctorAgent;
    let rawBody: Buffer | undefined;
    try {
      checkEnvelope(request);
      const reading = readRawBody(request);
      rawBody = Buffer.isBuffer(reading) ? reading : await reading;
      noteFacts(request, { rawBody });
      // Express removes the mount path from `url`.
      const { method, url, originalUrl = url } = request;
      const headers = headersOf(request);
      noteFacts(request, await receiveWebhook({ rawBody, headers, method, url: originalUrl }));
      replyReceived(response);
      if (!isByDoctor) countSignature(true);
    } catch (error) {
      // For an error that is not a refusal, the answer is 503, so that the service can send the webhook
      // again.
      const { code, fix, cause } = isRejection(error) ? error : unexpected(error);
      const retryAfter = retryAfterOf(request, code);
      const status = isVerificationFailure(code) && retryAfter !== undefined ? 429 : rejectionStatus[code];
      noteFacts(request, { code });
      if (code === "signature_mismatch" && !isByDoctor) countSignature(false);
      if (status >= 500)
        logger.error({ code, err: loggable(cause ?? error) }, `a webhook was not accepted: ${fix}`);
      notify("webhook.rejected", { code, status, ...(rawBody && { bodyHash: bodyHash(rawBody) }) });
      refuse(request, response, { status, retryAfter });
    }
  };
}

/** Checks the method and the headers, before the body is read. */
function checkEnvelope({ method, headers }: IncomingMessage): void {
  if (method !== "POST") {
    throw new WebhookRejectedError("method_not_allowed", "Webhooks are sent with POST.");
  }
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    // The kit decompresses nothing, because a few bytes could become gigabytes.
    throw new WebhookRejectedError(
      "content_encoding_unsupported",
      "Webhooks are sent without a content-encoding.",
    );
  }
  // The interface shows no content type (4.4), so only a browser's form is refused here.
  if (/^\s*(application\/x-www-form-urlencoded|multipart\/)/i.test(headers["content-type"] ?? "")) {
    throw new WebhookRejectedError("content_type_unsupported", "Webhooks are not sent as a form.");
  }
}

/**
 * Returns the headers. A repeated header becomes a list, so that a scheme can refuse a repeated signature.
 * Node joins some repeated headers with a comma, but `rawHeaders` has them as they arrived. Behind
 * `serverless-http`, there are no `rawHeaders`, and the scheme refuses the joined value. Other headers come
 * from `headers`, which a middleware may have changed.
 */
function headersOf({
  headers,
  rawHeaders,
}: Pick<IncomingMessage, "headers"> & { rawHeaders?: string[] }): WebhookRequest["headers"] {
  if (!rawHeaders?.length || 2 * Object.keys(headers).length === rawHeaders.length) return headers;
  const arrived: Record<string, string[]> = Object.create(null) as never;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    (arrived[name] ??= []).push(rawHeaders[at + 1]!);
  }
  const repeated = Object.entries(arrived).filter(([, values]) => values.length > 1);
  return { ...headers, ...Object.fromEntries(repeated) };
}

function unexpected(cause: unknown): WebhookRejectedError {
  return new WebhookRejectedError("record_unavailable", "The webhook could not be handled.", { cause });
}

/**
 * Returns a function that counts one webhook with a matching or a wrong signature. Logs the first mismatch,
 * and later at most one line in a minute, with the rate. The rate shows the cause. With a wrong secret, every
 * webhook mismatches. A forgery is a single mismatch.
 */
export function mismatchLog(
  logger: Logger,
  keptIn: string | undefined,
  nowMs: () => number = () => performance.now(),
): (matches: boolean) => void {
  let [countedFrom, loggedAt] = [nowMs(), -Infinity];
  let [received, mismatched] = [0, 0];
  const advice =
    keptIn === undefined
      ? `start the app with TILLKIT_KEEP_REFUSED=${suggestedRefusedDirectory}, let the service send again, and run: ${verifyLast()}`
      : `run: ${verifyLast(keptIn)}`;
  return (matches) => {
    received += 1;
    if (matches) return;
    mismatched += 1;
    const now = nowMs();
    if (now - loggedAt < mismatchLogMs) return;
    const seconds = Math.ceil((now - countedFrom) / 1000);
    logger.warn(
      { code: "signature_mismatch", received, mismatched },
      `the signatures of ${mismatched} of ${received} webhooks in the last ${seconds} s do not match; if the service sent them, ` +
        `the secret or the scheme is wrong: ${advice} (npx tillkit help errors signature_mismatch)`,
    );
    [countedFrom, loggedAt, received, mismatched] = [now, now, 0, 0];
  };
}
