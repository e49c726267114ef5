import { randomBytes } from "node:crypto";
import { expectedSignature } from "../sign/make-scheme.js";
import { type SignatureSettings } from "../sign/signature-settings.js";
import { isAccepted, isAnswer, type Reply, sendProbe } from "./send.js";

/**
 * A webhook of an unknown type, about no payment. The webhook is constant, so the kit records it only once.
 */
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
/** A body of more than 16 KiB, much longer than a usual webhook, but within the kit's limit. */
const longBody = JSON.stringify({ ...meaningless, note: "x".repeat(16 * 1024) });

/** The replies of a webhook's address to harmless requests. */
export interface WebhookReplies {
  /** The reply to a webhook without a signature. If there is no answer, the other replies are absent. */
  unsigned: Reply;
  /** The reply to a GET. */
  read?: Reply;
  /** The reply to a wrong signature, with a charset in the content type. */
  forged?: Reply;
  /** The reply to a webhook of 16 KiB. */
  long?: Reply;
  /** The reply to a body that is not JSON. */
  malformed?: Reply;
  /** The reply to a body that is sent in two halves. */
  slow?: Reply;
  /** The reply of an unknown address beside the webhook's address. */
  elsewhere?: Reply;
  /** The reply to a correctly signed webhook. Absent if the doctor may not sign or has no key. */
  signed?: Reply;
  /** The reply to a correct signature of a body with spaces and line breaks. */
  spaced?: Reply;
  /** The changed secret, scheme, algorithm or header that was accepted after `signed` was refused. */
  acceptedWith?: string;
  /** Whether the app redirects to https if no proxy says that the request came over https. */
  needsHttps?: boolean;
}

/** The settings and the clock of the probes. */
export interface ProbeOptions {
  settings: SignatureSettings;
  /** Whether correctly signed webhooks may be sent. */
  signs: boolean;
  now: () => Date;
}

/** The pause between the two halves of a body. Every server should wait longer than this pause. */
const pauseMs = 1200;

/** Sends all probes to the address. The kit records only the correctly signed probes. */
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
    // A proxy that ends TLS sends this header.
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
    // Spaces in a body do not change its fields, so only `hmac` needs this probe.
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

/** Returns the settings to try next. There are only a few, because the app may limit failed requests. */
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
