import { TillkitError } from "../errors/index.js";
import { receivedOf } from "../model/attempts.js";
import { type Payment } from "../model/payment.js";
import { type PaymentStore } from "../store/index.js";
import { type AttemptChoice, chooseAttempt, replacedPayment } from "./choose-attempt.js";
import { type PaymentRequest } from "./payment-request.js";

/** A payment to store before its request is sent to the service. */
export interface Intent {
  /** The request that `checkPaymentRequest` returned. */
  request: PaymentRequest;
  clientId: string;
  returnKeyHash: string;
  /**
   * The time at which the caller gives up, by `performance.now()`. After this time the intent is not stored,
   * because it could replace a newer attempt.
   */
  giveUpAt: number;
}

/** The parts of the kit that are needed to store intents. */
export interface IntentParts<Tx> {
  store: PaymentStore<Tx>;
  now: () => Date;
  options: { reuseForMs: number; creationMs: number; firstLookupMs: number };
}

/** The result of an intent. */
export type StartedAttempt =
  | Extract<AttemptChoice, { kind: "reuse" | "wait" }>
  | { kind: "created"; payment: Payment }
  | { kind: "refused"; error: TillkitError }
  /** Another call was faster, so the caller must choose again. */
  | { kind: "outdated" };

class ChoiceOutdated extends Error {}

/**
 * Stores a group of intents in one transaction, and returns the result of each. A repeated call stores no
 * intent twice. If another process was faster for one reference, a group of several intents is rejected. Each
 * intent must then be stored separately.
 */
export async function storeIntents<Tx>(
  parts: IntentParts<Tx>,
  intents: readonly Intent[],
): Promise<StartedAttempt[]> {
  const { store } = parts;
  const references = [...new Set(intents.map(({ request }) => request.reference))];
  const clientIds = [...new Set(intents.map(({ clientId }) => clientId))];
  try {
    return await store.transaction(async (tx) => {
      const { payments: seen } = await store.lock(tx, { references, clientIds });
      const { attempts, updated, created } = planIntents(parts, intents, seen);
      if (created.length === 0) return attempts;
      const { takenClientIds } = await store.save(tx, { updated, created });
      if (takenClientIds.length > 0) throw new ChoiceOutdated();
      await refuseUnseen(store, tx, [...seen, ...created]);
      return attempts;
    });
  } catch (error) {
    // Another process stored an attempt for this reference, or took the clientId, after this call's first
    // read.
    if (error instanceof ChoiceOutdated && intents.length === 1) return [{ kind: "outdated" }];
    throw error;
  }
}

/**
 * Throws if another call has stored an attempt of these references after this call read them. A reference
 * without payments has no row to lock, so the database may report no conflict. This is possible if the other
 * call has already closed its attempt again. No call would then mark that attempt as replaced. After the
 * insert, no other call can open an attempt.
 */
async function refuseUnseen<Tx>(store: PaymentStore<Tx>, tx: Tx, known: readonly Payment[]): Promise<void> {
  const clientIds = new Set(known.map(({ clientId }) => clientId));
  const references = [...new Set(known.map(({ reference }) => reference))];
  // This read needs no locks. Locks in another order than by clientId could cause a deadlock with a call that
  // replaces such an attempt.
  const { payments } = await store.lock(tx, { references, readOnly: true });
  if (payments.some(({ clientId }) => !clientIds.has(clientId))) throw new ChoiceOutdated();
}

/** Chooses the attempt of each intent, given the payments of all their references. Does no I/O. */
function planIntents(
  { now, options }: Pick<IntentParts<never>, "now" | "options">,
  intents: readonly Intent[],
  seen: readonly Payment[],
): { attempts: StartedAttempt[]; updated: Payment[]; created: Payment[] } {
  const times = { ...options, now: now() };
  const updated: Payment[] = [];
  const created: Payment[] = [];
  const attempts = intents.map((intent): StartedAttempt => {
    const { request, clientId, returnKeyHash } = intent;
    const { reference, total } = request;
    const named = seen.find((payment) => payment.clientId === clientId);
    // An earlier commit, whose result was lost, has stored this payment.
    if (named?.returnKeyHash === returnKeyHash) return { kind: "created", payment: named };
    if (performance.now() > intent.giveUpAt) return { kind: "outdated" };
    // One call at a time opens an attempt of a reference. The next call finds this attempt in the store.
    if (created.some((other) => other.reference === reference || other.clientId === clientId))
      return { kind: "outdated" };
    const attempts = seen.filter((payment) => payment.reference === reference);
    const choice = chooseAttempt(attempts, total, times);
    if (choice.kind === "reuse" || choice.kind === "wait") return choice;
    if (choice.kind !== "create") return { kind: "refused", error: refusalOf(choice) };
    if (named) return { kind: "refused", error: clientIdTaken(clientId) };
    const payment = newPayment(intent, times);
    for (const old of choice.replaced) updated.push(replacedPayment(old, clientId, payment.createdAt));
    created.push(payment);
    return { kind: "created", payment };
  });
  // If two processes store the same references in the same order, one waits for the other. In different
  // orders, there could be a deadlock.
  const inOrder = created.toSorted((a, b) => (a.reference < b.reference ? -1 : 1));
  return { attempts, updated, created: inOrder };
}

function refusalOf(choice: Extract<AttemptChoice, { kind: "paid" | "withheld" }>): TillkitError {
  const { clientId, reference } = choice.payment;
  if (choice.kind === "paid")
    return new TillkitError("already_paid", `${reference} was paid by ${clientId}.`);
  const { payment, newest } = choice;
  const amounts = [receivedOf(payment), newest.total];
  const [paid, asked] = amounts.map(({ value, currency }) => `${value} ${currency}`);
  return new TillkitError(
    "paid_other_amount",
    `The attempt ${clientId} of ${reference} was paid with ${paid}, but the newest attempt, ${newest.clientId}, asks for ${asked}. A person must accept or refund the payment: payments.resolve({ action, clientId: "${clientId}", … }).`,
  );
}

function clientIdTaken(clientId: string): TillkitError {
  return new TillkitError("client_id_taken", `A payment with the clientId ${clientId} exists already.`);
}

function newPayment(
  { request: { reference, total, locale, metadata }, clientId, returnKeyHash }: Intent,
  { now, firstLookupMs }: { now: Date; firstLookupMs: number },
): Payment {
  const createdAt = now.toISOString();
  return {
    clientId,
    returnKeyHash,
    nextLookupAt: new Date(now.getTime() + firstLookupMs).toISOString(),
    createdAt,
    reference,
    total,
    state: "creating",
    open: true,
    ...(locale !== undefined && { locale }),
    ...(metadata !== undefined && { metadata }),
    updatedAt: createdAt,
  };
}
