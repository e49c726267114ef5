import { isAnswer, type Reply } from "./send.js";

/** What the kit's router says to a sender whose webhook it refuses: a constant body for each status. */
const words: Readonly<Record<number, string>> = {
  400: "bad_request",
  401: "signature_invalid",
  405: "method_not_allowed",
  408: "body_timeout",
  413: "body_too_large",
  415: "unsupported_media_type",
  429: "too_many_failures",
  500: "internal_error",
  503: "unavailable",
};

/** Whether the kit itself refused, and not something in front of it. */
export function isRefusedByKit(reply: Reply | undefined): boolean {
  if (reply === undefined || !isAnswer(reply)) return false;
  const word = words[reply.status];
  return word !== undefined && reply.body === JSON.stringify({ error: word });
}

/** Whether the kit itself took the webhook. */
export function isTakenByKit(reply: Reply | undefined): boolean {
  if (reply === undefined || !isAnswer(reply)) return false;
  return reply.status === 200 && reply.body === JSON.stringify({ received: true });
}
