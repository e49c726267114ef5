import { type PaymentState } from "./payment.js";

/**
 * How far along each status is. The interface document names `pending` and `completed`; the others are seen in the
 * field. A status only ever replaces one that stands before it, so any order and multiplicity of webhooks ends in
 * the same state: the farthest one. `failed` and `canceled` stand behind what may still succeed and before
 * `completed`, so that a late success is never dropped.
 */
const ranks: Readonly<Record<string, number>> = {
  __proto__: null as never,
  init: 0,
  pending: 1,
  submitted: 3,
  approved: 4,
  captured: 5,
  failed: 6,
  canceled: 7,
  completed: 8,
};

/** Statuses that nobody told us of: behind `pending`, before all that says more. */
const unknownRank = 2;

/** Whether `next` is news to a payment that stands at `current`. Two unknown statuses are ordered by their text. */
export function isFarther(next: string, current: string | undefined): boolean {
  if (current === undefined) return true;
  const difference = rankOf(next) - rankOf(current);
  return difference === 0 ? next > current : difference > 0;
}

/** The kit's state for a status of the service. */
export function stateOf(status: string): PaymentState {
  if (status === "completed" || status === "failed" || status === "canceled") return status;
  return "pending";
}

/** What `captured` must be for a status, or `undefined` where either may be true. */
export function capturedFor(status: string): boolean | undefined {
  if (status === "completed" || status === "captured") return true;
  return status in ranks ? false : undefined;
}

/** Whether the status is one that the kit knows the meaning of. */
export function isKnownStatus(status: string): boolean {
  return status in ranks;
}

function rankOf(status: string): number {
  return ranks[status] ?? unknownRank;
}
