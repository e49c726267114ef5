import { type Payment } from "../model/payment.js";
import { isReturnTokenOf, readReturnToken } from "./return-token.js";
import { type PaymentStore } from "../store/index.js";

/** Which of the two addresses the browser came back to. */
export type ReturnKind = "success" | "cancel";

/** A browser that came back. */
export interface ReturnRequest {
  kind: ReturnKind;
  /** The last part of the address. */
  token: string;
  /** Whether a person came back. False for HEAD requests and prefetches, which are not noted. */
  visit: boolean;
}

/** What to show to the customer. `confirming`: the browser came back to success, and no webhook has decided yet. */
export type ReturnState = "confirming" | "paid" | "canceled" | "failed";

/** The result of a return: what to show, or where to redirect. */
export interface ReturnView {
  kind: ReturnKind;
  state: ReturnState;
  payment: Payment;
}

/** The parts of the kit that handling a return uses. */
export interface ReturnParts<Tx> {
  store: PaymentStore<Tx>;
  now: () => Date;
  /** Called once for each unpaid payment, when its browser first comes back to the success address. */
  onSuccess?: (clientId: string) => void;
}

/**
 * Handles a browser that came back. Resolves to the stored state of the payment, or to `undefined` for a token that is
 * forged, unknown or expired. A return never decides a payment. A cancel return closes the attempt for reuse, so that the
 * next checkout starts a new one.
 */
export async function handleReturn<Tx>(
  parts: ReturnParts<Tx>,
  { kind, token, visit }: ReturnRequest,
): Promise<ReturnView | undefined> {
  const named = readReturnToken(token);
  if (!named) return undefined;
  const payment = await parts.store.find(named.clientId);
  if (!payment || !isReturnTokenOf(payment, named.hash, parts.now())) return undefined;
  if (visit) await noteReturn(parts, kind, payment);
  return { kind, state: stateFor(kind, payment), payment };
}

async function noteReturn<Tx>(parts: ReturnParts<Tx>, kind: ReturnKind, seen: Payment): Promise<void> {
  const { store, now, onSuccess } = parts;
  const field = kind === "success" ? "successReturnedAt" : "cancelReturnedAt";
  // A page that reloads itself must not cost a commit each time.
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
    // The page does not depend on the note.
  }
}

function stateFor(kind: ReturnKind, { state }: Payment): ReturnState {
  if (state === "completed") return "paid";
  if (state === "failed" || state === "canceled") return state;
  return kind === "cancel" ? "canceled" : "confirming";
}
