import { type WebhookNeed } from "../../model/attention.js";
import { isKnownStatus } from "../../model/status-order.js";
import { type WebhookPage } from "../query-pages.js";
import { type Changes, type Outcome, type WebhookRecord } from "../records.js";

/** Returns whether the webhook waits for its payment, or for a lookup. */
export function isWaiting({ outcome }: { outcome: Outcome }): boolean {
  return outcome === "unmatched" || outcome === "unconfirmed";
}

/** Returns whether the kit decides the webhook again when its payment appears. */
export function isRematchable(webhook: { outcome: Outcome }): boolean {
  return isWaiting(webhook) || webhook.outcome === "foreign";
}

/** Returns whether a person must settle the webhook. The store keeps the bytes until then. */
export function needsResolution({ outcome }: { outcome: Outcome }): boolean {
  return outcome === "mismatch" || outcome === "inadmissible";
}

/** The need that each outcome always causes. `stale` causes a need only with some statuses. */
export const needOfOutcome: { readonly [Name in Outcome]?: WebhookNeed } = {
  mismatch: "mismatched",
  unmatched: "unmatched",
  unconfirmed: "unconfirmed",
  inadmissible: "inadmissible",
};

/** Returns the need that a webhook with this outcome and status causes, if there is one. */
export function needOfWebhook({
  outcome,
  status,
}: {
  outcome: Outcome;
  status?: string | undefined;
}): WebhookNeed | undefined {
  // A late report with a status that the kit does not know may be about a refund, so a person has to see it.
  if (outcome === "stale") return status === undefined || isKnownStatus(status) ? undefined : "reported";
  return needOfOutcome[outcome];
}

/** The fields of a webhook that a store keeps, without the bytes. */
export interface WebhookState extends Omit<WebhookRecord, "rawBody"> {
  /** The number of copies that arrived after the first webhook. */
  copies: number;
  /** Whether the webhook waits for its payment or a lookup. */
  waits: boolean;
  /** Whether the webhook waits and was not raised yet. */
  isStray: boolean;
  /** Whether a person has resolved the webhook's present outcome. */
  isResolved?: boolean;
}

/** Returns the need of a webhook, unless a person dismissed the webhook or resolved its present outcome. */
export function openNeedOf(
  row: Pick<WebhookState, "outcome" | "waits"> & {
    status?: string | undefined;
    isResolved?: boolean | undefined;
  },
): WebhookNeed | undefined {
  const isDismissed = isWaiting(row) && !row.waits;
  return row.isResolved === true || isDismissed ? undefined : needOfWebhook(row);
}

/** Returns whether `prune` may remove the bytes of a webhook. */
export function isSettled(
  webhook: Pick<WebhookState, "outcome" | "waits"> & { isResolved?: boolean | undefined },
): boolean {
  return !webhook.waits && (webhook.isResolved === true || !needsResolution(webhook));
}

type WebhookChanges = Pick<
  Changes,
  "webhooks" | "copies" | "rematched" | "raised" | "dismissed" | "resolutions"
>;

/** Fields of a webhook to replace. A field that is `undefined` is removed. */
export type ReplacedFields = { [Name in keyof WebhookState]?: WebhookState[Name] | undefined };

/** The webhooks of a transaction. */
export interface WebhookRows {
  hasEventKey(eventKey: string): boolean;
  hasReceipt(receiptId: string): boolean;
  add(webhook: WebhookRecord, waits: boolean): void;
  addCopies(eventKey: string, count: number): void;
  /** Changes a webhook. Skips a receiptId that is not stored. */
  replace(receiptId: string, fields: ReplacedFields): void;
}

/** Writes webhooks. Returns the eventKeys of webhooks whose eventKey or receiptId is taken. */
export function saveWebhooks(rows: WebhookRows, changes: WebhookChanges): string[] {
  const taken: string[] = [];
  for (const webhook of changes.webhooks ?? [])
    if (rows.hasEventKey(webhook.eventKey) || rows.hasReceipt(webhook.receiptId))
      taken.push(webhook.eventKey);
    else rows.add(webhook, isWaiting(webhook));
  for (const { eventKey, count } of changes.copies ?? []) rows.addCopies(eventKey, count);
  for (const { receiptId, outcome, reason, decidedAt } of changes.rematched ?? []) {
    const waits = isWaiting({ outcome });
    rows.replace(receiptId, { outcome, reason, decidedAt, waits, isStray: waits, isResolved: undefined });
  }
  for (const receiptId of changes.raised ?? []) rows.replace(receiptId, { isStray: false });
  for (const receiptId of changes.dismissed ?? []) rows.replace(receiptId, { isStray: false, waits: false });
  for (const receiptId of resolvedBy(changes)) rows.replace(receiptId, { isResolved: true });
  return taken;
}

/** Returns the receiptIds of the webhooks that these resolutions name. */
export function resolvedBy({ resolutions = [] }: Pick<Changes, "resolutions">): string[] {
  return resolutions.flatMap(({ receiptId }) => receiptId ?? []);
}

type ArrivalPosition = Pick<WebhookRecord, "receivedAt" | "receiptId">;

/** Compares two webhooks by `receivedAt`, then by receiptId. */
export function byArrival(a: ArrivalPosition, b: ArrivalPosition): number {
  const [left, right] = [`${a.receivedAt} ${a.receiptId}`, `${b.receivedAt} ${b.receiptId}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns whether a webhook matches every condition of a page. */
export function isOnWebhookPage(
  page: Omit<WebhookPage, "limit">,
  webhook: ArrivalPosition & Parameters<typeof openNeedOf>[0] & { clientId?: string | undefined },
): boolean {
  const { clientId, clientIds, receiptId, outcome, need, from, to, after } = page;
  return (
    (need === undefined || openNeedOf(webhook) === need) &&
    (clientId === undefined || webhook.clientId === clientId) &&
    (clientIds === undefined || clientIds.some((one) => one === webhook.clientId)) &&
    (receiptId === undefined || webhook.receiptId === receiptId) &&
    (outcome === undefined || webhook.outcome === outcome) &&
    webhook.receivedAt >= (from ?? "") &&
    (to === undefined || webhook.receivedAt < to) &&
    (after === undefined || byArrival(webhook, after) > 0)
  );
}
