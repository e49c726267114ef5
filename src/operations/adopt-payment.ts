import { hasCode, TillkitError } from "../errors/index.js";
import {
  checkPaymentRequest,
  refuseUnknownFields,
  type PaymentRequest,
} from "../checkout/payment-request.js";
import { sameTotal } from "../model/attempts.js";
import { type Payment } from "../model/payment.js";
import { type NamesOf } from "../shared/unknown-names.js";
import { type RecordingParts } from "../webhook/recording/recording-parts.js";
import { checkPerson, stateText } from "./resolution/resolution.js";
import { type Outcome, type ResolutionRecord, type WebhookRecord } from "../store/index.js";
import { Decisions } from "../webhook/recording/decisions.js";
import { keysOf } from "../webhook/recording/plan-group.js";
import { readStored, rematch, rematchIn } from "../webhook/recording/rematch.js";

/** A payment that other code created at the service. */
export interface Adoption extends Pick<PaymentRequest, "reference" | "total" | "metadata"> {
  /**
   * The clientId that the other code gave to the service: 1 to 64 characters of A-Z a-z 0-9 . _ : -, not only
   * dots.
   */
  clientId: string;
  /**
   * The service's id of the payment. Give this id if you know it. Otherwise the first verified webhook with
   * the payment's clientId and amount sets the id.
   */
  serviceId?: string | undefined;
  /**
   * The person who adopts the payment, for the history: 1 to 128 characters.
   * @default nobody: a program adopts the payment
   */
  by?: string | undefined;
  /** The reason, for readers of the history: 1 to 1,000 characters. Needed with `by`. */
  reason?: string | undefined;
  /** Whether everything is checked and nothing is stored. @default false */
  dryRun?: boolean | undefined;
}

/** The result of an adoption. */
export interface AdoptedPayment {
  /** The payment as it is stored, or with `dryRun` as it would be stored. A webhook may have completed it. */
  payment: Payment;
  /** Whether this call stored the payment, or with `dryRun` would store it. False if it was stored before. */
  adopted: boolean;
  /** With `dryRun`: the outcomes that the payment's waiting webhooks would get, oldest first. */
  webhooks?: { outcome: Outcome; reason?: string }[];
}

/** Thrown if another call stored the payment after this call had looked for it. */
class AdoptionOutdated extends Error {}

const maxTries = 5;

/**
 * Stores a payment that other code created at the service. The payment is not open, because its checkout
 * address is unknown. The next `create` of its reference makes a new attempt. A second adoption with the same
 * values changes nothing.
 *
 * @throws TillkitError the codes of `payments.adopt`
 */
export async function adoptPayment<Tx>(parts: RecordingParts<Tx>, given: Adoption): Promise<AdoptedPayment> {
  const adoption = checkAdoption(given);
  await parts.ready();
  const planned = await storeAdopted(parts, adoption);
  const { adopted } = planned;
  if (adoption.dryRun) return planned;
  if (adopted) parts.announceEvents();
  // A webhook may have been recorded while this call stored the payment, so the waiting webhooks are decided
  // again. If a webhook is recorded later, its recorder looks for the payment.
  await rematch(parts, [adoption.clientId]);
  return { payment: (await parts.store.find(adoption.clientId))!, adopted };
}

async function storeAdopted<Tx>(parts: RecordingParts<Tx>, adoption: Adoption): Promise<AdoptedPayment> {
  for (let tries = 1; ; tries++) {
    try {
      return await storeOnce(parts, adoption);
    } catch (error) {
      const isClash = error instanceof AdoptionOutdated || hasCode(error, "store_conflict");
      if (!isClash || tries === maxTries) throw error;
    }
  }
}

