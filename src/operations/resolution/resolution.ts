import { TillkitError } from "../../errors/index.js";
import { type Evidence, type Payment } from "../../model/payment.js";
import { isText } from "../../shared/is-text.js";
import { describeUnknown, type NamesOf } from "../../shared/unknown-names.js";
import { type ResolutionRecord, type StoredHistory, type WebhookRecord } from "../../store/index.js";
import { isWaiting } from "../../store/rules/webhooks.js";
import { withoutKey, type EventDraft } from "../../webhook/recording/payment-events.js";
import { checkEvidence } from "./payment-evidence.js";

/** A person's decision about a payment or about one webhook. */
export interface Resolution {
  /**
   * - `accept`: the webhook is right despite its differences, or without the lookup that it waits for, or the evidence shows that
   *   the payment is paid: complete the payment. With the clientId alone: fulfil the order with this completed payment, although
   *   another amount was asked for last.
   * - `refunded`: money of this completed payment went back, all that is left or `amount` of it. It stays completed.
   * - `dismiss`: nothing needs to be done; an unmatched webhook no longer waits for a payment.
   */
  action: "accept" | "refunded" | "dismiss";
  /**
   * The webhook: of `payment.mismatched`, `payment.unmatched` or `payment.unconfirmed`. For `accept` and `dismiss`; for `accept`
   * also that of `webhook.inadmissible`, with evidence.
   */
  receiptId?: string | undefined;
  /** The payment, where no single webhook is concerned, or where an inadmissible one does not name it. */
  clientId?: string | undefined;
  /**
   * For `refunded`: how much went back, a decimal string in the currency that was received: `"500"`.
   * @default the amount that the evidence shows, or else all that is left
   */
  amount?: string | undefined;
  /**
   * For `refunded`: what makes it the same refund when it is recorded again, such as the provider's reference of it. 1 to 200
   * characters. @default the amount, and the evidence's document or the reason
   */
  key?: string | undefined;
  /** For `refunded`: the service or the provider took the money back. @default false, the shop returned it */
  reversal?: boolean | undefined;
  /**
   * What shows that the payment is paid, or that money went back. For `accept`: required for a payment that is not completed without a webhook, and with an
   * inadmissible webhook. Refused with any other webhook.
   */
  evidence?: Evidence | undefined;
  /** Why, for readers of the history: 1 to 1,000 characters. */
  reason: string;
  /** Who decided: 1 to 128 characters. */
  by: string;
  /** Checks everything, and stores nothing. @default false */
  dryRun?: boolean | undefined;
}

/** The stored resolution. */
export interface Resolved {
  /** The stored decision. */
  resolution: ResolutionRecord;
  /** False where it had been resolved before: `resolution` is the earlier one. With `dryRun`: whether it would be stored. */
  resolved: boolean;
  /** As it is stored now; absent where the store has no such payment. With `dryRun`: as it would be stored. */
  payment?: Payment;
}

/** The stored actions. */
export const actions = { accept: "accepted", refunded: "refunded", dismiss: "dismissed" } as const;

/** Throws for a resolution that can never be stored. */
export function checkResolution(given: Resolution): void {
  const { action, receiptId, clientId, amount, key, reversal, evidence, reason, by, dryRun } = given;
  const names = { action, receiptId, clientId, amount, key, reversal, evidence, reason, by, dryRun };
  const unknown = describeUnknown(given, names satisfies NamesOf<Resolution>);
  if (unknown !== undefined) throw resolutionInvalid(unknown);
  if (!Object.hasOwn(actions, action)) throw resolutionInvalid("action must be accept, refunded or dismiss.");
  const named = [receiptId, clientId].filter((id) => id !== undefined);
  const isOne = named.length === 1 || (named.length === 2 && evidence !== undefined);
  if (!isOne || named.some((id) => typeof id !== "string" || id === ""))
    throw resolutionInvalid(
      "Give either the receiptId of a webhook or the clientId of a payment, as a string.",
    );
  checkPerson({ reason, by });
  if (evidence !== undefined && action === "dismiss")
    throw resolutionInvalid("Only accept and refunded take evidence.");
  if (evidence !== undefined) checkEvidence(evidence, receiptId);
}

/** Throws `resolution_invalid` unless a person and a reason are given, as the history keeps them. */
export function checkPerson({ reason, by }: { reason?: unknown; by?: unknown }): void {
  if (!isText(reason, 1000))
    throw resolutionInvalid("reason must be a string of 1 to 1000 characters: it is kept in the history.");
  if (!isText(by, 128))
    throw resolutionInvalid("by must name the person who decided, in 1 to 128 characters.");
}

/** Returns `resolution_not_possible`. */
export function notPossible(why: string, fix?: string): TillkitError {
  const options = fix === undefined ? {} : { fix };
  return new TillkitError("resolution_not_possible", `This resolution is not possible: ${why}.`, options);
}

/** Returns `resolution_invalid`. */
export function resolutionInvalid(message: string): TillkitError {
  return new TillkitError("resolution_invalid", message);
}

/** Returns an id that is made of what is resolved: a second call with the same values gets the same id. */
export function resolutionId({ action, receiptId, evidence }: Resolution, clientId: string): string {
  // One payment may first be accepted as paid, by evidence, and then for its order.
  const isForOrder = action === "accept" && receiptId === undefined && evidence === undefined;
  return `${isForOrder ? "accepted for the order" : actions[action]}:${receiptId ?? clientId}`;
}

/** Returns the id, or another one where a dismissed webhook or payment has become something else, which needs a person again. */
export function idSinceDismissal(
  id: string,
  known: StoredHistory,
  webhook: WebhookRecord | undefined,
  payment: Payment | undefined,
): string {
  const { action, before } = findIn(known, id) ?? {};
  if (action !== "dismissed") return id;
  // A dismissal takes this mark away.
  const mark = payment?.attention ?? "settled";
  if (!webhook) return mark === "settled" ? id : `${id}:${mark}`;
  const { outcome } = webhook;
  const isOpen = outcome === "mismatch" || (before !== undefined && isWaiting(webhook));
  return isOpen && outcome !== (before ?? "mismatch") ? `${id}:${outcome}` : id;
}

/** Returns the resolution with this id. */
export function findIn({ resolutions }: StoredHistory, id: string): ResolutionRecord | undefined {
  return resolutions.find((one) => one.id === id);
}

/** Returns the state of a payment, with what a person has to see or has settled of it, as a resolution keeps it. */
export function stateText({ state, withheld, attention }: Payment): string {
  return [state, withheld, attention].filter((one) => one !== undefined).join(", ");
}

/** Returns the `payment.resolved` of a resolution. */
export function resolvedEvent(
  { id: _, at: __, before: ___, after: ____, ...about }: ResolutionRecord,
  payment: Payment | undefined,
): EventDraft {
  return {
    type: "payment.resolved",
    payload: { ...about, ...(payment && { payment: withoutKey(payment) }) },
  };
}
