import { hasCode, TillkitError } from "../errors/index.js";
import { type PaymentReport } from "../model/payment-report.js";
import { type Payment } from "../model/payment.js";
import { applyReport } from "../webhook/reconciliation/reconcile.js";
import {
  eventsOfApplied,
  reportedBy,
  stampEvent,
  withoutKey,
  type EventDraft,
} from "../webhook/recording/payment-events.js";
import {
  type Changes,
  type PaymentStore,
  type ResolutionRecord,
  type StoredHistory,
  type WebhookRecord,
} from "../store/index.js";
import { describeUnknown, type NamesOf } from "../shared/unknown-names.js";
import { readStored, type RecordingParts } from "../webhook/recording/rematch.js";
import { storeMethod } from "./query.js";

/** What a person decided about a payment or about one webhook. */
export interface Resolution {
  /**
   * - `accept`: the webhook is right despite its differences, or without the lookup that it waits for: complete the payment.
   * - `refunded`: the money of this completed payment was returned. It stays completed.
   * - `dismiss`: nothing needs to be done; an unmatched webhook no longer waits for a payment.
   */
  action: "accept" | "refunded" | "dismiss";
  /** The webhook: of `payment.mismatched`, `payment.unmatched` or `payment.unconfirmed`. For `accept` and `dismiss`. */
  receiptId?: string | undefined;
  /** The payment, where no single webhook is concerned. For `refunded` and `dismiss`. */
  clientId?: string | undefined;
  /** Why, for readers of the history: 1 to 1,000 characters. */
  reason: string;
  /** Who decided: 1 to 128 characters. */
  by: string;
}

/** The stored resolution. */
export interface Resolved {
  resolution: ResolutionRecord;
  /** False where it had been resolved before: `resolution` is the earlier one. */
  resolved: boolean;
  /** As it is stored now; absent where the store has no such payment. */
  payment?: Payment;
}

const actions = { accept: "accepted", refunded: "refunded", dismiss: "dismissed" } as const;

/**
 * Stores what a person decided, with who, why and when, in one transaction with its changes, and raises
 * `payment.resolved` besides the events of those changes. Resolving the same thing again keeps the first resolution.
 *
 * @throws TillkitError `resolution_invalid`, `resolution_not_possible`, `store_method_missing`
 */
export async function resolvePayment<Tx>(parts: RecordingParts<Tx>, given: Resolution): Promise<Resolved> {
  checkResolution(given);
  const { store } = parts;
  const history = storeMethod(store, "history");
  await parts.ready();
  const subject = await subjectOf(store, given);
  const { clientId } = subject;
  const resolution: ResolutionRecord = {
    // Made of what is resolved, so that a second resolution of the same finds the id taken.
    id: `${actions[given.action]}:${given.receiptId ?? clientId}`,
    clientId,
    action: actions[given.action],
    ...(given.receiptId !== undefined && { receiptId: given.receiptId }),
    reason: given.reason,
    by: given.by,
    at: parts.now().toISOString(),
  };
  const before = findIn(await history(clientId), resolution.id);
  const resolved = before === undefined && (await storeResolution(parts, subject, resolution));
  const kept = resolved ? resolution : (before ?? findIn(await history(clientId), resolution.id)!);
  const payment = await store.find(clientId);
  return { resolution: kept, resolved, ...(payment && { payment }) };
}

/** What is resolved. */
interface Subject {
  clientId: string;
  webhook?: WebhookRecord;
}

async function subjectOf<Tx>(store: PaymentStore<Tx>, given: Resolution): Promise<Subject> {
  const { receiptId, clientId } = given;
  if (receiptId === undefined) return { clientId: clientId! };
  const webhook = await findWebhook(store, receiptId);
  if (webhook?.clientId === undefined)
    throw notPossible(`no webhook ${receiptId} about a payment is on record`);
  return { clientId: webhook.clientId, webhook };
}

async function findWebhook<Tx>(
  store: PaymentStore<Tx>,
  receiptId: string,
): Promise<WebhookRecord | undefined> {
  return (await storeMethod(store, "webhooks")({ receiptId, limit: 1 }))[0];
}

/** Resolves to `false` where another call has resolved it meanwhile. */
async function storeResolution<Tx>(
  parts: RecordingParts<Tx>,
  subject: Subject,
  resolution: ResolutionRecord,
): Promise<boolean> {
  const { store, newId, announceEvents } = parts;
  const report = subject.webhook && reportOf(subject.webhook);
  try {
    await store.transaction(async (tx) => {
      const { clientId } = subject;
      const serviceIds = report ? [report.serviceId] : [];
      const { payments } = await store.lock(tx, { clientIds: [clientId], serviceIds });
      // Read again: an outcome changes only under the lock of its payment, which is held now.
      const webhook = subject.webhook && (await findWebhook(store, subject.webhook.receiptId));
      const changes = changesOf({ resolution, payments, webhook, report });
      const { drafts, ...rest } = changes;
      const stamp = { newId, clientId, recordedAt: resolution.at };
      const events = drafts.map((draft) => stampEvent(draft, stamp));
      await store.save(tx, { ...rest, resolutions: [resolution], events });
    });
  } catch (error) {
    if (!hasCode(error, "store_conflict")) throw error;
    const taken = findIn(await storeMethod(store, "history")(subject.clientId), resolution.id);
    if (!taken) throw error;
    return false;
  }
  announceEvents();
  return true;
}

