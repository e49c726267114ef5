import { isIP } from "node:net";
import { isLoopback } from "../../shared/is-loopback.js";
import { expectedSignature } from "../sign/make-scheme.js";
import { failureFinding, throttledFinding } from "./check-app.js";
import { type AsyncFindings, finding, type Findings } from "./findings.js";
import { compactBody } from "./probe-webhook.js";
import { isAccepted, isAnswer, isRefusedByKit, isThrottled, sendProbe } from "./send.js";
import { isHttp, type ProbedSubject } from "./subject.js";

/** Checks the form of the public address, without a request. */
export function* checkPublicUrl({ publicUrl, isProduction }: ProbedSubject): Findings {
  if (publicUrl === undefined) return;
  const mistake = mistakeIn(publicUrl);
  if (mistake !== undefined) yield finding("public_url_invalid", mistake);
  else if (isProduction && isLocal(publicUrl))
    yield finding("public_url_local", `NODE_ENV is production, but ${publicUrl} is a local address.`);
  else if (publicUrl.startsWith("http:") && !isThisMachine(new URL(publicUrl).hostname))
    yield finding("public_url_insecure", `${publicUrl} does not use https.`);
}

/** Returns whether browsers and most systems resolve a host name to this machine. */
export function isThisMachine(host: string): boolean {
  return /^(.*\.)?localhost$/i.test(host) || isLoopback(host);
}

function mistakeIn(publicUrl: string): string | undefined {
  if (!isHttp(publicUrl)) return "The public address does not begin with https://.";
  const { search, hash, pathname } = new URL(publicUrl);
  if (search !== "" || hash !== "")
    return `${publicUrl} has a query or a fragment, but the kit adds paths to this address.`;
  if (/\/webhook\/?$/.test(pathname))
    return `${publicUrl} is the webhook address, but must be the payment router's address.`;
  return undefined;
}

/** Checks that the public address leads to the app that answers at `--url`. */
export async function* checkPublicApp(subject: ProbedSubject): AsyncFindings {
  const { publicUrl, mount, settings, now, webhook, isKit, replies } = subject;
  if (!isKit || mount === undefined || publicUrl === undefined || mistakeIn(publicUrl)) return;
  const address = `${publicUrl.replace(/(?<!\/)\/+$/, "")}/webhook`;
  if (address === webhook) return;
  const post = (headers: Record<string, string>) =>
    sendProbe(address, {
      body: compactBody,
      headers: { "Content-Type": "application/json", ...headers },
      now,
    });

  const reply = await post({});
  if (!isAnswer(reply)) {
    const [own, other] = [publicUrl, mount].map((url) => new URL(url).pathname.replace(/(?<!\/)\/+$/, ""));
    const hint =
      own === other ? "" : ` The path of this address, ${own || "/"}, differs from the path of ${mount}.`;
    yield reply.failure === "certificate"
      ? failureFinding(address, reply)
      : finding("public_url_unreachable", `${address} cannot be reached from here: ${reply.reason}.${hint}`);
    return;
  }
  if (isThrottled(reply)) return yield throttledFinding(address);
  if (!isRefusedByKit(reply)) {
    const seen = `${address} is answered with ${reply.status}, but not by the app at ${mount}.`;
    return yield finding("public_url_wrong", seen);
  }
  const signature = expectedSignature(settings, Buffer.from(compactBody));
  if (signature === undefined || !isAccepted(replies?.signed)) return;
  const signed = await post({ [settings.header]: signature });
  if (isAccepted(signed) || !isAnswer(signed) || isThrottled(signed)) return;
  const seen = `${address} refuses with ${signed.status} a correctly signed webhook that ${mount} accepts`;
  yield finding("public_url_wrong", `${seen}: the public address leads to another app.`);
}

const privateNetworks = /^(0\.|10\.|127\.|169\.254\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/;

/** Returns whether an address leads to this machine, or to a network that cannot be reached from outside. */
export function isLocal(address: string | undefined): boolean {
  if (address === undefined || !URL.canParse(address)) return false;
  const host = new URL(address).hostname.replace(/^\[|\]$/g, "").toLowerCase();
  if (isIP(host) === 4) return privateNetworks.test(host);
  if (isIP(host) === 6) return host === "::" || host === "::1" || /^f[cd]|^fe[89ab]/.test(host);
  // A name without a dot belongs to the local network or to a container.
  return !host.includes(".") || /\.(localhost|local|internal|home\.arpa|test)$/.test(host);
}
