import { randomBytes } from "node:crypto";
import { type SignatureSettings } from "../../sign/signature-settings.js";
import { probeBodies } from "./bodies.js";
import { makeProbeSigner } from "./sign-probe.js";
import { type Answer, isAnswer, isTaken, type Probe, type Reply, send } from "./send.js";

/** What a webhook's address answers to harmless requests. */
export interface WebhookReplies {
  /** A webhook without a signature: the first question, and the last where nobody answers. */
  unsigned: Reply;
  /** GET. */
  read?: Reply;
  /** With a signature that is wrong, and a charset in its type. */
  forged?: Reply;
  /** Of 16 KiB. */
  long?: Reply;
  /** Not JSON. */
  malformed?: Reply;
  /** In two halves. */
  slow?: Reply;
  /** An address beside it that surely does not exist. */
  elsewhere?: Reply;
  /** Correctly signed; absent where nothing may be signed, or can be. */
  signed?: Reply;
  /** Correctly signed, with spaces and line breaks. */
  spaced?: Reply;
  /** Where the correctly signed one was refused: what it would have been taken with. */
  takenWith?: string;
  /** Whether the app sends to https whoever does not come through a proxy. */
  needsHttps?: boolean;
}

export interface ProbeOptions {
  /** How to sign; absent where nothing may be signed. */
  settings: SignatureSettings | undefined;
  now: () => Date;
}

/** Between the halves of a body; longer than a healthy network ever pauses, shorter than any sensible limit. */
const pauseMs = 1200;

/** Asks the address everything. The correctly signed probes are all that an app of the kit records. */
export async function probeWebhook(
  address: string,
  { settings, now }: ProbeOptions,
): Promise<WebhookReplies> {
  const json = { "Content-Type": "application/json" };
  const header = settings?.header ?? "Service-Signature";
  let forwarded: Record<string, string> = {};
  const post = (body: string, headers: Probe["headers"] = json, to = address) =>
    send(to, { body, headers: { ...headers, ...forwarded }, now });
  let unsigned = await post(probeBodies.compact);
  if (!isAnswer(unsigned)) return { unsigned };
  let needsHttps = false;
  if (leadsToHttps(address, unsigned)) {
    // As a proxy that ends TLS would pass it on.
    forwarded = { "X-Forwarded-Proto": "https" };
    needsHttps = true;
    unsigned = await post(probeBodies.compact);
    if (!isAnswer(unsigned)) return { unsigned, needsHttps };
  }

  const wrong = { ...json, [header]: randomBytes(32).toString("hex") };
  const charset = { ...wrong, "Content-Type": "application/json; charset=utf-8" };
  const [read, forged, long, malformed, slow, elsewhere] = await Promise.all([
    send(address, { method: "GET", headers: forwarded, now }),
    post(probeBodies.compact, charset),
    post(probeBodies.long, wrong),
    post(probeBodies.malformed),
    send(address, { body: probeBodies.compact, headers: { ...wrong, ...forwarded }, pauseMs, now }),
    post(probeBodies.compact, wrong, `${address}-${randomBytes(8).toString("hex")}`),
  ]);
  const replies: WebhookReplies = { unsigned, read, forged, long, malformed, slow, elsewhere, needsHttps };

  const sign = settings && makeProbeSigner(settings);
  if (!settings || !sign) return replies;
  const postSigned = (body: string, by = sign) => post(body, { ...json, [header]: by(Buffer.from(body)) });
  replies.signed = await postSigned(probeBodies.compact);
  if (isTaken(replies.signed)) {
    // Fields are the same however they are spaced.
    if (settings.scheme === "hmac") replies.spaced = await postSigned(probeBodies.spaced);
    return replies;
  }
  for (const { what, changed } of alternatives(settings)) {
    const by = makeProbeSigner(changed);
    if (by && isTaken(await postSigned(probeBodies.compact, by))) return { ...replies, takenWith: what };
  }
  return replies;
}

function leadsToHttps(address: string, { status, headers }: Answer): boolean {
  const isRedirect = status >= 300 && status < 400;
  return isRedirect && address.startsWith("http:") && /^https:/i.test(headers.location ?? "");
}

/** What is confused most often; few, because each that fails counts against this address. */
function alternatives(settings: SignatureSettings): { what: string; changed: SignatureSettings }[] {
  const { scheme, algorithm, secrets, merchantId } = settings;
  const others = ["sha256", "sha384", "sha512"].filter((name) => name !== algorithm);
  return [
    ...secrets.slice(1).map((secret) => ({
      what: `the secret of ${secret.from}`,
      changed: { ...settings, secrets: [secret] },
    })),
    ...(scheme === "hmac" && merchantId !== undefined
      ? [{ what: "the scheme fields", changed: { ...settings, scheme: "fields" as const } }]
      : []),
    ...(scheme === "fields"
      ? [{ what: "the scheme hmac", changed: { ...settings, scheme: "hmac" as const } }]
      : []),
    ...others.map((name) => ({ what: `the algorithm ${name}`, changed: { ...settings, algorithm: name } })),
  ];
}
