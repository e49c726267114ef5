import { type Finding } from "../terminal/finding.js";
import { found } from "./findings.js";
import { judgeEntrance } from "./judge-entrance.js";
import { judgeSigned } from "./judge-signed.js";
import { isRefusedByKit, isTakenByKit } from "./probe/kit-mark.js";
import { type WebhookReplies } from "./probe/probe-webhook.js";
import { isAnswer } from "./probe/send.js";

/** Whether the kit is behind the address. */
export function isKit({ unsigned, read, forged, signed }: WebhookReplies): boolean {
  return [unsigned, read, forged].some(isRefusedByKit) || isTakenByKit(signed);
}

/**
 * What the replies of a webhook's address show. What keeps webhooks from arriving at all is told alone: whatever else
 * was seen then follows from it.
 */
export function judgeWebhook(address: string, replies: WebhookReplies): Finding[] {
  const entrance = judgeEntrance(address, replies, isKit(replies));
  if (entrance) return [entrance];
  return [...judgeBodies(replies), ...judgeSigned(replies, isKit(replies))];
}

/** Bodies that a real webhook could have. */
function judgeBodies({ forged, long, slow }: WebhookReplies): Finding[] {
  const findings: Finding[] = [];
  if (forged && isAnswer(forged) && forged.status === 415)
    findings.push(
      found("webhook_type_refused", "A webhook of the type application/json; charset=utf-8 is answered 415."),
    );
  if (long && isAnswer(long) && long.status === 413)
    findings.push(found("webhook_body_limited", "A webhook of 16 KiB is answered 413."));
  if (slow && (!isAnswer(slow) || slow.status === 408)) {
    const end = isAnswer(slow) ? "is answered 408" : `has no answer (${slow.reason})`;
    findings.push(found("server_timeout_short", `A webhook whose body pauses for about a second ${end}.`));
  }
  return findings;
}
