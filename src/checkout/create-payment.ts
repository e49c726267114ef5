import { setTimeout as pause } from "node:timers/promises";
import { hasCode, TillkitError } from "../errors/index.js";
import { type Payment } from "../model/payment.js";
import { PaymentCreationError, type PaymentService, type ServicePayment } from "../service/index.js";
import { because } from "../shared/because.js";
import { GroupCommit } from "../shared/group-commit.js";
import { checkPaymentRequest, type PaymentRequest } from "./payment-request.js";
import { makeReturnToken } from "./return-token.js";
import { type CreationResult, storeResults } from "./store-results.js";
import { type Intent, type IntentParts, type StartedAttempt, storeIntents } from "./store-intents.js";

/** A payment, with the address of its checkout page. */
export interface CreatedPayment {
  /** Identifies the payment in the shop and at the service. */
  clientId: string;
  /** The address to which the shop redirects the customer's browser (303). */
  checkoutUrl: string;
  /** Whether this is an open attempt that an earlier call created. */
  reused: boolean;
}

/** The parts of the kit that are needed to create a payment. */
export interface CheckoutParts<Tx> extends IntentParts<Tx> {
  service: PaymentService;
  newId: () => string;
  ready: () => Promise<void>;
  /** Decides webhooks that arrived before their payment was known. */
  rematch: (clientIds: readonly string[]) => Promise<void>;
  /** Called after the commit of a new payment. */
  onCreated?: (clientId: string) => void;
  /** The maximum number of creations in one transaction. */
  maxGroup: number;
  options: CheckoutOptions;
}

/** The settings for the creation of a payment. */
export interface CheckoutOptions {
  /** The public addresses that the customer returns to, without the token. */
  returnUrls: { success: string; cancel: string };
  /** The time for which an open attempt is returned again. */
  reuseForMs: number;
  /** The prefix of clientIds. */
  clientIdPrefix: string | undefined;
  /** The age from which a payment may be looked up. */
  firstLookupMs: number;
  /** The maximum time of one creation, including the token and the answer. */
  creationMs: number;
}

/** The parts, and the group commits for creations that run at the same time. */
interface Checkout<Tx> extends CheckoutParts<Tx> {
  intents: GroupCommit<Intent, StartedAttempt>;
  results: GroupCommit<CreationResult, boolean>;
  matches: GroupCommit<string, string>;
}

/**
 * Returns the function that creates a payment. The function stores the payment, creates it at the service,
 * and returns the checkout address. If the reference has an open attempt with the same amount, younger than
 * `reuseForMs`, the function returns this attempt. The function then creates no payment.
 */
export function openCheckout<Tx>(
  parts: CheckoutParts<Tx>,
): (request: PaymentRequest) => Promise<CreatedPayment> {
  const { store, maxGroup, options } = parts;
  const group = <Item, Result>(write: (items: readonly Item[]) => Promise<readonly Result[]>) =>
    new GroupCommit({
      write,
      maxGroup,
      deadlineMs: options.creationMs,
      refillIterations: store.durable ? 3 : 0,
    });
  const checkout: Checkout<Tx> = {
    ...parts,
    intents: group((intents: readonly Intent[]) => storeIntents(parts, intents)),
    results: group((results: readonly CreationResult[]) => storeResults(parts, results)),
    matches: group(async (clientIds: readonly string[]) => {
      await parts.rematch(clientIds);
      return clientIds;
    }),
  };
  return (request) => createPayment(checkout, request);
}

async function createPayment<Tx>(checkout: Checkout<Tx>, given: PaymentRequest): Promise<CreatedPayment> {
  const { options, newId, ready, intents } = checkout;
  const { clientIdPrefix = "", creationMs } = options;
  const request = checkPaymentRequest(given, options.clientIdPrefix);
  await ready();

  const clientId = request.clientId ?? clientIdPrefix + newId();
  const { token, hash: returnKeyHash } = makeReturnToken(clientId);
  const giveUpAt = performance.now() + creationMs;
  for (let round = 0; ; round++) {
    // The payment is stored first, because its webhook may arrive before the service's answer.
    const started = await intents.add({ request, clientId, returnKeyHash, giveUpAt });
    if (started.kind === "created") {
      checkout.onCreated?.(clientId);
      return complete(checkout, started.payment, token);
    }
    if (started.kind === "refused") throw started.error;
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

/** Creates the payment at the service and stores the result. */
async function complete<Tx>(
  checkout: Checkout<Tx>,
  { clientId, total, locale }: Payment,
  token: string,
): Promise<CreatedPayment> {
  const { returnUrls } = checkout.options;
  let answer: ServicePayment;
  try {
    answer = await checkout.service.createPayment({
      clientId,
      total,
      successUrl: `${returnUrls.success}/${token}`,
      cancelUrl: `${returnUrls.cancel}/${token}`,
      ...(locale !== undefined && { locale }),
    });
  } catch (error) {
    await keepFailure(checkout, clientId, error as PaymentCreationError);
    throw error;
  }
  await keepAnswer(checkout, clientId, answer);
  // If the rematch fails, the payment exists anyway, and the sweep matches its webhooks later.
  await checkout.matches.add(clientId).catch(() => {});
  return { clientId, checkoutUrl: answer.checkoutUrl, reused: false };
}

/** Stores the answer. If storing fails, the creation is uncertain, because the service has the payment. */
async function keepAnswer<Tx>(
  checkout: Checkout<Tx>,
  clientId: string,
  answer: ServicePayment,
): Promise<void> {
  let isOwnId: boolean;
  try {
    isOwnId = await checkout.results.add({ clientId, answer }).catch((error: unknown) => {
      // Another payment got this service id at the same moment.
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
  await keepFailure(checkout, clientId, error);
  throw error;
}

async function keepFailure<Tx>(
  { results }: Checkout<Tx>,
  clientId: string,
  error: PaymentCreationError,
): Promise<void> {
  // The caller gets the error of the creation. If the error cannot be stored, the payment stays `creating`,
  // which later counts as uncertain.
  await results.add({ clientId, error }).catch(() => {});
}
