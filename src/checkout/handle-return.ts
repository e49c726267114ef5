import { firstPaid, isPaidBack, paysOrder } from "../model/attempts.js";
import { type Payment } from "../model/payment.js";
import { keepClaim, readClaimNumber, readClaims } from "./payment-claims.js";
import { isReturnTokenOf, readReturnToken } from "./return-token.js";
import { type PaymentStore } from "../store/index.js";

/** The name of the return address: the success address or the cancel address. */
export type ReturnKind = "success" | "cancel";

/** The request of a browser that came back. */
export interface ReturnRequest {
  /** The address to which the browser came back. */
  kind: ReturnKind;
  /** The last part of the address. */
  token: string;
  /** Whether a person came back. False for HEAD requests and prefetches, which are not stored as returns. */
  visit: boolean;
}

/**
 * The state that the return page shows to the customer:
 *
 * - `confirming`: the browser came back to the success address, and the kit does not know the result yet.
 * - `delayed`: the payment is still confirming, one minute or more after the first return.
 * - `claimed`: the payment is still confirming, and the customer has given a number, which proves nothing.
 * - `mismatch`: a webhook does not fit the payment and no person has dismissed it, or the payment was
 *   withheld from its order. The page must not say that the payment failed, nor that it is paid.
 * - `refunded`: the payment was withheld, and a person returned the money.
 */
export type ReturnState =
  "confirming" | "delayed" | "claimed" | "mismatch" | "refunded" | "paid" | "canceled" | "failed";

/** The time after the first return from which a confirming payment is `delayed`. */
export const delayedAfterMs = 60 * 1000;
/** The time after the first return from which the customer may claim that the payment is paid. */
const claimAfterMs = 2 * 60 * 1000;

/** The result of a return, from which the shop makes a page or a redirect. */
export interface ReturnView {
  /** The address to which the browser came back. */
  kind: ReturnKind;
  /** The state that the page shows to the customer. */
  state: ReturnState;
  /** The stored payment. With the state `paid`, this is the payment that paid the order. */
  payment: Payment;
  /** The time since the browser first came back to this address. Zero at the first visit. */
  waitedMs: number;
  /**
   * Whether the customer may claim that the payment is paid. Claims are allowed from two minutes after the
   * first return to the success address, while the payment is confirming.
   */
  canClaim: boolean;
}

/** The claim of a customer about a payment. */
export interface PaymentClaimRequest {
  /** The address to which the browser came back. */
  kind: ReturnKind;
  /** The last part of the return address. */
  token: string;
  /** The number of the SMS or the receipt, as the customer wrote it. */
  number: string | undefined;
}

/**
 * The result of a claim:
 *
 * - `kept`: the claim is stored.
 * - `invalid`: the text cannot be the number of a payment.
 * - `closed`: the payment accepts no claim now.
 */
export type PaymentClaimOutcome = "kept" | "invalid" | "closed";

/** The parts of the kit that are needed to handle a return. */
export interface ReturnParts<Tx> {
  store: PaymentStore<Tx>;
  now: () => Date;
  /**
   * Called once for each payment that is not completed, when the browser first comes back to the success
   * address.
   */
  onSuccess?: (clientId: string) => void;
  /** Called for each claim with the result `kept`. */
  onClaim?: (clientId: string) => void;
}

/**
 * Handles a browser that came back. Resolves to the content of the page, or to `undefined` for a token that
 * is forged, unknown or expired. A return never changes the state of a payment. A return to the cancel
 * address closes the attempt for reuse, so that the next checkout starts a new attempt.
 */
