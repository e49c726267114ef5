import { randomBytes } from "node:crypto";
import { expectedSignature } from "../sign/make-scheme.js";
import { type SignatureSettings } from "../sign/signature-settings.js";
import { isAccepted, isAnswer, type Reply, sendProbe } from "./send.js";

/** A webhook of a type and topic that do not exist, for no payment. It is constant, so that a second run is a duplicate. */
const meaningless = {
  topic: "tillkit.doctor",
  timestamp: "2026-01-01T00:00:00.000Z",
  type: "probe",
  data: {
    id: "tillkit-doctor-probe",
    status: "probe",
    captured: false,
    total: { value: "probe", currency: "probe" },
    submittedAt: "2026-01-01T00:00:00.000Z",
    clientId: "tillkit-doctor-probe",
    providerId: "probe",
    source: "probe",
  },
};

/** The body of most probes, as JSON.stringify writes it. */
export const compactBody = JSON.stringify(meaningless);
/** A body that changes when it is parsed and written again. */
const spacedBody = `${JSON.stringify(meaningless, null, 2)}\r\n`;
/** Longer than any webhook of the interface document, and within the kit's limit. */
const longBody = JSON.stringify({ ...meaningless, note: "x".repeat(16 * 1024) });

/** The replies of a webhook's address to harmless requests. */
export interface WebhookReplies {
  /** To a webhook without a signature. The only reply if there is no answer. */
  unsigned: Reply;
  /** To a GET. */
  read?: Reply;
  /** To a wrong signature, and a charset in the content type. */
  forged?: Reply;
  /** To 16 KiB. */
  long?: Reply;
  /** To a body that is not JSON. */
  malformed?: Reply;
  /** To a body in two halves. */
  slow?: Reply;
  /** From an address beside it that does not exist. */
  elsewhere?: Reply;
  /** To a correct signature. Absent if nothing may or can be signed. */
  signed?: Reply;
  /** To a correct signature of a body with spaces and line breaks. */
  spaced?: Reply;
  /** If the correct signature was refused: the secret, scheme, algorithm or header that was accepted. */
  acceptedWith?: string;
  /** Whether the app redirects to https if no proxy says that the request came over https. */
  needsHttps?: boolean;
}

/** How probes are signed and timed. */
export interface ProbeOptions {
  settings: SignatureSettings;
  /** Whether correctly signed webhooks may be sent. */
  signs: boolean;
  now: () => Date;
}

/** Pause between the halves of a body: longer than a pause of a good network, shorter than any sensible limit. */
const pauseMs = 1200;

/** Sends all probes to the address. An app of the kit records only the correctly signed ones. */
export async function probeWebhook(
  address: string,
  { settings, signs, now }: ProbeOptions,
): Promise<WebhookReplies> {
  const json = { "Content-Type": "application/json" };
  let forwarded: Record<string, string> = {};
  const post = (body: string, headers: Record<string, string> = json, to = address, pause = 0) =>
    sendProbe(to, { body, headers: { ...headers, ...forwarded }, pauseMs: pause, now });
  let unsigned = await post(compactBody);
  const needsHttps = leadsToHttps(address, unsigned);
  if (needsHttps) {
    // The header of a proxy that ends TLS.
    forwarded = { "X-Forwarded-Proto": "https" };
    unsigned = await post(compactBody);
  }
  if (!isAnswer(unsigned)) return { unsigned, needsHttps };

  const wrong = { ...json, [settings.header]: randomBytes(32).toString("hex") };
  const [read, forged, long, malformed, slow, elsewhere] = await Promise.all([
    sendProbe(address, { method: "GET", headers: forwarded, now }),
    post(compactBody, { ...wrong, "Content-Type": "application/json; charset=utf-8" }),
    post(longBody, wrong),
    post('{"topic": '),
    post(compactBody, wrong, address, pauseMs),
    post(compactBody, wrong, `${address}-${randomBytes(8).toString("hex")}`),
  ]);
  const replies: WebhookReplies = { unsigned, read, forged, long, malformed, slow, elsewhere, needsHttps };
  if (!signs) return replies;

  const postSigned = async (body: string, by = settings): Promise<Reply | undefined> => {
    const signature = expectedSignature(by, Buffer.from(body));
    return signature === undefined ? undefined : post(body, { ...json, [by.header]: signature });
  };
  const signed = await postSigned(compactBody);
  if (signed === undefined) return replies;
  replies.signed = signed;
  if (isAccepted(signed)) {
    // The spaces of a body do not change its fields.
    const spaced = settings.scheme === "hmac" ? await postSigned(spacedBody) : undefined;
    return { ...replies, ...(spaced && { spaced }) };
  }
  for (const { what, ...changed } of alternatives(settings))
    if (isAccepted(await postSigned(compactBody, { ...settings, ...changed })))
      return { ...replies, acceptedWith: what };
  return replies;
}

function leadsToHttps(address: string, reply: Reply): boolean {
  if (!isAnswer(reply) || reply.status < 300 || reply.status >= 400) return false;
  return address.startsWith("http:") && /^https:/i.test(reply.headers.location ?? "");
}

/** Returns the most frequent mistakes. Only a few, because each failure counts against this address. */
function alternatives(settings: SignatureSettings): ({ what: string } & Partial<SignatureSettings>)[] {
  const { scheme, algorithm, secrets, merchantId } = settings;
  const otherScheme = scheme === "hmac" ? "fields" : "hmac";
  const algorithms = ["sha256", "sha384", "sha512"].filter((name) => name !== algorithm);
  return [
    ...secrets.slice(1).map((secret) => ({ what: `the secret of ${secret.from}`, secrets: [secret] })),
    ...(scheme === "hmac" && merchantId === undefined
      ? []
      : [{ what: `the scheme ${otherScheme}`, scheme: otherScheme } as const]),
    ...algorithms.map((name) => ({ what: `the algorithm ${name}`, algorithm: name })),
    ...["X-Signature", "X-Webhook-Signature"].map((header) => ({ what: `--header ${header}`, header })),
  ];
}
