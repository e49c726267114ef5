import { type PaymentState } from "./payment.js";

/**
 * The rank of each status. A status replaces a status of a lower rank, and one of the same rank that is
 * earlier in the alphabet. So webhooks lead to the same state in any order, even if some webhooks are
 * repeated. The interface document has `pending` and `completed`. Services use the other statuses too, with
 * both spellings of `canceled`. Statuses that end without payment rank below `completed`, so that a late
 * success counts.
 */
const ranks: Readonly<Record<string, number>> = {
  __proto__: null as never,
  init: 0,
  pending: 1,
  submitted: 3,
  approved: 4,
  captured: 5,
  expired: 6,
  failed: 6,
  canceled: 7,
  cancelled: 7,
  completed: 8,
};

/** The rank of a status that the kit does not know: just above `pending`. */
const unknownRank = 2;

/** Returns whether the status `next` ranks above `current`. The order of equal ranks is alphabetical. */
export function isFarther(next: string, current: string | undefined): boolean {
  if (current === undefined) return true;
  const difference = rankOf(next) - rankOf(current);
  return difference === 0 ? next > current : difference > 0;
}

/** Returns the kit's state for a status of the service. An unknown status becomes `pending`. */
export function stateOf(status: string): PaymentState {
  if (status === "completed" || status === "failed" || status === "canceled") return status;
  if (status === "expired") return "failed";
  return status === "cancelled" ? "canceled" : "pending";
}

/** Returns the value that `captured` must have with this status, or `undefined` if both values are valid. */
export function capturedFor(status: string): boolean | undefined {
  if (status === "completed" || status === "captured") return true;
  return status in ranks ? false : undefined;
}

/** The statuses that the kit knows. */
export const rankedStatuses: readonly string[] = Object.keys(ranks);

/** Returns whether the kit has a rank for the status. */
export function isKnownStatus(status: string): boolean {
  return status in ranks;
}

function rankOf(status: string): number {
  return ranks[status] ?? unknownRank;
}
