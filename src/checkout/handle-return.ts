import { type Payment } from "../model/payment.js";
import { isReturnTokenOf, readReturnToken } from "./return-token.js";
import { type PaymentStore } from "../store/index.js";

/** Which of the two addresses the browser came back to. */
export type ReturnKind = "success" | "cancel";

/** A browser coming back. */
export interface ReturnRequest {
  kind: ReturnKind;
  /** The last part of the address. */
  token: string;
  /** Whether a person is looking: false for HEAD requests and prefetches, which note nothing. */
  visit: boolean;
}

/**
 * What to tell the customer. `confirming`: the browser says it went well, and the webhook, which decides, is not
 * here yet.
 */
export type ReturnState = "confirming" | "paid" | "canceled" | "failed";

/** What to show or where to redirect. */
export interface ReturnView {
  kind: ReturnKind;
  state: ReturnState;
  payment: Payment;
}

/** What handling returns needs. */
export interface Returning<Tx> {
  store: PaymentStore<Tx>;
  now: () => Date;
  /** Called once for each payment, when its browser first comes back to the success address before it is paid. */
  onSuccess?: (clientId: string) => void;
}

/**
 * The customer's way back. Resolves to what the store knows about the payment, or to `undefined` for a token that is
 * forged, unknown or expired. A return never decides anything: only a cancel return closes the attempt for
 * reuse, so that the next checkout starts a new one.
 */
export async function handleReturn<Tx>(
  kit: Returning<Tx>,
  { kind, token, visit }: ReturnRequest,
): Promise<ReturnView | undefined> {
  const named = readReturnToken(token);
  if (!named) return undefined;
  const payment = await kit.store.find(named.clientId);
  if (!payment || !isReturnTokenOf(payment, named.hash, kit.now())) return undefined;
  if (visit) await noteReturn(kit, kind, payment);
  return { kind, state: stateFor(kind, payment), payment };
}

async function noteReturn<Tx>(kit: Returning<Tx>, kind: ReturnKind, seen: Payment): Promise<void> {
  const { store, now, onSuccess } = kit;
  const field = kind === "success" ? "successReturnedAt" : "cancelReturnedAt";
  // Writing costs the database a commit; a page that reloads itself must not pay it each time.
  if (seen[field] !== undefined || seen.state === "completed") return;
  try {
    const isFirst = await store.transaction(async (tx) => {
      const { payments } = await store.lock(tx, { clientIds: [seen.clientId] });
      const payment = payments.find(({ clientId }) => clientId === seen.clientId);
      if (!payment || payment[field] !== undefined || payment.state === "completed") return false;
      const at = now().toISOString();
      const open = kind === "cancel" ? false : payment.open;
      await store.save(tx, { updated: [{ ...payment, open, [field]: at, updatedAt: at }] });
      return true;
    });
    if (isFirst && kind === "success") onSuccess?.(seen.clientId);
  } catch {
    // The note is a courtesy; the customer's page is not worth less without it.
  }
}

function stateFor(kind: ReturnKind, { state }: Payment): ReturnState {
  if (state === "completed") return "paid";
  if (state === "failed" || state === "canceled") return state;
  return kind === "cancel" ? "canceled" : "confirming";
}
