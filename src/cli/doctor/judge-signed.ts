import { type Finding } from "../terminal/finding.js";
import { found } from "./findings.js";
import { isRefusedByKit, isTakenByKit } from "./probe/kit-mark.js";
import { type WebhookReplies } from "./probe/probe-webhook.js";
import { type Answer, isAnswer, isTaken } from "./probe/send.js";

/** What the correctly signed probes show; nothing where there were none. */
export function judgeSigned({ signed, spaced, takenWith }: WebhookReplies, isKit: boolean): Finding[] {
  if (signed === undefined) return [];
  if (!isAnswer(signed))
    return [found("webhook_hangs", `A correctly signed webhook has no answer: ${signed.reason}.`)];
  if (!isTaken(signed)) return [judgeRefusal(signed, takenWith, isKit)];
  const findings: Finding[] = [];
  if (isKit && !isTakenByKit(signed))
    findings.push(
      found("answer_altered", "The answer to a correctly signed webhook is not the router's own."),
    );
  if (spaced && !isTaken(spaced)) {
    const answered = isAnswer(spaced) ? `answered ${spaced.status}` : `not answered (${spaced.reason})`;
    findings.push(
      found(
        "raw_body_rewritten",
        `A webhook that is spaced as JSON.stringify would not space it is ${answered}, and a compact one is taken: ` +
          "something parses the body and writes it again before the signature is checked.",
      ),
    );
  }
  return findings;
}

function judgeRefusal(signed: Answer, takenWith: string | undefined, isKit: boolean): Finding {
  const { status } = signed;
  const seen = `A webhook that was signed as the environment says is answered ${status}`;
  if (takenWith !== undefined) {
    const code = takenWith.startsWith("the secret") ? "secret_differs" : "scheme_differs";
    return found(code, `${seen}; with ${takenWith} it is taken.`);
  }
  if (status === 503 && isRefusedByKit(signed)) return found("record_unavailable", `${seen}.`);
  if (status === 429) return found("webhook_throttled", `${seen}.`);
  if (status >= 500) return found("webhook_fails", `${seen}.`);
  if (status === 400 && isRefusedByKit(signed))
    return found("scheme_differs", `${seen}: the app looks for other fields.`);
  if (isKit || status === 401 || status === 403) return found("secret_differs", `${seen}.`);
  return found("unknown_topic_refused", `${seen}; its topic is one that nobody knows.`);
}
