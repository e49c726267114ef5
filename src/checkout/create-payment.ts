import { setTimeout as pause } from "node:timers/promises";
import { hasCode, TillkitError, type ErrorCode } from "../errors/index.js";
import { type Payment } from "../model/payment.js";
import { isFarther, stateOf } from "../model/status-order.js";
import { PaymentCreationError, type PaymentService, type ServicePayment } from "../service/index.js";
import { because } from "../shared/because.js";
import { type PaymentStore } from "../store/index.js";
import { chooseAttempt, replacedPayment, type AttemptChoice } from "./choose-attempt.js";
import { checkPaymentRequest, plainMetadata, type PaymentRequest } from "./payment-request.js";
import { makeReturnToken } from "./return-token.js";

/** A payment that the customer can be sent to. */
export interface CreatedPayment {
  /** Identifies the payment in the shop and at the service. */
  clientId: string;
  /** Where to redirect the customer's browser (303). */
  checkoutUrl: string;
  /** Whether this is an open attempt that an earlier call created. */
  reused: boolean;
}

/** The parts of the kit that creating a payment uses. */
export interface CheckoutParts<Tx> {
  store: PaymentStore<Tx>;
  service: PaymentService;
  now: () => Date;
  newId: () => string;
  ready: () => Promise<void>;
  /** Decides webhooks that arrived before their payment was known. */
  rematch: (clientIds: readonly string[]) => Promise<void>;
  options: CheckoutOptions;
}

/** The settings that creating a payment depends on. */
export interface CheckoutOptions {
  /** The public addresses that the customer returns to, without the token. */
  returnUrls: { success: string; cancel: string };
  /** The time for which an open attempt is returned again. */
  reuseForMs: number;
  /** The prefix of clientIds. */
  clientIdPrefix: string | undefined;
  /** The age from which a payment may be looked up. */
  firstLookupMs: number;
  /** The maximum time of one creation, token and answer included. */
  creationMs: number;
}

/**
 * Creates a payment: stores the intent, creates it at the service, and returns the checkout address. A second call for the
 * same reference and amount returns the open attempt instead of a second payment.
 */
export async function createPayment<Tx>(
  parts: CheckoutParts<Tx>,
  request: PaymentRequest,
): Promise<CreatedPayment> {
  checkPaymentRequest(request, parts.options.clientIdPrefix);
  await parts.ready();

  const giveUpAt = performance.now() + parts.options.creationMs;
  for (let round = 0; ; round++) {
    const started = await startAttempt(parts, request);
    if (started.kind === "created") return complete(parts, started.payment, started.token);
    if (started.kind === "reuse") {
      return { clientId: started.payment.clientId, checkoutUrl: started.checkoutUrl, reused: true };
    }
    if (performance.now() > giveUpAt) {
      throw new TillkitError(
        "creation_pending_elsewhere",
        `Another call is still creating ${request.reference}.`,
      );
    }
    await pause(Math.min(20 * 2 ** round, 250));
  }
}

type StartedAttempt =
  | Extract<AttemptChoice, { kind: "reuse" | "wait" }>
  | { kind: "created"; payment: Payment; token: string }
  /** Another call was faster: choose again. */
  | { kind: "outdated" };

class ChoiceOutdated extends Error {}

/**
 * Stores the intent before the request is sent. A webhook may arrive before the service's answer, and must
 * find its payment.
 */
async function startAttempt<Tx>(parts: CheckoutParts<Tx>, request: PaymentRequest): Promise<StartedAttempt> {
  const { store, newId } = parts;
  const { reuseForMs, creationMs, clientIdPrefix = "", firstLookupMs } = parts.options;
  const { reference, total } = request;
  const clientId = request.clientId ?? clientIdPrefix + newId();
  try {
    return await store.transaction(async (tx): Promise<StartedAttempt> => {
      const { payments } = await store.lock(tx, { references: [reference], clientIds: [clientId] });
      const now = parts.now();
      const attempts = payments.filter((payment) => payment.reference === reference);
      const choice = chooseAttempt(attempts, total, { now, reuseForMs, creationMs });
      if (choice.kind === "paid") {
        throw new TillkitError("already_paid", `${reference} was paid by ${choice.payment.clientId}.`);
      }
      if (choice.kind === "withheld") throw paidOtherAmount(choice);
      if (choice.kind !== "create") return choice;
      if (payments.some((payment) => payment.clientId === clientId)) {
        throw new TillkitError("client_id_taken", `A payment with the clientId ${clientId} exists already.`);
      }

      const at = now.toISOString();
      const { token, hash } = makeReturnToken(clientId);
      const nextLookupAt = new Date(now.getTime() + firstLookupMs).toISOString();
      const payment = newPayment(request, { clientId, returnKeyHash: hash, nextLookupAt, createdAt: at });
      const updated = choice.replaced.map((old) => replacedPayment(old, clientId, at));
      const { takenClientIds } = await store.save(tx, { updated, created: [payment] });
      if (takenClientIds.length > 0) throw new ChoiceOutdated();
      await refuseUnseen(parts, tx, { reference, seen: payments, clientId });
      return { kind: "created", payment, token };
    });
  } catch (error) {
    // Another call stored an attempt for this reference, or took the clientId, after this one had read.
    if (error instanceof ChoiceOutdated) return { kind: "outdated" };
    throw error;
  }
}

/**
 * Throws if an attempt of the reference has appeared since `seen` was read. A reference without payments has
 * no row to lock, so another call may store an attempt and close it in the meantime. The two do not clash,
 * and nobody would mark the other one as replaced. After the insert, no other call can open an attempt.
 */