interface ResolutionCase {
  resolution: ResolutionRecord;
  payments: readonly Payment[];
  webhook: WebhookRecord | undefined;
  report: PaymentReport | undefined;
}

/** Returns what the resolution changes, and its events. */
function changesOf(given: ResolutionCase): Changes & { drafts: EventDraft[] } {
  const { resolution, payments, webhook } = given;
  const stored = payments.find(({ clientId }) => clientId === resolution.clientId);
  switch (resolution.action) {
    case "accepted":
      return accept(given, stored);
    case "refunded":
      if (stored?.state !== "completed") throw notPossible("only a completed payment can be refunded");
      return { drafts: [resolvedEvent(resolution, stored)] };
    case "dismissed": {
      if (!webhook && !stored) throw notPossible(`the store has no payment ${resolution.clientId}`);
      const waits = webhook?.outcome === "unmatched" || webhook?.outcome === "unconfirmed";
      if (webhook && !waits && webhook.outcome !== "mismatch")
        throw notPossible(`the webhook was decided: it is ${webhook.outcome}`);
      const dismissed = waits ? [webhook.receiptId] : [];
      return { dismissed, drafts: [resolvedEvent(resolution, stored)] };
    }
  }
}

function accept(
  { resolution, payments, webhook, report }: ResolutionCase,
  stored: Payment | undefined,
): Changes & { drafts: EventDraft[] } {
  if (!webhook || !report) throw notPossible("what the webhook says cannot be read any more");
  if (webhook.outcome !== "mismatch" && webhook.outcome !== "unconfirmed")
    throw notPossible(`the webhook is ${webhook.outcome}, not a mismatch`);
  if (!stored) throw notPossible(`the store has no payment ${resolution.clientId}; adopt it instead`);
  if (stored.state === "completed") throw notPossible(`${stored.clientId} is completed already`);
  if (report.status !== "completed") throw notPossible(`the webhook says ${report.status}, not completed`);
  // Only the amount is accepted: a service id stays with the payment that it belongs to.
  const isTaken = payments.some(
    ({ serviceId, clientId }) => serviceId === report.serviceId && clientId !== stored.clientId,
  );
  const serviceId = stored.serviceId ?? (isTaken ? undefined : report.serviceId);
  const siblings = payments.filter(({ reference }) => reference === stored.reference);
  const applied = applyReport({ now: resolution.at, siblings }, stored, { status: report.status, serviceId });
  const { receiptId } = webhook;
  const reason = `accepted by ${resolution.by}: ${resolution.reason}`;
  const decided = { receiptId, outcome: "applied", reason, decidedAt: resolution.at } as const;
  return {
    updated: [applied.payment],
    ...(webhook.outcome === "unconfirmed" && { rematched: [decided] }),
    drafts: [
      ...eventsOfApplied(applied, reportedBy(report, webhook)),
      resolvedEvent(resolution, applied.payment),
    ],
  };
}

function resolvedEvent(
  { clientId, action, receiptId, reason, by }: ResolutionRecord,
  payment: Payment | undefined,
): EventDraft {
  const about = { clientId, action, ...(receiptId !== undefined && { receiptId }), reason, by };
  return {
    type: "payment.resolved",
    payload: { ...about, ...(payment && { payment: withoutKey(payment) }) },
  };
}

function reportOf(webhook: WebhookRecord): PaymentReport | undefined {
  const message = readStored(webhook);
  return message.kind === "payment" ? message.report : undefined;
}

function findIn({ resolutions }: StoredHistory, id: string): ResolutionRecord | undefined {
  return resolutions.find((one) => one.id === id);
}

function checkResolution(given: Resolution): void {
  const { action, receiptId, clientId, reason, by } = given;
  const invalid = (message: string): never => {
    throw new TillkitError("resolution_invalid", message);
  };
  const unknown = describeUnknown(given, {
    action,
    receiptId,
    clientId,
    reason,
    by,
  } satisfies NamesOf<Resolution>);
  if (unknown !== undefined) invalid(unknown);
  if (!Object.hasOwn(actions, action)) invalid("action must be accept, refunded or dismiss.");
  const named = [receiptId, clientId].filter((id) => id !== undefined);
  if (named.length !== 1 || typeof named[0] !== "string" || named[0] === "")
    invalid("Give either the receiptId of a webhook or the clientId of a payment, as a string.");
  if (action === "accept" && receiptId === undefined) invalid("accept needs the receiptId of the webhook.");
  if (action === "refunded" && clientId === undefined) invalid("refunded needs the clientId of the payment.");
  if (!isText(reason, 1000))
    invalid("reason must be a string of 1 to 1000 characters: it is kept in the history.");
  if (!isText(by, 128)) invalid("by must name the person who decided, in 1 to 128 characters.");
}

function isText(value: unknown, maxLength: number): boolean {
  return typeof value === "string" && value.trim() !== "" && value.length <= maxLength;
}

function notPossible(why: string): TillkitError {
  return new TillkitError("resolution_not_possible", `This resolution is not possible: ${why}.`);
}
