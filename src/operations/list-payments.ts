import { timeOf, invalid } from "./query.js";
import { type Payment, type PaymentState } from "../model/payment.js";
import { withoutKey } from "../webhook/recording/payment-events.js";
import { type PaymentStore } from "../store/index.js";
import { isWholeNumber } from "../shared/whole-number.js";
import { storeMethod } from "./store-method.js";

/** Which payments to list: those that match every given condition. */
export interface PaymentQuery {
  state?: PaymentState | undefined;
  reference?: string | undefined;
  /** Created at this time or later. */
  from?: Date | undefined;
  /** Created before this time. */
  to?: Date | undefined;
  /** By the time of creation. @default "newest" */
  first?: "newest" | "oldest" | undefined;
  /** Most payments of one page: 1 to 500. @default 50 */
  limit?: number | undefined;
  /** The `cursor` of the page before; the other conditions must be the same. */
  cursor?: string | undefined;
}

/** One page of payments. */
export interface PaymentList {
  payments: Payment[];
  /** Asks for the next page; absent on the last one. */
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
const mostPerPage = 500;

/**
 * One page of the store's payments, in the order of their creation, those of one moment by clientId. The order never
 * changes, so that no payment is missed or met twice, whatever is added meanwhile.
 */
export async function listPayments<Tx>(
  store: PaymentStore<Tx>,
  query: PaymentQuery = {},
): Promise<PaymentList> {
  const { state, reference, first = "newest", limit = 50 } = query;
  const [from, to] = [timeOf("from", query.from), timeOf("to", query.to)];
  if (state !== undefined && !states.includes(state))
    throw invalid(`state must be one of ${states.join(", ")}.`);
  if (reference !== undefined && typeof reference !== "string") throw invalid("reference must be text.");
  if (first !== "newest" && first !== "oldest") throw invalid('first must be "newest" or "oldest".');
  if (!isWholeNumber(limit, 1, mostPerPage))
    throw invalid(`limit must be a whole number from 1 to ${mostPerPage}.`);
  const after = positionOf(query.cursor);

  const found = await storeMethod(
    store,
    "list",
  )({
    ...(state !== undefined && { state }),
    ...(reference !== undefined && { reference }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(after && { after }),
    newestFirst: first === "newest",
    // One more than asked for, to know whether there is more.
    limit: limit + 1,
  });
  const payments = found.slice(0, limit).map(withoutKey);
  const last = payments.at(-1);
  return { payments, ...(last && found.length > limit && { cursor: cursorOf(last) }) };
}

function cursorOf({ createdAt, clientId }: Payment): string {
  return Buffer.from(JSON.stringify([createdAt, clientId])).toString("base64url");
}

function positionOf(cursor: string | undefined): { createdAt: string; clientId: string } | undefined {
  if (cursor === undefined) return undefined;
  try {
    const [createdAt, clientId] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown[];
    if (typeof createdAt === "string" && typeof clientId === "string") return { createdAt, clientId };
  } catch {
    // Not one of ours; told below.
  }
  throw invalid("cursor must be the one that came with the page before.");
}
