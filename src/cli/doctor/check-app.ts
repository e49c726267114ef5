import { type Finding } from "../terminal/finding.js";
import { type AsyncFindings, finding, type Findings } from "./findings.js";
import { type WebhookReplies } from "./probe-webhook.js";
import {
  type Answer,
  type SendFailure,
  isAccepted,
  isAcceptedByKit,
  isAnswer,
  isRefusedByKit,
  isThrottled,
  type Reply,
  sendProbe,
} from "./send.js";
import { type ProbedSubject } from "./subject.js";

/** The parts of a subject that `checkWebhook` needs. */
type Checked = Pick<ProbedSubject, "webhook" | "replies"> & { settings: AppSettings };
type AppSettings = Pick<ProbedSubject["settings"], "merchantId" | "header">;

/** Returns whether the kit answers at the address. */
export function isKit({ unsigned, read, forged, signed }: WebhookReplies): boolean {
  return [unsigned, read, forged].some(isRefusedByKit) || isAcceptedByKit(signed);
}

/** Checks the replies of the webhook's address. */
export function* checkWebhook({ webhook, replies, settings }: Checked): Findings {
  if (webhook === undefined || replies === undefined) return;
  const { unsigned } = replies;
  const access = isAnswer(unsigned)
    ? (checkRedirect(webhook, unsigned, replies) ??
      checkForged(webhook, replies) ??
      checkStatus(webhook, unsigned, replies))
    : failureFinding(webhook, unsigned);
  // If the access has a finding, the other checks are skipped, because they would fail for the same reason.
  if (access) return yield access;
  // The other checks go on, because the kit or the proxy may have limited only some of the requests.
  const { forged, long, malformed, slow, signed, spaced } = replies;
  if ([unsigned, forged, long, malformed, slow, signed, spaced].some((reply) => statusOf(reply) === 429))
    yield throttledFinding(webhook);
  yield* checkBodies(replies);
  yield* checkSigned(replies, settings);
}

/** Returns the finding for an address that answers 429. */
export function throttledFinding(address: string): Finding {
  return finding("webhook_throttled", `A webhook to ${address} is answered with 429: too many requests.`);
}

/** Returns the finding for a request without an answer. */
export function failureFinding(address: string, { failure, reason }: SendFailure): Finding {
  if (failure === "certificate")
    return finding("certificate_invalid", `The certificate of ${address} is not valid: ${reason}.`);
  if (failure === "timeout") return finding("webhook_hangs", `${address} does not answer: ${reason}.`);
  return finding("app_unreachable", `${address} cannot be reached: ${reason}.`);
}

function checkRedirect(
  address: string,
  { status, headers }: Answer,
  { needsHttps }: WebhookReplies,
): Finding | undefined {
  if (status < 300 || status >= 400) return undefined;
  const seen = `A webhook to ${address} is answered with ${status}`;
  if (needsHttps)
    return finding(
      "proxy_not_trusted",
      `${seen}, a redirect to https, although X-Forwarded-Proto says that the webhook came to the proxy over https.`,
    );
  const { location } = headers;
  const to =
    location !== undefined && URL.canParse(location, address) ? new URL(location, address) : undefined;
  // The query is left out, because it may contain a secret.
  return finding("webhook_redirected", `${seen}, a redirect to ${to ? to.origin + to.pathname : "nowhere"}.`);
}

function checkForged(address: string, replies: WebhookReplies): Finding | undefined {
  const { unsigned, forged, long, slow, elsewhere } = replies;
  const accepted = [unsigned, forged, long, slow].find(isAccepted);
  if (!accepted) return undefined;
  const seen = `is answered with ${accepted.status}`;
  if (isAccepted(elsewhere))
    return finding("webhook_not_mounted", `${address} ${seen}, and so is every address beside it.`);
  const how = accepted === unsigned ? "without a signature" : "with a wrong signature";
  return finding("signature_not_checked", `A webhook to ${address} ${how} ${seen}.`);
}