async function storeOnce<Tx>(parts: RecordingParts<Tx>, adoption: Adoption): Promise<AdoptedPayment> {
  const { store, now } = parts;
  const { clientId, serviceId, reference, total, metadata, by, dryRun } = adoption;
  return store.transaction(async (tx) => {
    const serviceIds = serviceId === undefined ? [] : [serviceId];
    const { payments } = await store.lock(tx, { clientIds: [clientId], serviceIds, references: [reference] });
    const stored = payments.find((payment) => payment.clientId === clientId);
    const holder = payments.find((payment) => serviceId !== undefined && payment.serviceId === serviceId);
    if (stored) refuseConflict(stored, adoption);
    if (holder && holder.clientId !== clientId)
      throw new TillkitError(
        "service_id_taken",
        `The service id ${serviceId} belongs to the payment ${holder.clientId}.`,
      );

    const at = now().toISOString();
    if (stored && (serviceId === undefined || stored.serviceId !== undefined))
      return { payment: stored, adopted: false };
    if (stored) {
      // The service can be asked by the id even if all lookups have ended, so the next lookup is due now.
      const next = stored.state === "completed" ? {} : { nextLookupAt: at };
      const payment = { ...stored, serviceId: serviceId!, ...next, updatedAt: at };
      const resolutions = adoptionsOf(adoption, "id added", payment, at);
      if (!dryRun) await store.save(tx, { updated: [payment], resolutions });
      return { payment, adopted: false };
    }
    const payment: Payment = {
      clientId,
      reference,
      total,
      state: "pending",
      open: false,
      ...(serviceId !== undefined && { serviceId }),
      ...(metadata !== undefined && { metadata }),
      createdAt: at,
      updatedAt: at,
      // The webhooks of the payment may have been sent long ago, so its first lookup is due now.
      nextLookupAt: at,
    };
    if (dryRun) {
      const waiting = await store.rematchable(tx, [clientId]);
      // A webhook may name the service id of another payment, so that payment is read, too.
      const named = keysOf(waiting.map((webhook) => ({ message: readStored(webhook) })));
      const known = await store.lock(tx, { ...named, references: [reference], readOnly: true });
      return decideWaiting(parts, waiting, [...known.payments, payment]);
    }
    // A reference without payments has no row to lock, so the payment is open at first. While it is open, no
    // other first attempt can be stored.
    const isFirst = payments.every((other) => other.reference !== reference);
    const { takenClientIds } = await store.save(tx, { created: [{ ...payment, open: isFirst }] });
    if (takenClientIds.length > 0) throw new AdoptionOutdated();
    if (isFirst) await store.save(tx, { updated: [payment] });
    // The webhooks are decided in the same transaction. If the answer to its commit is lost, this call ends
    // and cannot decide the webhooks later.
    await rematchIn(tx, parts, [clientId], { limit: store.maxGroup === Infinity ? Infinity : 1 });
    if (by !== undefined) {
      const now = (await store.lock(tx, { clientIds: [clientId] })).payments;
      const decided = now.find((one) => one.clientId === clientId)!;
      await store.save(tx, { resolutions: adoptionsOf(adoption, "adopted", decided, at) });
    }
    return { payment, adopted: true };
  });
}

/** Returns the resolution that keeps who adopted the payment, if a person did. */
function adoptionsOf(
  { clientId, by, reason }: Adoption,
  what: string,
  payment: Payment,
  at: string,
): ResolutionRecord[] {
  if (by === undefined || reason === undefined) return [];
  const after = stateText(payment);
  const before = what === "adopted" ? {} : { before: after };
  return [{ id: `${what}:${clientId}`, clientId, action: "adopted", ...before, after, by, reason, at }];
}

/** Returns the last payment with the changes of its waiting webhooks, and the webhooks' new outcomes. */
function decideWaiting<Tx>(
  { newId, policy, now }: RecordingParts<Tx>,
  waiting: readonly WebhookRecord[],
  payments: readonly Payment[],
): AdoptedPayment {
  const decisions = new Decisions(payments, { newId, policy, now: now().toISOString() });
  const webhooks = waiting.map((webhook) => {
    const { outcome, rawBody } = webhook;
    if (rawBody.length === 0)
      return { outcome, reason: "its bytes were pruned: nothing can be decided by it" };
    const { events: _, ...decided } = { events: [], ...decisions.decide(readStored(webhook), webhook) };
    return decided;
  });
  return { payment: decisions.payments.find(payments.at(-1)!.clientId)!, adopted: true, webhooks };
}

/** Checks an adoption. Returns a copy, because the caller may change the object later. */
function checkAdoption(adoption: Adoption): Adoption {
  const { clientId, serviceId, reference, total, metadata, by, reason, dryRun } = adoption;
  const names = { clientId, serviceId, reference, total, metadata, by, reason, dryRun };
  refuseUnknownFields(adoption, names satisfies NamesOf<Adoption>);
  if ((by ?? reason) !== undefined) checkPerson({ by, reason });
  // The clientId is required here; `create` would make one.
  const request = checkPaymentRequest({ reference, total, metadata, clientId: clientId ?? "" });
  const isId = typeof serviceId === "string" && /^[^\p{Cc}\p{Cs}]{1,128}$/u.test(serviceId);
  if (serviceId !== undefined && !isId)
    throw new TillkitError("service_id_invalid", "serviceId must be a string of 1 to 128 characters.");
  return { ...names, total: request.total, metadata: request.metadata };
}

function refuseConflict(stored: Payment, { clientId, serviceId, reference, total }: Adoption): void {
  const differs = [
    ...(stored.reference === reference ? [] : [`the reference ${stored.reference}`]),
    ...(sameTotal(stored.total, total) ? [] : [`the total ${stored.total.value} ${stored.total.currency}`]),
    ...(serviceId === undefined || (stored.serviceId ?? serviceId) === serviceId
      ? []
      : [`the service id ${stored.serviceId}`]),
  ];
  if (differs.length === 0) return;
  throw new TillkitError("adoption_conflict", `The store has ${clientId} with ${differs.join(" and ")}.`);
}
