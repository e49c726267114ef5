import { receivedOf } from "../../model/attempts.js";
import { minorUnits } from "../../model/money.js";
import { type Payment } from "../../model/payment.js";
import { isDateTime, offsetMsOf } from "../../shared/date-time.js";
import { type PaymentStore } from "../../store/contract.js";
import { type StatementRow, type UnreadableRow } from "../statement-row.js";

const dayMs = 24 * 60 * 60 * 1000;
const paymentsPerPage = 500;
const maxDays = 3;

/** The clientIds of the payments of one day, two at most for each amount. */
type Day = ReadonlyMap<string, readonly string[]>;
type ReadDay = (start: number) => Promise<Day>;
type Row = StatementRow | UnreadableRow;

/**
 * Returns a function that gives a row without an id the clientId of the payment that it can only mean: by the provider's number, or else
 * by the amount and the day on which it was created. A row that means none or several becomes an unreadable one, which says so.
 */
export function createRowNamer(store: PaymentStore, clientIdPrefix = ""): (row: Row) => Promise<Row> {
  const isOwn = ({ clientId }: Payment): boolean => clientId.startsWith(clientIdPrefix);
  const days = new Map<number, Promise<Day>>();
  const dayOf: ReadDay = (start) => {
    const day = days.get(start) ?? readDay(store, start, isOwn);
    // The days of a statement follow each other, so memory does not grow with it.
    days.delete(start);
    days.set(start, day);
    if (days.size > maxDays) days.delete(days.keys().next().value!);
    return day;
  };
  return async (row) => {
    if ("problem" in row || row.clientId || row.serviceId || row.payout) return row;
    const { providerId } = row;
    const numbered = providerId
      ? (await store.list({ providerId, newestFirst: true, limit: 2 })).filter(isOwn)
      : [];
    if (numbered.length === 1) return { ...row, clientId: numbered[0]!.clientId };
    return nameByDay(row, numbered.length > 0, dayOf);
  };
}

async function nameByDay(row: StatementRow, isNumberTaken: boolean, dayOf: ReadDay): Promise<Row> {
  const { line = 0, providerId, time } = row;
  const key = amountKey(row);
  const number = providerId ? `no payment, or several, have the provider's number ${providerId}, and ` : "";
  const problem = (why: string): UnreadableRow => ({
    line,
    problem: {
      code: "id_missing",
      message: `The row has neither a clientId nor a serviceId: ${number}${why}.`,
    },
  });
  // Where several payments have the number, the amount would choose one of them by chance.
  if (isNumberTaken) return problem("only its clientId would say which one it is");
  if (!time || !isDateTime(time) || key === undefined)
    return problem("it has no amount or no time to find it by");
  const offsetMs = offsetMsOf(time);
  const start = Math.floor((Date.parse(time) + offsetMs) / dayMs) * dayMs - offsetMs;
  const found = (await dayOf(start)).get(key) ?? [];
  if (found.length === 1) return { ...row, clientId: found[0]! };
  const day = time.slice(0, 10);
  return problem(
    found.length === 0 ? `no payment of ${day} has its amount` : `several payments of ${day} have its amount`,
  );
}

/** Returns what a row or a payment is found by; `undefined` for an amount that no payment can have. */
function amountKey({ value, currency }: { value: string; currency: string }): string | undefined {
  try {
    return `${minorUnits(value, currency)} ${currency}`;
  } catch {
    return undefined;
  }
}

async function readDay(
  store: PaymentStore,
  start: number,
  isOwn: (payment: Payment) => boolean,
): Promise<Day> {
  const amounts = new Map<string, string[]>();
  const [from, to] = [start, start + dayMs].map((time) => new Date(time).toISOString());
  let after: { createdAt: string; clientId: string } | undefined;
  for (;;) {
    const query = { from: from!, to: to!, newestFirst: false, limit: paymentsPerPage };
    const page = await store.list({ ...query, ...(after && { after }) });
    for (const payment of page.filter(isOwn)) {
      const key = amountKey(receivedOf(payment))!;
      const some = amounts.get(key) ?? [];
      if (some.length < 2) amounts.set(key, [...some, payment.clientId]);
    }
    const last = page.at(-1);
    if (!last || page.length < paymentsPerPage) return amounts;
    after = { createdAt: last.createdAt, clientId: last.clientId };
  }
}