async function refuseUnseen<Tx>(
  { store }: CheckoutParts<Tx>,
  tx: Tx,
  own: { reference: string; seen: readonly Payment[]; clientId: string },
): Promise<void> {
  const known = new Set([own.clientId, ...own.seen.map(({ clientId }) => clientId)]);
  const { payments } = await store.lock(tx, { references: [own.reference] });
  if (payments.some(({ clientId }) => !known.has(clientId))) throw new ChoiceOutdated();
}

function paidOtherAmount({ payment, newest }: Extract<AttemptChoice, { kind: "withheld" }>): TillkitError {
  const { clientId, reference } = payment;
  const [paid, asked] = [payment, newest].map(({ total }) => `${total.value} ${total.currency}`);
  return new TillkitError(
    "paid_other_amount",
    `The attempt ${clientId} of ${reference} was paid with ${paid}, but ${asked} was asked for last, by ` +
      `${newest.clientId}. A person must accept or refund it: payments.resolve({ action, clientId: "${clientId}", … }).`,
  );
}

function newPayment(
  { reference, total, locale, metadata }: PaymentRequest,
  made: Pick<Payment, "clientId" | "returnKeyHash" | "nextLookupAt" | "createdAt">,
): Payment {
  return {
    ...made,
    reference,
    total: { value: total.value, currency: total.currency },
    state: "creating",
    open: true,
    ...(locale !== undefined && { locale }),
    ...(metadata !== undefined && { metadata: plainMetadata(metadata) }),
    updatedAt: made.createdAt,
  };
}

/** Creates the payment at the service and stores the result. */
async function complete<Tx>(
  parts: CheckoutParts<Tx>,
  payment: Payment,
  token: string,
): Promise<CreatedPayment> {
  const { clientId, total, locale } = payment;
  const { returnUrls } = parts.options;
  let answer: ServicePayment;
  try {
    answer = await parts.service.createPayment({
      clientId,
      total,
      successUrl: `${returnUrls.success}/${token}`,
      cancelUrl: `${returnUrls.cancel}/${token}`,
      ...(locale !== undefined && { locale }),
    });
  } catch (error) {
    await storeFailure(parts, clientId, error as PaymentCreationError);
    throw error;
  }
  await keepAnswer(parts, clientId, answer);
  // The payment exists even where this fails; the sweep matches its webhooks later.
  await parts.rematch([clientId]).catch(() => {});
  return { clientId, checkoutUrl: answer.checkoutUrl, reused: false };
}

/** Stores the answer. The payment exists at the service, so every failure from here on is an uncertain creation. */
async function keepAnswer<Tx>(
  parts: CheckoutParts<Tx>,
  clientId: string,
  answer: ServicePayment,
): Promise<void> {
  let isOwnId: boolean;
  try {
    isOwnId = await storeAnswer(parts, clientId, answer).catch((error: unknown) => {
      // Another payment got the id at the same moment.
      if (hasCode(error, "store_conflict")) return false;
      throw error;
    });
  } catch (cause) {
    const message = `The service made ${clientId}, and its answer could not be stored${because(cause)}`;
    throw new PaymentCreationError("creation_unrecorded", message, { certainty: "uncertain", cause });
  }
  if (isOwnId) return;
  const error = new PaymentCreationError(
    "creation_response_invalid",
    `The service answered clientId ${clientId} with an id that belongs to another payment.`,
    { certainty: "uncertain" },
  );
  await storeFailure(parts, clientId, error);
  throw error;
}

/** Resolves to `false` where the id of the answer belongs to another payment. */
async function storeAnswer<Tx>(
  parts: CheckoutParts<Tx>,
  clientId: string,
  { serviceId, checkoutUrl, status, captured, createdAt }: ServicePayment,
): Promise<boolean> {
  const { store } = parts;
  return store.transaction(async (tx) => {
    const { payments } = await store.lock(tx, { clientIds: [clientId], serviceIds: [serviceId] });
    const current = payments.find((payment) => payment.clientId === clientId)!;
    const isTaken = payments.some((other) => other.serviceId === serviceId && other !== current);
    if (isTaken || (current.serviceId ?? serviceId) !== serviceId) return false;

    // A webhook that overtook the answer is newer, and only a webhook can end a payment.
    const state = current.state === "creating" ? "pending" : current.state;
    const isNewer = stateOf(status) === "pending" && isFarther(status, current.status);
    const updatedAt = parts.now().toISOString();
    const updated = { ...current, ...(isNewer && { status }), state, serviceId, checkoutUrl, updatedAt };
    updated.reported ??= {
      status,
      ...(captured !== undefined && { captured }),
      at: updatedAt,
      verified: captured === undefined ? ["status"] : ["status", "captured"],
    };
    if (createdAt !== undefined) updated.service = { ...current.service, createdAt };
    await store.save(tx, { updated: [updated] });
    return true;
  });
}

/** Stores a refused creation as `failed`, and one whose result is unknown as `uncertain`, which a webhook can still match. */
async function storeFailure<Tx>(
  parts: CheckoutParts<Tx>,
  clientId: string,
  error: { code: ErrorCode; certainty?: "failed" | "uncertain" },
): Promise<void> {
  const { store } = parts;
  try {
    await store.transaction(async (tx) => {
      const { payments } = await store.lock(tx, { clientIds: [clientId] });
      const current = payments.find((payment) => payment.clientId === clientId)!;
      const state = current.state === "creating" ? (error.certainty ?? "uncertain") : current.state;
      const updatedAt = parts.now().toISOString();
      const ended: Payment = { ...current, state, open: false, failure: error.code, updatedAt };
      // The service cannot be asked about a payment that it never made.
      if (state === "failed") delete ended.nextLookupAt;
      await store.save(tx, { updated: [ended] });
    });
  } catch {
    // The caller gets the error of the creation. The row stays `creating`, which later counts as uncertain.
  }
}