function checkStatus(address: string, unsigned: Answer, replies: WebhookReplies): Finding | undefined {
  const { status } = unsigned;
  const byKit = isRefusedByKit(unsigned);
  const seen = `A webhook to ${address} is answered with ${status}`;
  // If an unknown address beside this address gets another answer, the webhook's own handler sends the 404.
  // `checkSigned` then checks this handler.
  if (status === 404 && isOwn(unsigned, replies.elsewhere)) return undefined;
  if (status === 404 || status === 405 || status === 501) return finding("webhook_not_mounted", `${seen}.`);
  if (status === 413) return finding("webhook_body_limited", `${seen}, although it has a few hundred bytes.`);
  if (status === 415) return finding("webhook_type_refused", `${seen}, although it is application/json.`);
  if (status === 429) return undefined;
  if (status === 500 && byKit) return finding("raw_body_consumed", consumedBy(replies));
  if (status === 503 && byKit) return finding("record_unavailable", `${seen}.`);
  if (status >= 500) return finding("webhook_fails", `${seen}.`);
  if (byKit || !(isKit(replies) || refusesEverybody(status, replies))) return undefined;
  return finding("webhook_blocked", `${seen} before the signature is checked.`);
}

/** Returns whether an answer, without its ids, differs from the answer of an unknown address. */
function isOwn({ status, body }: Answer, elsewhere: Reply | undefined): boolean {
  const plain = (text: string): string => text.replace(/[\da-f-]{8,}/gi, "");
  return isAnswer(elsewhere) && (elsewhere.status !== status || plain(elsewhere.body) !== plain(body));
}

/**
 * Returns the message that other code reads the body before the kit. The kit itself answers 500 only in this
 * case.
 */
function consumedBy({ malformed }: WebhookReplies): string {
  const parser =
    isAnswer(malformed) && !isRefusedByKit(malformed)
      ? ` That parser, and not the router, answers a body that is not JSON with ${malformed.status}.`
      : "";
  return `Something reads the body before the payment router does.${parser}`;
}

/** Returns whether the app refuses each request with this status, even a request to an unknown address. */
function refusesEverybody(status: number, { signed, elsewhere }: WebhookReplies): boolean {
  return !isAccepted(signed) && [401, 403, 407, 419].includes(status) && statusOf(elsewhere) === status;
}

function* checkBodies({ forged, long, slow }: WebhookReplies): Findings {
  if (statusOf(forged) === 415)
    yield finding("webhook_type_refused", "The type application/json; charset=utf-8 is answered with 415.");
  if (statusOf(long) === 413)
    yield finding("webhook_body_limited", "A webhook of 16 KiB is answered with 413.");
  if (slow && (!isAnswer(slow) || slow.status === 408))
    yield finding("server_timeout_short", `A body that pauses for about a second ${describeReply(slow)}.`);
}

function* checkSigned(replies: WebhookReplies, settings: AppSettings): Findings {
  const { signed, spaced } = replies;
  if (signed === undefined) return;
  if (!isAnswer(signed))
    yield finding("webhook_hangs", `A correctly signed webhook has no answer: ${signed.reason}.`);
  else if (isThrottled(signed) && replies.acceptedWith === undefined) return;
  else if (!isAccepted(signed)) yield checkRefusal(signed, replies, settings);
  else if (isKit(replies) && !isAcceptedByKit(signed))
    yield finding(
      "answer_altered",
      "The answer to a correctly signed webhook differs from the router's answer.",
    );
  if (spaced && !isAccepted(spaced) && !isThrottled(spaced))
    yield finding(
      "raw_body_rewritten",
      `A compact webhook is accepted, but the same webhook with other spaces ${describeReply(spaced)}: something parses the body ` +
        "and writes it again before the signature is checked.",
    );
}

