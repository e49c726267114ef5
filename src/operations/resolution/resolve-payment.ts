import { hasCode } from "../../errors/index.js";
import { notesOfNumber } from "../../checkout/payment-claims.js";
import { reportedTotal, sameTotal } from "../../model/attempts.js";
import { type PaymentReport } from "../../model/payment-report.js";
import { type Payment } from "../../model/payment.js";
import { applyReport } from "../../webhook/reconciliation/reconcile.js";
import { type DecisionParts } from "../../webhook/recording/decisions.js";
import {
  eventFieldsOf,
  eventsOfApplied,
  stampEvent,
  type EventDraft,
} from "../../webhook/recording/payment-events.js";
import {
  type Changes,
  type PaymentStore,
  type ResolutionRecord,
  type StoredHistory,
  type WebhookRecord,
} from "../../store/index.js";
import { isWaiting } from "../../store/rules/webhooks.js";
import { type RecordingParts } from "../../webhook/recording/recording-parts.js";
import { readEveryPage } from "../reading/history-page.js";
import { storedReportOf, resolveAlike } from "./alike-webhooks.js";
import { clientIdIn, decideEvidence, refuseUsedNumber } from "./payment-evidence.js";
import { applyRefund, checkRefund, refundId, refuseOtherRefund } from "./refund.js";
import {
  actions,
  checkResolution,
  findIn,
  idSinceDismissal,
  notPossible,
  resolutionId,
  resolutionInvalid,
  resolvedEvent,
  stateText,
  type Resolution,
  type Resolved,
} from "./resolution.js";
import { acceptWithheld, settleAttempts, whyNotAcceptable } from "./withheld-payment.js";

/**
 * Stores a person's decision with its reason and time, in one transaction with its changes. Raises
 * `payment.resolved` and the events of these changes. If the same decision was stored before, keeps the first
 * one.
 *
 * @throws TillkitError `resolution_invalid`, `resolution_not_possible`, `evidence_missing`,
 * `evidence_invalid`, `evidence_mismatch`
 */
export async function resolvePayment<Tx>(parts: RecordingParts<Tx>, given: Resolution): Promise<Resolved> {
  checkResolution(given);
  checkRefund(given);
  const { store } = parts;
  await parts.ready();
  const subject = await subjectOf(store, given);
  const { clientId } = subject;
  const known = await readEveryPage(store, clientId);
  const id = given.action === "refunded" ? refundId(given, clientId) : resolutionId(given, clientId);
  const resolution: ResolutionRecord = {
    id: idSinceDismissal(id, known, subject.webhook, await store.find(clientId)),
    clientId,
    action: actions[given.action],
    ...(given.receiptId !== undefined && { receiptId: given.receiptId }),
    ...(given.evidence && { evidence: given.evidence }),
    reason: given.reason,
    by: given.by,
    at: parts.now().toISOString(),
  };
  const before = findIn(known, resolution.id);
  const stored = before ? undefined : await storeResolution(parts, { ...subject, known }, resolution, given);
  const kept = before ?? stored?.resolution ?? findIn(await readEveryPage(store, clientId), resolution.id)!;
  refuseOtherRefund(kept, given);
  const payment = (given.dryRun && stored?.payment) || (await store.find(clientId));
  return { resolution: kept, resolved: stored !== undefined, ...(payment && { payment }) };
}

interface ResolutionSubject {
  clientId: string;
  webhook?: WebhookRecord;
}

async function subjectOf<Tx>(store: PaymentStore<Tx>, given: Resolution): Promise<ResolutionSubject> {
  const { receiptId, clientId } = given;
  if (receiptId === undefined) return { clientId: clientId! };
  const webhook = await findWebhook(store, receiptId);
  const isUnread = webhook?.outcome === "inadmissible" && given.action === "accept";
  const named = isUnread ? clientIdIn(webhook) : webhook?.clientId;
  if (!webhook || (named === undefined && !isUnread))
    throw notPossible(`no webhook ${receiptId} about a payment is on record`);
  if (named === undefined && clientId === undefined)
    throw resolutionInvalid("The webhook does not show its clientId. Give the clientId of the payment, too.");
  if (clientId !== undefined && clientId !== (named ?? clientId))
    throw notPossible(`the webhook is about the payment ${named}`);
  return { clientId: named ?? clientId!, webhook };
}

