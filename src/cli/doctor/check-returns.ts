import { type Finding } from "../terminal/finding.js";
import { found } from "./findings.js";
import { isAnswer, send } from "./probe/send.js";

/** Whether a customer who comes back reaches the kit's page, as the kit sends it. The token is none, so it says 404. */
export async function checkReturns(mount: string, forwarded: boolean, now: () => Date): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const kind of ["success", "cancel"]) {
    const address = `${mount}/${kind}/tillkit-doctor-probe`;
    const headers = { Accept: "text/html", ...(forwarded && { "X-Forwarded-Proto": "https" }) };
    const reply = await send(address, { method: "GET", headers, now });
    if (!isAnswer(reply)) {
      findings.push(found("return_blocked", `${address} has no answer: ${reply.reason}.`));
    } else if (reply.status !== 404 && reply.status !== 503) {
      findings.push(
        found("return_blocked", `${address} is answered ${reply.status}, and not by the kit's page.`),
      );
    } else {
      const changed = alterationOf(reply.headers, reply.body);
      if (changed !== undefined) findings.push(found("return_page_altered", `${address}: ${changed}.`));
    }
  }
  return findings;
}

function alterationOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: string,
): string | undefined {
  const policy = String(headers["content-security-policy"] ?? "");
  const nonce = /'nonce-([^']+)'/.exec(policy)?.[1];
  if (nonce === undefined) return "the Content-Security-Policy is not the kit's";
  if (!body.includes(`nonce="${nonce}"`)) return "the nonce of the policy is not that of the page";
  const scripts = [...body.matchAll(/<script\b[^>]*>/g)].map(([tag]) => tag);
  if (scripts.some((tag) => !tag.includes(`nonce="${nonce}"`)))
    return "a script was added that the policy forbids";
  if (!/\bno-store\b/.test(String(headers["cache-control"] ?? "")))
    return "Cache-Control does not say no-store";
  if (headers["referrer-policy"] !== "no-referrer") return "Referrer-Policy is not no-referrer";
  return undefined;
}