function checkRefusal(signed: Answer, replies: WebhookReplies, { merchantId, header }: AppSettings): Finding {
  const { status } = signed;
  const { acceptedWith } = replies;
  const seen = `A webhook that is signed as the environment says is answered with ${status}`;
  if (acceptedWith !== undefined) {
    const code = acceptedWith.startsWith("the secret") ? "secret_differs" : "scheme_differs";
    return finding(code, `${seen}; with ${acceptedWith}, the webhook is accepted.`);
  }
  if (status === 503 && isRefusedByKit(signed)) return finding("record_unavailable", `${seen}.`);
  if (status >= 500) return finding("webhook_fails", `${seen}.`);
  if (status === 400 && isRefusedByKit(signed))
    return finding("scheme_differs", `${seen}: the app reads other fields.`);
  if (isKit(replies) || status === 401 || status === 403) {
    const identifier =
      merchantId === undefined
        ? " The webhook was signed without a merchant's identifier: if the service uses one, give --merchant-id."
        : "";
    const where = ` The signature was in the header ${header}: if the app reads another header, give --header.`;
    return finding("secret_differs", `${seen}.${identifier}${where}`);
  }
  return finding("unknown_topic_refused", `${seen}; the webhook's topic is unknown.`);
}

function statusOf(reply: Reply | undefined): number | undefined {
  return isAnswer(reply) ? reply.status : undefined;
}

function describeReply(reply: Reply): string {
  return isAnswer(reply) ? `is answered with ${reply.status}` : `has no answer (${reply.reason})`;
}

/** The maximum difference between two clocks that slow answers and times in whole seconds can cause. */
const maxClockMs = 60_000;

/** Compares the `Date` header of the app's answer with this machine's clock. */
export function* checkClock({ replies }: ProbedSubject): Findings {
  const reply = replies?.unsigned;
  const offMs = isAnswer(reply) ? Date.parse(reply.headers.date ?? "") - reply.atMs : Number.NaN;
  if (isClockOff(offMs))
    yield finding("clock_off", `The app's clock is ${difference(offMs)} this machine's.`);
}

/** Returns whether the difference between two clocks is too large; `false` for NaN. */
export function isClockOff(differenceMs: number): boolean {
  return Math.abs(differenceMs) > maxClockMs;
}

/** Returns the difference between two clocks, such as `3 min behind`. */
export function difference(differenceMs: number): string {
  const seconds = Math.round(Math.abs(differenceMs) / 1000);
  const amount = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return `${amount} ${differenceMs < 0 ? "behind" : "ahead of"}`;
}

/**
 * Checks that the return addresses show the kit's unchanged page. The kit answers the invented token with
 * 404, or with 503 while the store is unavailable.
 */
export async function* checkReturns({ mount, isKit, replies, now }: ProbedSubject): AsyncFindings {
  if (mount === undefined || !isKit) return;
  const headers = { Accept: "text/html", ...(replies?.needsHttps && { "X-Forwarded-Proto": "https" }) };
  for (const kind of ["success", "cancel"]) {
    const address = `${mount}/${kind}/tillkit-doctor-probe`;
    const reply = await sendProbe(address, { method: "GET", headers, now });
    const isPage = isAnswer(reply) && (reply.status === 404 || reply.status === 503);
    const change = isPage ? changeOf(reply) : undefined;
    if (!isPage)
      yield finding("return_blocked", `${address} does not show the kit's page: it ${describeReply(reply)}.`);
    else if (change !== undefined) yield finding("return_page_altered", `${address}: ${change}.`);
  }
}

function changeOf({ headers, body }: Answer): string | undefined {
  const nonce = /'nonce-([^']+)'/.exec(String(headers["content-security-policy"]))?.[1];
  if (nonce === undefined) return "the Content-Security-Policy is not the kit's";
  if (!body.includes(`nonce="${nonce}"`)) return "the page does not have the nonce of the policy";
  const scripts = [...body.matchAll(/<script\b[^>]*>/g)];
  if (scripts.some(([tag]) => !tag.includes(`nonce="${nonce}"`)))
    return "a script was added that the policy forbids";
  if (!/\bno-store\b/.test(String(headers["cache-control"]))) return "Cache-Control is not no-store";
  return headers["referrer-policy"] === "no-referrer" ? undefined : "Referrer-Policy is not no-referrer";
}