export async function handleReturn<Tx>(
  parts: ReturnParts<Tx>,
  { kind, token, visit }: ReturnRequest,
): Promise<ReturnView | undefined> {
  const named = readReturnToken(token);
  if (!named) return undefined;
  const attempts = await findAttempts(parts.store, kind, named.clientId);
  const payment = attempts.find(({ clientId }) => clientId === named.clientId);
  if (!payment || !isReturnTokenOf(payment, named.hash, parts.now())) return undefined;
  if (visit) await noteReturn(parts, kind, payment);
  const since = payment[noteFields[kind]];
  const waitedMs = since === undefined ? 0 : Math.max(0, parts.now().getTime() - Date.parse(since));
  const state = await returnStateOf(parts.store, kind, payment, attempts);
  const canClaim = state === "confirming" && waitedMs >= claimAfterMs;
  const isClaimed = canClaim && (await readClaims(parts.store, payment.clientId)).length > 0;
  const isDelayed = state === "confirming" && waitedMs >= delayedAfterMs;
  const shown = isClaimed ? "claimed" : isDelayed ? "delayed" : state;
  // The page shows the amount of the payment that paid the order.
  const paying = firstPaid(attempts.filter((one) => !isPaidBack(one))) ?? firstPaid(attempts) ?? payment;
  return { kind, state: shown, payment: paying, waitedMs, canClaim };
}

/**
 * Stores the number that a customer gives for a payment that is not confirmed. The number does not change the
 * state of the payment. Resolves to `undefined` for a token that is forged, unknown or expired.
 */
export async function claimPayment<Tx>(
  parts: ReturnParts<Tx>,
  { kind, token, number: text }: PaymentClaimRequest,
): Promise<PaymentClaimOutcome | undefined> {
  const view = await handleReturn(parts, { kind, token, visit: false });
  if (!view?.canClaim) return view && "closed";
  const number = readClaimNumber(text);
  if (number === undefined) return "invalid";
  const { clientId } = view.payment;
  await keepClaim(parts.store, view.payment, { number, at: parts.now().toISOString() });
  parts.onClaim?.(clientId);
  return "kept";
}

/**
 * Returns the payment. If the payment's page may offer another attempt, also returns the order's other
 * payments. If one of them has paid the order, the page offers no other attempt.
 */
async function findAttempts<Tx>(
  store: PaymentStore<Tx>,
  kind: ReturnKind,
  clientId: string,
): Promise<Payment[]> {
  if (kind === "cancel") return store.findMany({ clientIds: [clientId] });
  const payment = await store.find(clientId);
  const isOver = payment?.state === "failed" || payment?.state === "canceled";
  if (isOver) return store.findMany({ clientIds: [clientId] });
  return payment ? [payment] : [];
}

/** The fields that store the time of the first return. */
const noteFields = { success: "successReturnedAt", cancel: "cancelReturnedAt" } as const;

async function noteReturn<Tx>(parts: ReturnParts<Tx>, kind: ReturnKind, seen: Payment): Promise<void> {
  const { store, now, onSuccess } = parts;
  const field = noteFields[kind];
  // A page that reloads itself must not cause a commit each time.
  if (seen[field] !== undefined || seen.state === "completed") return;
  try {
    const isFirst = await store.transaction(async (tx) => {
      const { payments } = await store.lock(tx, { clientIds: [seen.clientId] });
      const payment = payments.find(({ clientId }) => clientId === seen.clientId)!;
      if (payment[field] !== undefined || payment.state === "completed") return false;
      const at = now().toISOString();
      const open = kind === "cancel" ? false : payment.open;
      await store.save(tx, { updated: [{ ...payment, open, [field]: at, updatedAt: at }] });
      return true;
    });
    if (isFirst && kind === "success") onSuccess?.(seen.clientId);
  } catch {
    // The page does not depend on this write, so an error is ignored.
  }
}

async function returnStateOf<Tx>(
  store: PaymentStore<Tx>,
  kind: ReturnKind,
  payment: Payment,
  attempts: readonly Payment[],
): Promise<ReturnState> {
  if (attempts.some(paysOrder)) return "paid";
  if (attempts.some(({ withheld }) => withheld === "unsettled")) return "mismatch";
  return payment.withheld === "refunded" ? "refunded" : unpaidState(store, kind, payment);
}

async function unpaidState<Tx>(
  store: PaymentStore<Tx>,
  kind: ReturnKind,
  { clientId, state }: Payment,
): Promise<ReturnState> {
  if (await hasOpenMismatch(store, clientId)) return "mismatch";
  if (state === "failed" || state === "canceled") return state;
  return kind === "cancel" ? "canceled" : "confirming";
}

async function hasOpenMismatch<Tx>(store: PaymentStore<Tx>, clientId: string): Promise<boolean> {
  return (await store.webhooks({ clientIds: [clientId], need: "mismatched", limit: 1 })).length > 0;
}