async function findWebhook<Tx>(
  store: PaymentStore<Tx>,
  receiptId: string,
): Promise<WebhookRecord | undefined> {
  return (await store.webhooks({ receiptId, limit: 1 }))[0];
}

/** Resolves to the stored resolution, or to `undefined` if another call has stored it meanwhile. */
async function storeResolution<Tx>(
  parts: RecordingParts<Tx>,
  subject: ResolutionSubject & { known: StoredHistory },
  resolution: ResolutionRecord,
  given: Resolution,
  tries = 5,
): Promise<{ resolution: ResolutionRecord; payment: Payment | undefined } | undefined> {
  const { store, newId, policy, announceEvents } = parts;
  // If two calls accept one number for two payments, these notes conflict, and one call reads again.
  const notes = await notesOfNumber(store, subject.clientId, resolution.evidence?.providerId);
  await refuseUsedNumber(store, resolution);
  const report = subject.webhook && storedReportOf(subject.webhook);
  let kept = resolution;
  let payment: Payment | undefined;
  try {
    await store.transaction(async (tx) => {
      const { clientId } = subject;
      const serviceIds = [report?.verified.id, resolution.evidence?.serviceId].filter(
        (id) => id !== undefined,
      );
      const { payments } = await store.lock(tx, { clientIds: [clientId], serviceIds });
      // This write locks a webhook that has no payment to lock.
      if (!given.dryRun && resolution.action === "dismissed" && subject.webhook && isWaiting(subject.webhook))
        await store.save(tx, { dismissed: [subject.webhook.receiptId] });
      // The webhook is read again, because its outcome changes only under these locks.
      const webhook = subject.webhook && (await findWebhook(store, subject.webhook.receiptId));
      const { known } = subject;
      const about = { resolution, given, payments, parts: { newId, policy }, webhook, report, known };
      const { drafts, resolutions = [resolution], ...rest } = changesOf(about);
      kept = { ...resolutions[0]!, ...stateChange(about, rest.updated) };
      payment = rest.updated?.[0];
      const alike = await resolveAlike(store, about);
      const stamp = { newId, clientId, recordedAt: resolution.at };
      const events = drafts.map((draft) => stampEvent(draft, stamp));
      const dismissed = alike.flatMap(({ receiptId }) => receiptId ?? []);
      const changes = { ...rest, dismissed, resolutions: [kept, ...alike], events, notes };
      if (!given.dryRun) await store.save(tx, changes);
    });
  } catch (error) {
    // If another call was faster with the same resolution, nothing may be left to resolve.
    if (!hasCode(error, "store_conflict") && !hasCode(error, "resolution_not_possible")) throw error;
    if (findIn(await readEveryPage(store, subject.clientId), resolution.id)) return undefined;
    if (notes.length === 0 || tries === 1 || !hasCode(error, "store_conflict")) throw error;
    return storeResolution(parts, subject, resolution, given, tries - 1);
  }
  if (!given.dryRun) announceEvents();
  return { resolution: kept, payment };
}

interface ResolutionCase {
  resolution: ResolutionRecord;
  given: Resolution;
  payments: readonly Payment[];
  parts: Pick<DecisionParts, "newId" | "policy">;
  webhook: WebhookRecord | undefined;
  report: PaymentReport | undefined;
  /** The stored history of the payment before this resolution. */
  known: StoredHistory;
}

/** Returns the state of the dismissed webhook, or else of the payment, before and after the resolution. */
function stateChange(
  { resolution, payments, webhook }: ResolutionCase,
  updated: Changes["updated"] = [],
): Pick<ResolutionRecord, "before" | "after"> {
  if (webhook && resolution.action === "dismissed") return { before: webhook.outcome, after: "dismissed" };
  const stored = payments.find(({ clientId }) => clientId === resolution.clientId);
  return stored ? { before: stateText(stored), after: stateText(updated[0] ?? stored) } : {};
}

