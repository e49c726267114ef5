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
   * - `accept` completes the payment. Either its webhook is right despite the differences or the missing
   *   lookup, or the evidence shows that the payment is paid. With only a clientId, it fulfils the order with
   *   a completed payment, although the newest attempt asks for another amount.
   * - `refunded` records that money of a completed payment went back. The payment stays completed.
   * - `dismiss` records that nothing needs to be done. An unmatched webhook no longer waits for a payment.
   */
  action: "accept" | "refunded" | "dismiss";
  /**
   * The id of the webhook that the decision is about. `accept` takes a webhook with the outcome `mismatch` or
   * `unconfirmed`, and with evidence also `inadmissible`. `dismiss` takes a webhook with the outcome
   * `mismatch`, `unconfirmed` or `unmatched`.
   */
  receiptId?: string | undefined;
  /** The clientId of the payment, if there is no webhook, or if an inadmissible webhook does not show it. */
  clientId?: string | undefined;
  /**
   * With `refunded`: the amount that went back, a decimal string such as `"500"`, in the received currency.
   * @default the amount that the evidence shows, or else all that is left
   */
  amount?: string | undefined;
  /**
   * With `refunded`: the key of the refund, such as the provider's reference of it. A second call with this
   * key records no second refund. 1 to 200 characters.
   * @default the amount with the document of the evidence, or else with the reason
   */
  key?: string | undefined;
  /**
   * With `refunded`: whether the service or the provider took the money back. @default false, the shop
   * returned it
   */
  reversal?: boolean | undefined;
  /**
   * The evidence that the payment is paid, or that money went back. `accept` needs evidence for an
   * inadmissible webhook. `accept` also needs evidence if only a clientId is given and that payment is not
   * completed. `accept` allows no evidence with other webhooks.
   */
  evidence?: Evidence | undefined;
  /** The reason, for readers of the history: 1 to 1,000 characters. */
  reason: string;
  /** The person who decided: 1 to 128 characters. */
  by: string;
  /** Whether everything is checked and nothing is stored. @default false */
  dryRun?: boolean | undefined;
}

/** The result of a resolution. */
export interface Resolved {
  /** The stored decision. */
  resolution: ResolutionRecord;
  /**
   * Whether this call stored `resolution`, or with `dryRun` would store it. False if it was stored before.
   */
  resolved: boolean;
  /** The payment as it is stored, or with `dryRun` as it would be stored. Absent if it is not stored. */
  payment?: Payment;
}

/** The stored name of each action. */
export const actions = { accept: "accepted", refunded: "refunded", dismiss: "dismissed" } as const;

/** Throws `resolution_invalid` or `evidence_invalid` for a resolution that can never be stored. */
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

/** Throws `resolution_invalid` unless the person and the reason are valid for the history. */
export function checkPerson({ reason, by }: { reason?: unknown; by?: unknown }): void {
  if (!isText(reason, 1000))
    throw resolutionInvalid("reason must be a string of 1 to 1000 characters: it is kept in the history.");
  if (!isText(by, 128))
    throw resolutionInvalid("by must name the person who decided, in 1 to 128 characters.");
}

/** Returns the error `resolution_not_possible`. */
export function notPossible(why: string, fix?: string): TillkitError {
  const options = fix === undefined ? {} : { fix };
  return new TillkitError("resolution_not_possible", `This resolution is not possible: ${why}.`, options);
}

/** Returns the error `resolution_invalid`. */
export function resolutionInvalid(message: string): TillkitError {
  return new TillkitError("resolution_invalid", message);
}

/** Returns the id of a resolution. A second call with the same action and subject gets the same id. */
export function resolutionId({ action, receiptId, evidence }: Resolution, clientId: string): string {
  // A payment may be accepted twice. First, evidence completes it. Later, a person accepts it for its order.
  const isForOrder = action === "accept" && receiptId === undefined && evidence === undefined;
  return `${isForOrder ? "accepted for the order" : actions[action]}:${receiptId ?? clientId}`;
}

/** Returns the id, or another id if a dismissed webhook or payment has changed and needs a person again. */
export function idSinceDismissal(
  id: string,
  known: StoredHistory,
  webhook: WebhookRecord | undefined,
  payment: Payment | undefined,
): string {
  const { action, before } = findIn(known, id) ?? {};
  if (action !== "dismissed") return id;
  // A dismissal removes the mark of a second or late payment, so such a mark is newer than the dismissal.
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

/** Returns the state, `withheld` and `attention` of a payment as one text, which a resolution stores. */
export function stateText({ state, withheld, attention }: Payment): string {
  return [state, withheld, attention].filter((one) => one !== undefined).join(", ");
}

/** Returns the event `payment.resolved` of a resolution. */
export function resolvedEvent(
  { id: _, at: __, before: ___, after: ____, ...about }: ResolutionRecord,
  payment: Payment | undefined,
): EventDraft {
  return {
    type: "payment.resolved",
    payload: { ...about, ...(payment && { payment: withoutKey(payment) }) },
  };
}
