import { type Payment } from "../../model/payment.js";
import { withoutUndefined } from "../../shared/without-undefined.js";
import { type ResolutionRecord, type WebhookRecord } from "../../store/index.js";

/** A webhook whose decision has changed. */
export interface ReplayChange {
  /** The webhook that was decided again. */
  receiptId: string;
  /** The clientId of the payment that the webhook names. */
  clientId?: string;
  /** The time at which the webhook arrived: ISO 8601 UTC. */
  receivedAt: string;
  /** The stored outcome; `refused` if the webhook was not stored. */
  from: WebhookRecord["outcome"] | "refused";
  /** The new outcome. */
  to: WebhookRecord["outcome"];
  /** The reason for the new outcome, for people. */
  reason?: string;
  /** The payment's state before and after, if it changes. */
  state?: { from: Payment["state"]; to: Payment["state"] };
}

/** Returns a change, with the payment's states if they differ. */
export function replayChange(
  decided: Pick<ReplayChange, "receiptId" | "receivedAt" | "from" | "to">,
  about: Record<"clientId" | "reason", string | undefined> & Record<"before" | "after", Payment | undefined>,
): ReplayChange {
  const { clientId, reason, before, after } = about;
  const isOther = before && after && before.state !== after.state;
  const state = isOther ? { from: before.state, to: after.state } : undefined;
  return { ...decided, ...withoutUndefined({ clientId, reason, state }) };
}

/**
 * Returns the resolution that stores a change in the history, if the webhook names a payment. The resolution
 * has no receiptId, because a receiptId would settle the webhook.
 */
export function replayedBy(
  { receiptId, clientId, from, to }: Pick<ReplayChange, "receiptId" | "clientId" | "from" | "to">,
  person: Pick<ResolutionRecord, "by" | "reason">,
  id: string,
  at: string,
): ResolutionRecord[] {
  if (clientId === undefined) return [];
  const change = { action: "replayed", before: from, after: to } as const;
  return [{ id: `replayed:${receiptId}:${id}`, clientId, ...change, ...person, at }];
}
