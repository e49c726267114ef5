import { withoutUndefined } from "../../shared/without-undefined.js";
import { type NamesOf } from "../../shared/unknown-names.js";
import { cursorAt, cursorPosition, expectLimit, queryError, queryTimes, refuseUnknown } from "./query.js";
import { type Payment, type PaymentState } from "../../model/payment.js";
import { withoutKey } from "../../webhook/recording/payment-events.js";
import { findClaimed } from "../../checkout/payment-claims.js";
import { type PaymentPage, type PaymentStore } from "../../store/index.js";
import { byCreation, isOnPaymentPage } from "../../store/rules/payments.js";

/** Selects payments that match every given condition. */
export interface PaymentQuery {
  /** The payment's state. */
  state?: PaymentState | undefined;
  /** Your order id. */
  reference?: string | undefined;
  /** `reported.providerId`, whether it is verified or not. */
  providerId?: string | undefined;
  /**
   * A number that a customer gave on the return page, or that accepted evidence has. Case, spaces and signs
   * may differ. Selects at most 20 payments.
   */
  claimed?: string | undefined;
  /** Selects payments that were created at this time or later. */
  from?: Date | undefined;
  /** Selects payments that were created before this time. */
  to?: Date | undefined;
  /** The order, by the time of creation. @default "newest" */
  first?: "newest" | "oldest" | undefined;
  /** The number of payments on one page: 1 to 500. @default 50 */
  limit?: number | undefined;
  /** The `cursor` of the previous page. The other conditions must be the same. */
  cursor?: string | undefined;
}

/** One page of payments. */
export interface PaymentList {
  /** The payments of this page, in the order that was asked for. */
  payments: Payment[];
  /** The cursor of the next page; absent on the last page. */
  cursor?: string;
}

const states: readonly PaymentState[] = [
  "creating",
  "pending",
  "uncertain",
  "failed",
  "canceled",
  "completed",
];
const maxPerPage = 500;

/**
 * Returns one page of the stored payments in the order of their creation, then of their clientId. This order
 * never changes, so no payment is missed or returned twice while other payments are added.
 */
export async function listPayments<Tx>(
  store: PaymentStore<Tx>,
  query: PaymentQuery = {},
): Promise<PaymentList> {
  const { state, reference, providerId, claimed, from, to, first = "newest", limit = 50, cursor } = query;
  const names = { state, reference, providerId, claimed, from, to, first, limit, cursor };
  refuseUnknown(query, names satisfies NamesOf<PaymentQuery>);
  const period = queryTimes({ from, to });
  if (state !== undefined && !states.includes(state))
    throw queryError(`state must be one of ${states.join(", ")}.`);
  for (const [name, value] of Object.entries({ reference, providerId, claimed }))
    if (value !== undefined && typeof value !== "string") throw queryError(`${name} must be a string.`);
  if (first !== "newest" && first !== "oldest") throw queryError('first must be "newest" or "oldest".');
  expectLimit(limit, maxPerPage);
  const position = cursor === undefined ? undefined : cursorPosition(cursor, isPlaceOfPayment);
  const after = position && { createdAt: position[0], clientId: position[1] };

  const page = {
    ...withoutUndefined({ state, reference, providerId, ...period, after }),
    newestFirst: first === "newest",
    // One payment more than requested shows whether there is a next page.
    limit: limit + 1,
  };
  const found = await (claimed === undefined ? store.list(page) : listClaimed(store, claimed, page));
  const payments = found.slice(0, limit).map(withoutKey);
  const last = payments.at(-1);
  return {
    payments,
    ...(last && found.length > limit && { cursor: cursorAt([last.createdAt, last.clientId]) }),
  };
}

async function listClaimed<Tx>(
  store: PaymentStore<Tx>,
  number: string,
  page: PaymentPage,
): Promise<Payment[]> {
  const found = (await findClaimed(store, [number]))(number)
    .filter((payment) => isOnPaymentPage(page, payment))
    .toSorted(byCreation);
  return (page.newestFirst ? found.toReversed() : found).slice(0, page.limit);
}

function isPlaceOfPayment(value: unknown): value is [createdAt: string, clientId: string] {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "string");
}
