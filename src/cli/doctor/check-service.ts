import { type AsyncFindings, finding } from "./findings.js";
import { isAnswer, sendProbe } from "./send.js";
import { isHttp, type ProbedSubject } from "./subject.js";

const addressVariables = ["TILLKIT_SERVICE_URL", "TILLKIT_TOKEN_URL"] as const;

/** Returns the origins of the payment service, with the variables that name them. */
export function serviceOrigins({ environment, outside, beforeStart }: ProbedSubject) {
  const origins = new Map<string, string[]>();
  if (outside || beforeStart) return [];
  for (const name of addressVariables) {
    const address = environment[name]?.trim() ?? "";
    if (!isHttp(address)) continue;
    const { origin } = new URL(address);
    origins.set(origin, [...(origins.get(origin) ?? []), name]);
  }
  return [...origins].map(([origin, names]) => ({ origin, names }));
}

/** Checks that the payment service answers, with any status. Creates no payment, and requests no token. */
export async function* checkService(subject: ProbedSubject): AsyncFindings {
  for (const { origin, names } of serviceOrigins(subject)) {
    const reply = await sendProbe(`${origin}/`, { method: "GET", now: subject.now });
    if (isAnswer(reply)) continue;
    const seen = `A GET of ${origin}/, the address of ${names.join(" and ")}, has no answer: ${reply.reason}.`;
    yield finding("service_unreachable", seen);
  }
}
