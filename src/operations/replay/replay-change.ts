import { type Payment } from "../../model/payment.js";
import { withoutUndefined } from "../../shared/without-undefined.js";
import { type ResolutionRecord, type WebhookRecord } from "../../store/index.js";

/** One webhook whose decision is another one now. */
export interface ReplayChange {
  /** The webhook that was decided again. */
  receiptId: string;
  /** The payment that the webhook is about, where it names one. */
  clientId?: string;
  /** When the webhook arrived: ISO 8601 UTC. */
  receivedAt: string;
  /** The stored outcome; `refused` if the webhook was not stored. */
  from: WebhookRecord["outcome"] | "refused";
  /** The new outcome. */
  to: WebhookRecord["outcome"];
  /** Why the new outcome was decided, for people. */
  reason?: string;
  /** The payment's state before and after, where it changes. */
  state?: { from: Payment["state"]; to: Payment["state"] };
}

/** Returns a change, with the payment's state where it is another one afterwards. */
export function replayChange(
  decided: Pick<ReplayChange, "receiptId" | "receivedAt" | "from" | "to">,
  about: Record<"clientId" | "reason", string | undefined> & Record<"before" | "after", Payment | undefined>,
): ReplayChange {
  const { clientId, reason, before, after } = about;
  const isOther = before && after && before.state !== after.state;
  const state = isOther ? { from: before.state, to: after.state } : undefined;
  return { ...decided, ...withoutUndefined({ clientId, reason, state }) };
}

/** Returns what the history keeps of a change, if the webhook names a payment. Without its receiptId, which would settle the webhook. */
export function replayedBy(
  { receiptId, clientId, from, to }: ReplayChange,
  person: Pick<ResolutionRecord, "by" | "reason">,
  id: string,
  at: string,
): ResolutionRecord[] {
  if (clientId === undefined) return [];
  const change = { action: "replayed", before: from, after: to } as const;
  return [{ id: `replayed:${receiptId}:${id}`, clientId, ...change, ...person, at }];
}
