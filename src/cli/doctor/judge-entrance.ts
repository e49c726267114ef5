import { type Finding } from "../terminal/finding.js";
import { found } from "./findings.js";
import { isRefusedByKit } from "./probe/kit-mark.js";
import { type WebhookReplies } from "./probe/probe-webhook.js";
import { type Answer, type Failure, isAnswer, isTaken } from "./probe/send.js";

/** What keeps webhooks from arriving where they are verified, or lets forged ones through; `undefined` where all is well. */
export function judgeEntrance(address: string, replies: WebhookReplies, isKit: boolean): Finding | undefined {
  const { unsigned } = replies;
  if (!isAnswer(unsigned)) return notAnswered(address, unsigned);
  return (
    judgeRedirect(address, unsigned, replies) ??
    judgeForged(address, replies) ??
    judgeStatus(address, unsigned, replies, isKit)
  );
}

/** For the webhook's address, and for the public one. */
export function notAnswered(address: string, { failure, reason }: Failure): Finding {
  switch (failure) {
    case "certificate":
      return found("certificate_invalid", `The certificate of ${address} is not valid: ${reason}.`);
    case "timeout":
      return found("webhook_hangs", `${address} takes the request and does not answer: ${reason}.`);
    default:
      return found("app_unreachable", `${address} cannot be reached: ${reason}.`);
  }
}

function judgeRedirect(
  address: string,
  { status, headers }: Answer,
  { needsHttps }: WebhookReplies,
): Finding | undefined {
  if (status < 300 || status >= 400) return undefined;
  const to = placeOf(address, headers.location);
  return needsHttps
    ? found(
        "proxy_not_trusted",
        `${address} sends to https also what came to a proxy over https (X-Forwarded-Proto: https): an endless circle.`,
      )
    : found("webhook_redirected", `A webhook to ${address} is answered ${status}, and sent on to ${to}.`);
}

function judgeForged(address: string, replies: WebhookReplies): Finding | undefined {
  const { unsigned, forged, long, slow, elsewhere } = replies;
  const taken = [
    ["without a signature", unsigned],
    ["with a signature that is wrong", forged ?? unsigned],
    ["with a signature that is wrong", long],
    ["with a signature that is wrong", slow],
  ] as const;
  const [how, reply] = taken.find(([, one]) => isTaken(one)) ?? [];
  if (how === undefined || !isTaken(reply)) return undefined;
  if (isTaken(elsewhere))
    return found(
      "webhook_not_mounted",
      `${address} is answered ${reply.status}, and so is every address beside it: something answers for all of them.`,
    );
  return found("signature_not_checked", `A webhook ${how} is answered ${reply.status} by ${address}.`);
}

/** Everything but redirects and success. */
function judgeStatus(
  address: string,
  unsigned: Answer,
  replies: WebhookReplies,
  isKit: boolean,
): Finding | undefined {
  const { status } = unsigned;
  const marked = isRefusedByKit(unsigned);
  const seen = `A webhook to ${address} is answered ${status}`;
  if (status === 404 || status === 405 || status === 501) return found("webhook_not_mounted", `${seen}.`);
  if (status === 413) return found("webhook_body_limited", `${seen}, although it has some hundred bytes.`);
  if (status === 415) return found("webhook_type_refused", `${seen}, although it is application/json.`);
  if (status === 429) return found("webhook_throttled", `${seen}: too many requests.`);
  if (status === 500 && marked) return found("raw_body_consumed", consumed(replies));
  if (status === 503 && marked) return found("record_unavailable", `${seen}.`);
  if (status >= 500) return found("webhook_fails", `${seen}.`);
  if (marked) return undefined;
  // The app refuses. Was it the one who verifies, or somebody in front?
  return isKit || refusesEverybody(unsigned, replies)
    ? found("webhook_blocked", `${seen} before its signature is looked at.`)
    : undefined;
}

/** An app of the kit says this in one case only; its log names the same code. */
function consumed({ malformed }: WebhookReplies): string {
  const parser =
    malformed && isAnswer(malformed) && !isRefusedByKit(malformed)
      ? ` A body that is not JSON is answered ${malformed.status} by something else: by the parser in front.`
      : "";
  return `Something reads the body before the payment router does.${parser}`;
}

/** An app not written with the kit, that refuses the address beside it in the same way, also what is correctly signed. */
function refusesEverybody({ status }: Answer, { signed, elsewhere }: WebhookReplies): boolean {
  if (isTaken(signed)) return false;
  return (
    [401, 403, 407, 419].includes(status) &&
    elsewhere !== undefined &&
    isAnswer(elsewhere) &&
    elsewhere.status === status
  );
}

/** Where a redirect leads, without what may be secret in it. */
function placeOf(address: string, location: string | undefined): string {
  if (location === undefined || !URL.canParse(location, address)) return "nowhere";
  const { origin, pathname } = new URL(location, address);
  return origin + pathname;
}
