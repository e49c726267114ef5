import { hasCode } from "../../errors/index.js";
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
  type EventRecord,
  type PaymentStore,
  type ResolutionRecord,
  type StoredHistory,
  type WebhookRecord,
} from "../../store/index.js";
import { isWaiting } from "../../store/rules/webhooks.js";
import { type RecordingParts } from "../../webhook/recording/recording-parts.js";
import { readStored } from "../../webhook/recording/rematch.js";
import { clientIdIn, decideEvidence } from "./payment-evidence.js";
import {
  actions,
  checkResolution,
  notPossible,
  resolutionId,
  resolutionInvalid,
  resolvedEvent,
  type Resolution,
  type Resolved,
} from "./resolution.js";
import { acceptWithheld, whyNotAcceptable } from "./withheld-payment.js";

/**
 * Stores what a person decided, with who, why and when, in one transaction with its changes, and raises
 * `payment.resolved` besides the events of those changes. Resolving the same thing again keeps the first resolution.
 *
 * @throws TillkitError `resolution_invalid`, `resolution_not_possible`, `evidence_missing`, `evidence_invalid`,
 * `evidence_mismatch`
 */
export async function resolvePayment<Tx>(parts: RecordingParts<Tx>, given: Resolution): Promise<Resolved> {
  checkResolution(given);
  const { store } = parts;
  await parts.ready();
  const subject = await subjectOf(store, given);
  const { clientId } = subject;
  const resolution: ResolutionRecord = {
    id: resolutionId(given, clientId),
    clientId,
    action: actions[given.action],
    ...(given.receiptId !== undefined && { receiptId: given.receiptId }),
    ...(given.evidence && { evidence: given.evidence }),
    reason: given.reason,
    by: given.by,
    at: parts.now().toISOString(),
  };
  const known = await store.history(clientId);
  const before = findIn(known, resolution.id);
  subject.events = known.events;
  const resolved = before === undefined && (await storeResolution(parts, subject, resolution));
  const kept = resolved ? resolution : (before ?? findIn(await store.history(clientId), resolution.id)!);
  const payment = await store.find(clientId);
  return { resolution: kept, resolved, ...(payment && { payment }) };
}

/** The subject of a resolution. */
interface ResolutionSubject {
  clientId: string;
  /** The events of the payment. */
  events?: readonly EventRecord[];
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

/** Resolves to `false` where another call has resolved it meanwhile. */
async function storeResolution<Tx>(
  parts: RecordingParts<Tx>,
  subject: ResolutionSubject,
  resolution: ResolutionRecord,
): Promise<boolean> {
  const { store, newId, policy, announceEvents } = parts;
  const report = subject.webhook && reportOf(subject.webhook);
  try {
    await store.transaction(async (tx) => {
      const { clientId } = subject;
      const serviceIds = [report?.verified.id, resolution.evidence?.serviceId].filter(
        (id) => id !== undefined,
      );
      const { payments } = await store.lock(tx, { clientIds: [clientId], serviceIds });
      // This write locks a webhook that has no payment to lock.
      if (resolution.action === "dismissed" && subject.webhook && isWaiting(subject.webhook))
        await store.save(tx, { dismissed: [subject.webhook.receiptId] });
      // Read again: an outcome changes only under these locks.
      const webhook = subject.webhook && (await findWebhook(store, subject.webhook.receiptId));
      const { events: known = [] } = subject;
      const changes = changesOf({ resolution, payments, parts: { newId, policy }, webhook, report, known });
      const { drafts, ...rest } = changes;
      const stamp = { newId, clientId, recordedAt: resolution.at };
      const events = drafts.map((draft) => stampEvent(draft, stamp));
      await store.save(tx, { ...rest, resolutions: [resolution], events });
    });
  } catch (error) {
    if (!hasCode(error, "store_conflict")) throw error;
    const taken = findIn(await store.history(subject.clientId), resolution.id);
    if (!taken) throw error;
    return false;
  }
  announceEvents();
  return true;
}

interface ResolutionCase {
  resolution: ResolutionRecord;
  payments: readonly Payment[];
  parts: Pick<DecisionParts, "newId" | "policy">;
  webhook: WebhookRecord | undefined;
  report: PaymentReport | undefined;
  /** The events of the payment. */
  known: readonly EventRecord[];
}

/** Returns what the resolution changes, and its events. */
function changesOf(given: ResolutionCase): Changes & { drafts: EventDraft[] } {
  const { resolution, payments, webhook } = given;
  const stored = payments.find(({ clientId }) => clientId === resolution.clientId);
  switch (resolution.action) {
    case "accepted":
      if (!stored) throw notPossible(`the store has no payment ${resolution.clientId}; adopt it first`);
      if (webhook && webhook.outcome !== "inadmissible") return acceptWebhook(given, stored);
      if (stored.withheld && !resolution.evidence) return acceptForOrder(given, stored);
      return acceptEvidence(given, stored);
    case "refunded":
      if (stored?.state !== "completed") throw notPossible("only a completed payment can be refunded");
      return refund(resolution, stored);
    case "dismissed": {
      if (!webhook && !stored) throw notPossible(`the store has no payment ${resolution.clientId}`);
      if (!webhook && stored?.withheld === "unsettled")
        throw notPossible(`${stored.clientId} was paid with another amount; accept or refund it`);
      if (webhook && !isWaiting(webhook) && webhook.outcome !== "mismatch")
        throw notPossible(`the webhook was decided: it is ${webhook.outcome}`);
      return { drafts: [resolvedEvent(resolution, stored)] };
    }
  }
}

function acceptForOrder(
  { resolution, payments, known }: ResolutionCase,
  stored: Payment,
): Changes & { drafts: EventDraft[] } {
  const reason = whyNotAcceptable(stored, payments);
  if (reason !== undefined) throw notPossible(reason);
  const { payment, events } = acceptWithheld(stored, known, resolution.at);
  return { updated: [payment], drafts: [...events, resolvedEvent(resolution, payment)] };
}

function refund(resolution: ResolutionRecord, stored: Payment): Changes & { drafts: EventDraft[] } {
  if (stored.withheld === undefined) return { drafts: [resolvedEvent(resolution, stored)] };
  const payment: Payment = { ...stored, withheld: "refunded", updatedAt: resolution.at };
  return { updated: [payment], drafts: [resolvedEvent(resolution, payment)] };
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
  // Only the amount is accepted: a service id stays with the payment that it belongs to.
  const isTaken = payments.some(
    ({ serviceId, clientId }) => serviceId === id && clientId !== stored.clientId,
  );
  const accepted = { status, id: stored.serviceId ?? (isTaken ? undefined : id) };
  const siblings = payments.filter(({ reference }) => reference === stored.reference);
  const applied = applyReport({ now: resolution.at, siblings }, stored, accepted);
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

function reportOf(webhook: WebhookRecord): PaymentReport | undefined {
  const message = readStored(webhook);
  return message.kind === "payment" ? message : undefined;
}

function findIn({ resolutions }: StoredHistory, id: string): ResolutionRecord | undefined {
  return resolutions.find((one) => one.id === id);
}
