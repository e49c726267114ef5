import { hasCode, TillkitError } from "../errors/index.js";
import { type PaymentReport } from "../model/payment-report.js";
import { type Payment } from "../model/payment.js";
import { applyReport } from "../webhook/reconciliation/reconcile.js";
import {
  eventsOfApplied,
  reportedBy,
  withoutKey,
  type EventDraft,
} from "../webhook/recording/payment-events.js";
import { readStored } from "../webhook/recording/read-stored.js";
import {
  type Changes,
  type PaymentStore,
  type ResolutionRecord,
  type StoredHistory,
  type WebhookRecord,
} from "../store/index.js";
import { storeMethod } from "./store-method.js";

/** What a person decided about a payment or about one webhook. */
export interface Resolution {
  /**
   * - `accept`: the webhook is right in spite of its differences, or of the lookup that it waits for: complete the payment.
   * - `refunded`: the money of this completed payment went back. It stays completed.
   * - `dismiss`: nothing is to be done; a stranger is waited for no more.
   */
  action: "accept" | "refunded" | "dismiss";
  /** The webhook: of `payment.mismatched`, `payment.unmatched` or `payment.unconfirmed`. For `accept` and `dismiss`. */
  receiptId?: string | undefined;
  /** The payment, where it is about no single webhook. For `refunded` and `dismiss`. */
  clientId?: string | undefined;
  /** Why, for whoever reads the history: 1 to 1,000 characters. */
  reason: string;
  /** Who decided: 1 to 128 characters. */
  by: string;
}

/** What was kept of it. */
export interface Resolved {
  resolution: ResolutionRecord;
  /** False where the same was settled before: the resolution is the one from then. */
  resolved: boolean;
  /** As it stands now, where the store has it. */
  payment?: Payment;
}

/** What resolving needs. */
export interface Resolving<Tx> {
  store: PaymentStore<Tx>;
  now: () => Date;
  newId: () => string;
  ready: () => Promise<void>;
  /** Called after events were saved. */
  onEvents: () => void;
}

const actions = { accept: "accepted", refunded: "refunded", dismiss: "dismissed" } as const;

/**
 * Keeps what a person decided, with who, why and when, in one transaction with what it changes, and raises
 * `payment.resolved` besides the events of the change. Settling the same thing twice keeps the first.
 */
export async function resolvePayment<Tx>(kit: Resolving<Tx>, given: Resolution): Promise<Resolved> {
  checkResolution(given);
  const { store } = kit;
  const history = storeMethod(store, "history");
  await kit.ready();
  const subject = await subjectOf(store, given);
  const { clientId } = subject;
  const resolution: ResolutionRecord = {
    // Made of what is settled: a second person who settles the same finds it taken.
    id: `${actions[given.action]}:${given.receiptId ?? clientId}`,
    clientId,
    action: actions[given.action],
    ...(given.receiptId !== undefined && { receiptId: given.receiptId }),
    reason: given.reason,
    by: given.by,
    at: kit.now().toISOString(),
  };
  const before = findIn(await history(clientId), resolution.id);
  const resolved = before === undefined && (await settle(kit, subject, resolution));
  const kept = resolved ? resolution : (before ?? findIn(await history(clientId), resolution.id)!);
  const payment = await store.find(clientId);
  return { resolution: kept, resolved, ...(payment && { payment }) };
}

/** What is settled, as it was found. */
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

/** False where somebody else settled it in between. */
async function settle<Tx>(
  kit: Resolving<Tx>,
  subject: Subject,
  resolution: ResolutionRecord,
): Promise<boolean> {
  const { store, newId, onEvents } = kit;
  const report = subject.webhook && reportOf(subject.webhook);
  try {
    await store.transaction(async (tx) => {
      const { clientId } = subject;
      const serviceIds = report ? [report.serviceId] : [];
      const { payments } = await store.lock(tx, { clientIds: [clientId], serviceIds });
      // A webhook's outcome changes under the lock of its payment only, so this is how it stands.
      const webhook = subject.webhook && (await findWebhook(store, subject.webhook.receiptId));
      const changes = changesOf({ resolution, payments, webhook, report });
      const { drafts, ...rest } = changes;
      const events = drafts.map((draft) => ({ id: newId(), ...draft, clientId, recordedAt: resolution.at }));
      await store.save(tx, { ...rest, resolutions: [resolution], events });
    });
  } catch (error) {
    if (!hasCode(error, "store_conflict")) throw error;
    const taken = findIn(await storeMethod(store, "history")(subject.clientId), resolution.id);
    if (!taken) throw error;
    return false;
  }
  onEvents();
  return true;
}

interface Settlement {
  resolution: ResolutionRecord;
  payments: readonly Payment[];
  webhook: WebhookRecord | undefined;
  report: PaymentReport | undefined;
}

/** What the resolution changes, and what there is to tell. */
function changesOf(settlement: Settlement): Changes & { drafts: EventDraft[] } {
  const { resolution, payments, webhook } = settlement;
  const stored = payments.find(({ clientId }) => clientId === resolution.clientId);
  switch (resolution.action) {
    case "accepted":
      return accept(settlement, stored);
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
  { resolution, payments, webhook, report }: Settlement,
  stored: Payment | undefined,
): Changes & { drafts: EventDraft[] } {
  if (!webhook || !report) throw notPossible("what the webhook says cannot be read any more");
  if (webhook.outcome !== "mismatch" && webhook.outcome !== "unconfirmed")
    throw notPossible(`the webhook is ${webhook.outcome}, not a mismatch`);
  if (!stored) throw notPossible(`the store has no payment ${resolution.clientId}; adopt it instead`);
  if (stored.state === "completed") throw notPossible(`${stored.clientId} is completed already`);
  if (report.status !== "completed") throw notPossible(`the webhook says ${report.status}, not completed`);
  // What the id is bound to stays bound: only the money is accepted.
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

function checkResolution({ action, receiptId, clientId, reason, by }: Resolution): void {
  const invalid = (message: string): never => {
    throw new TillkitError("resolution_invalid", message);
  };
  if (!Object.hasOwn(actions, action)) invalid("action must be accept, refunded or dismiss.");
  const named = [receiptId, clientId].filter((id) => id !== undefined);
  if (named.length !== 1 || typeof named[0] !== "string" || named[0] === "")
    invalid("Give either the receiptId of a webhook or the clientId of a payment, as text.");
  if (action === "accept" && receiptId === undefined) invalid("accept needs the receiptId of the webhook.");
  if (action === "refunded" && clientId === undefined) invalid("refunded needs the clientId of the payment.");
  if (!isText(reason, 1000))
    invalid("reason must be text of 1 to 1000 characters: it is kept for those who ask.");
  if (!isText(by, 128)) invalid("by must name who decided, in 1 to 128 characters.");
}

function isText(value: unknown, longest: number): boolean {
  return typeof value === "string" && value.trim() !== "" && value.length <= longest;
}

function notPossible(why: string): TillkitError {
  return new TillkitError("resolution_not_possible", `This cannot be settled so: ${why}.`);
}
