import { isOtherTransfer } from "../../model/attempts.js";
import { type PaymentReport } from "../../model/payment-report.js";
import {
  type PaymentStore,
  type ResolutionRecord,
  type StoredHistory,
  type WebhookPage,
  type WebhookRecord,
} from "../../store/index.js";
import { isWaiting, needOfOutcome } from "../../store/rules/webhooks.js";
import { readStored } from "../../webhook/recording/rematch.js";
import { actions } from "./resolution.js";

/** The maximum number of other webhooks that one decision settles. Further webhooks need another decision. */
const maxAlike = 200;
const pageSize = 200;
/** The maximum number of pages that one decision reads. */
const maxPages = 10;

/** The decision of a person, and what it is about. */
interface AlikeCase {
  resolution: ResolutionRecord;
  webhook: WebhookRecord | undefined;
  report: PaymentReport | undefined;
  /** The stored history of the payment before the decision. */
  known: StoredHistory;
}

/** Returns the report in a stored webhook, if the kit can read it. */
export function storedReportOf(webhook: WebhookRecord): PaymentReport | undefined {
  const message = readStored(webhook);
  return message.kind === "payment" ? message : undefined;
}

/**
 * Returns resolutions for the payment's other webhooks that need a person for the same reason, because one
 * decision settles all of them. Leaves out webhooks that may be about another transfer. If the store limits
 * its writes, returns no more resolutions than one write can take.
 */
export async function resolveAlike<Tx>(
  store: Pick<PaymentStore<Tx>, "webhooks" | "maxGroup">,
  { resolution, webhook, report, known }: AlikeCase,
): Promise<ResolutionRecord[]> {
  if (!webhook || !(isWaiting(webhook) || webhook.outcome === "mismatch")) return [];
  const { clientId, reason, by, at } = resolution;
  const resolved = new Set([webhook.receiptId, ...known.resolutions.map(({ receiptId }) => receiptId)]);
  const isAlike = (one: WebhookRecord): boolean =>
    one.reason === webhook.reason &&
    !resolved.has(one.receiptId) &&
    !isOtherTransfer(report, storedReportOf(one));
  const limit = Math.min(maxAlike, store.maxGroup);
  const found: WebhookRecord[] = [];
  let after: WebhookPage["after"];
  for (let pages = 0; pages < maxPages && found.length < limit; pages++) {
    // Only webhooks that still need a person are read, because settled webhooks would fill the pages.
    const need = needOfOutcome[webhook.outcome]!;
    const page = await store.webhooks({
      clientIds: [clientId],
      need,
      limit: pageSize,
      ...(after && { after }),
    });
    found.push(...page.filter(isAlike));
    const last = page.at(-1);
    if (!last || page.length < pageSize) break;
    after = { receivedAt: last.receivedAt, receiptId: last.receiptId };
  }
  return found.slice(0, limit).map(({ receiptId, outcome: before }) => {
    const id = `${actions.dismiss}:${receiptId}`;
    return {
      id,
      clientId,
      action: actions.dismiss,
      receiptId,
      reason,
      by,
      at,
      before,
      after: actions.dismiss,
    };
  });
}
