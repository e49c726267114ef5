import { setTimeout as pause } from "node:timers/promises";
import { TillkitError, type ErrorCode } from "../errors/index.js";
import { checkPaymentRequest, plainMetadata, type PaymentRequest } from "./payment-request.js";
import { type Payment } from "../model/payment.js";
import { chooseAttempt, replacedPayment, type AttemptChoice } from "./choose-attempt.js";
import { isFarther, stateOf } from "../model/status-order.js";
import { makeReturnToken } from "./return-token.js";
import {
  type CreatedPayment as ServicePayment,
  type PaymentCreationError,
  type PaymentService,
} from "../service/index.js";
import { type PaymentStore } from "../store/index.js";

/** A payment that the customer can be sent to. */
export interface CreatedPayment {
  clientId: string;
  /** Where to redirect the customer's browser (303). */
  checkoutUrl: string;
  /** Whether this is an open attempt that was asked for before. */
  reused: boolean;
}

/** What creating needs. */
export interface Creating<Tx> {
  store: PaymentStore<Tx>;
  service: PaymentService;
  /** Where the router is reached from outside, without a slash at its end. */
  publicUrl: string;
  reuseForMs: number;
  /** What clientIds begin with. */
  clientIdPrefix: string | undefined;
  /** When a payment that is created now may be asked about for the first time. */
  firstLookupAt: (createdAt: Date) => string;
  /** The longest that one creation can take, token and answer included. */
  creationMs: number;
  now: () => Date;
  newId: () => string;
  ready: () => Promise<void>;
  /** Decides webhooks that came before their payment was known. */
  rematch: (clientIds: readonly string[]) => Promise<void>;
}

/**
 * A payment's way out: stored as intent, created at the service, and its checkout address handed back. Asking
 * again for the same reference and amount returns the open attempt instead of a second one.
 */
export async function createPayment<Tx>(kit: Creating<Tx>, request: PaymentRequest): Promise<CreatedPayment> {
  checkPaymentRequest(request, kit.clientIdPrefix);
  await kit.ready();

  const giveUpAt = kit.now().getTime() + kit.creationMs;
  for (let round = 0; ; round++) {
    const begun = await begin(kit, request);
    if (begun.kind === "created") return complete(kit, begun.payment, begun.token);
    if (begun.kind === "reuse") {
      return { clientId: begun.payment.clientId, checkoutUrl: begun.checkoutUrl, reused: true };
    }
    if (kit.now().getTime() > giveUpAt) {
      throw new TillkitError(
        "creation_pending_elsewhere",
        `Another call is still creating ${request.reference}.`,
      );
    }
    await pause(Math.min(20 * 2 ** round, 250));
  }
}

type Begun =
  | Extract<AttemptChoice, { kind: "reuse" | "wait" }>
  | { kind: "created"; payment: Payment; token: string }
  /** Another call was faster; look again. */
  | { kind: "outrun" };

class Outrun extends Error {}

/** Intent first: a webhook that overtakes the service's answer must find its payment. */
async function begin<Tx>(kit: Creating<Tx>, request: PaymentRequest): Promise<Begun> {
  const { store, reuseForMs, creationMs } = kit;
  const { reference, total } = request;
  const clientId = request.clientId ?? (kit.clientIdPrefix ?? "") + kit.newId();
  try {
    return await store.transaction(async (tx): Promise<Begun> => {
      const { payments } = await store.lock(tx, { references: [reference], clientIds: [clientId] });
      const now = kit.now();
      const attempts = payments.filter((payment) => payment.reference === reference);
      const choice = chooseAttempt(attempts, total, { now, reuseForMs, creationMs });
      if (choice.kind === "paid") {
        throw new TillkitError("already_paid", `${reference} was paid by ${choice.payment.clientId}.`);
      }
      if (choice.kind !== "create") return choice;
      if (payments.some((payment) => payment.clientId === clientId)) {
        throw new TillkitError("client_id_taken", `A payment with the clientId ${clientId} exists already.`);
      }

      const { token, hash } = makeReturnToken(clientId);
      const nextLookupAt = kit.firstLookupAt(now);
      const payment = newPayment(request, {
        clientId,
        returnKeyHash: hash,
        nextLookupAt,
        now: now.toISOString(),
      });
      const updated = choice.replaced.map((old) => replacedPayment(old, clientId, now.toISOString()));
      const { takenClientIds } = await store.save(tx, { updated, created: [payment] });
      if (takenClientIds.length > 0) throw new Outrun();
      return { kind: "created", payment, token };
    });
  } catch (error) {
    // Another call opened an attempt for this reference, or took the clientId, since the look; look again.
    if (error instanceof Outrun) return { kind: "outrun" };
    throw error;
  }
}