function changesOf(about: ResolutionCase): Changes & { drafts: EventDraft[] } {
  const { resolution, given, payments, webhook, known } = about;
  const stored = payments.find(({ clientId }) => clientId === resolution.clientId);
  switch (given.action) {
    case "accept":
      if (!stored) throw notPossible(`the store has no payment ${resolution.clientId}; adopt it first`);
      if (webhook && webhook.outcome !== "inadmissible") return acceptWebhook(about, stored);
      if (stored.withheld && !resolution.evidence) return acceptForOrder(about, stored);
      return acceptEvidence(about, stored);
    case "refunded":
      if (!stored) throw notPossible(`the store has no payment ${resolution.clientId}`);
      if (stored.state !== "completed") throw notPossible("only a completed payment can be refunded");
      return applyRefund(resolution, given, { stored, payments }, known.resolutions);
    case "dismiss": {
      if (!webhook && !stored) throw notPossible(`the store has no payment ${resolution.clientId}`);
      if (!webhook && stored?.withheld === "unsettled")
        throw notPossible(`${stored.clientId} was paid with another amount; accept or refund it`);
      if (webhook && !isWaiting(webhook) && webhook.outcome !== "mismatch")
        throw notPossible(`the webhook was decided: it is ${webhook.outcome}`);
      return webhook || !stored ? { drafts: [resolvedEvent(resolution, stored)] } : seen(resolution, stored);
    }
  }
}

/** Removes the mark of a second or late payment, because a person has settled it. */
function seen(resolution: ResolutionRecord, stored: Payment): Changes & { drafts: EventDraft[] } {
  const { attention, ...rest } = stored;
  if (attention === undefined || attention === "settled")
    return { drafts: [resolvedEvent(resolution, stored)] };
  const payment: Payment = { ...rest, updatedAt: resolution.at };
  return { updated: [payment], drafts: [resolvedEvent(resolution, payment)] };
}

function acceptForOrder(
  { resolution, payments, known }: ResolutionCase,
  stored: Payment,
): Changes & { drafts: EventDraft[] } {
  const reason = whyNotAcceptable(stored, payments);
  if (reason !== undefined) throw notPossible(reason);
  const { payment, events } = acceptWithheld(stored, known.events, resolution.at);
  const settled = settleAttempts(stored, payments, resolution.at);
  return { updated: [payment, ...settled], drafts: [...events, resolvedEvent(resolution, payment)] };
}

function acceptEvidence(
  { resolution, payments, parts }: ResolutionCase,
  stored: Payment,
): Changes & { drafts: EventDraft[] } {
  refuseCompleted(stored);
  const { payment, events } = decideEvidence(resolution, stored, payments, parts);
  return { updated: [payment], drafts: [...events, resolvedEvent(resolution, payment)] };
}

function refuseCompleted({ clientId, state }: Payment): void {
  if (state === "completed") throw notPossible(`${clientId} is completed already`);
}

function acceptWebhook(
  { resolution, payments, webhook, report }: ResolutionCase,
  stored: Payment,
): Changes & { drafts: EventDraft[] } {
  if (!webhook || !report) throw notPossible("what the webhook says cannot be read any more");
  if (webhook.outcome !== "mismatch" && webhook.outcome !== "unconfirmed")
    throw notPossible(`the webhook is ${webhook.outcome}, not a mismatch`);
  if (resolution.evidence)
    throw resolutionInvalid(
      "This webhook shows the payment itself, so the evidence would not be checked. Leave the evidence out, or give the " +
        "clientId without the receiptId.",
    );
  refuseCompleted(stored);
  const { id, status } = report.verified;
  if (status !== "completed") throw notPossible(`the webhook says ${status}, not completed`);
  // Only the amount is accepted. A service id of another payment stays with that payment.
  const isTaken = payments.some(
    ({ serviceId, clientId }) => serviceId === id && clientId !== stored.clientId,
  );
  const accepted = { status, id: stored.serviceId ?? (isTaken ? undefined : id) };
  const siblings = payments.filter(({ reference }) => reference === stored.reference);
  const applied = applyReport({ now: resolution.at, siblings }, withReceived(stored, report), accepted);
  const { receiptId } = webhook;
  const reason = `accepted by ${resolution.by}: ${resolution.reason}`;
  const decided = { receiptId, outcome: "applied", reason, decidedAt: resolution.at } as const;
  return {
    updated: [applied.payment],
    ...(webhook.outcome === "unconfirmed" && { rematched: [decided] }),
    drafts: [
      ...eventsOfApplied(applied, eventFieldsOf(report, webhook)),
      resolvedEvent(resolution, applied.payment),
    ],
  };
}

/** Returns the payment with the reported amount as `received`, if it differs from `total`. */
function withReceived(stored: Payment, report: PaymentReport): Payment {
  const received = reportedTotal(report);
  return !received || sameTotal(received, stored.total) ? stored : { ...stored, received };
}