function newPayment(
  { reference, total, locale, metadata }: PaymentRequest,
  { now, ...made }: Pick<Payment, "clientId" | "returnKeyHash" | "nextLookupAt"> & { now: string },
): Payment {
  return {
    ...made,
    reference,
    total: { value: total.value, currency: total.currency },
    state: "creating",
    open: true,
    ...(locale !== undefined && { locale }),
    ...(metadata !== undefined && { metadata: plainMetadata(metadata) }),
    createdAt: now,
    updatedAt: now,
  };
}

/** Creates the payment at the service and writes down what came of it. */
async function complete<Tx>(kit: Creating<Tx>, payment: Payment, token: string): Promise<CreatedPayment> {
  const { clientId, total, locale } = payment;
  let answer: ServicePayment;
  try {
    answer = await kit.service.createPayment({
      clientId,
      total,
      successUrl: `${kit.publicUrl}/success/${token}`,
      cancelUrl: `${kit.publicUrl}/cancel/${token}`,
      ...(locale !== undefined && { locale }),
    });
  } catch (error) {
    await giveUp(kit, clientId, error as PaymentCreationError);
    throw error;
  }
  await keepAnswer(kit, clientId, answer);
  // The payment exists whatever becomes of this; the sweep looks again.
  await kit.rematch([clientId]).catch(() => {});
  return { clientId, checkoutUrl: answer.checkoutUrl, reused: false };
}

async function keepAnswer<Tx>(kit: Creating<Tx>, clientId: string, answer: ServicePayment): Promise<void> {
  const { store } = kit;
  const { serviceId, checkoutUrl, status } = answer;
  const isOwnId = await store.transaction(async (tx) => {
    const { payments } = await store.lock(tx, { clientIds: [clientId], serviceIds: [serviceId] });
    const current = payments.find((payment) => payment.clientId === clientId)!;
    const isTaken = payments.some((other) => other.serviceId === serviceId && other !== current);
    if (isTaken || (current.serviceId ?? serviceId) !== serviceId) return false;

    // A webhook may have overtaken the answer, and knows better; and only a webhook can end a payment.
    const state = current.state === "creating" ? "pending" : current.state;
    const isNews = stateOf(status) === "pending" && isFarther(status, current.status);
    const farther = isNews ? { status } : {};
    const updatedAt = kit.now().toISOString();
    await store.save(tx, { updated: [{ ...current, ...farther, state, serviceId, checkoutUrl, updatedAt }] });
    return true;
  });
  if (isOwnId) return;
  const error = new TillkitError(
    "creation_response_invalid",
    `The service answered with an id that is bound otherwise already, for clientId ${clientId}.`,
  );
  await giveUp(kit, clientId, error);
  throw error;
}

/** A refused creation is `failed`; one that ended in the dark is `uncertain`: it stays matchable. */
async function giveUp<Tx>(
  kit: Creating<Tx>,
  clientId: string,
  error: { code: ErrorCode; certainty?: "failed" | "uncertain" },
): Promise<void> {
  const { store } = kit;
  try {
    await store.transaction(async (tx) => {
      const { payments } = await store.lock(tx, { clientIds: [clientId] });
      const current = payments.find((payment) => payment.clientId === clientId)!;
      const state = current.state === "creating" ? (error.certainty ?? "uncertain") : current.state;
      const updatedAt = kit.now().toISOString();
      const { nextLookupAt, ...rest } = current;
      // The service has nothing to tell of what it never made.
      const asks = state !== "failed" && nextLookupAt !== undefined ? { nextLookupAt } : {};
      const ended = { ...rest, ...asks, state, open: false, failure: error.code, updatedAt };
      await store.save(tx, { updated: [ended] });
    });
  } catch {
    // The caller gets the error of the creation. The row stays `creating`, and is taken for uncertain later.
  }
}
