import { isOfShop, receivedOf } from "../../model/attempts.js";
import { minorUnits } from "../../model/money.js";
import { type Payment } from "../../model/payment.js";
import { dayMs, isDateTime, offsetMsOf } from "../../shared/date-time.js";
import { type PaymentStore } from "../../store/contract.js";
import {
  type Candidate,
  type NamedRow,
  type RowProblem,
  type StatementRow,
  type UnreadableRow,
  withoutIds,
} from "../statement-row.js";

const paymentsPerPage = 500;
const maxDays = 3;
const maxCandidates = 5;

/** The payments of one day by their amount, at most five for each amount. */
type Day = ReadonlyMap<string, readonly Payment[]>;
type ReadDay = (start: number) => Promise<Day>;
type Row = NamedRow | UnreadableRow;

/**
 * Returns a function that gives a row without ids the clientId of the only payment that fits. The payment
 * fits by the provider's number, or else by the amount and the day of its creation. If no payment or several
 * payments fit, the row gets the field `unmatched`. The row also gets `unmatched` if the only payment has
 * another number than the row. The row may then be about another payment of the same amount. A row without a
 * known number and without a time stays unchanged.
 */
export function createRowNamer(
  store: PaymentStore,
  clientIdPrefix: string | undefined,
): (row: StatementRow | UnreadableRow) => Promise<Row> {
  const isOwn = (payment: Payment): boolean => isOfShop(payment, clientIdPrefix);
  const days = new Map<number, Promise<Day>>();
  const dayOf: ReadDay = (start) => {
    const day = days.get(start) ?? readDay(store, start, isOwn);
    // The days of a statement usually follow each other, so a few days are enough in memory.
    days.delete(start);
    days.set(start, day);
    if (days.size > maxDays) days.delete(days.keys().next().value!);
    return day;
  };
  return async (row) => {
    if ("problem" in row || row.clientId || row.serviceId || row.payout) return row;
    const { providerId } = row;
    if (providerId && typeof providerId !== "string") return row;
    const numbered = providerId
      ? (await store.list({ providerId, newestFirst: true, limit: maxCandidates })).filter(isOwn)
      : [];
    // If several payments have the number, the amount is not used, because it could select the wrong payment.
    if (numbered.length > 0)
      return nameBy(
        row,
        numbered.map(candidateOf),
        `several payments have the provider's number ${providerId}`,
      );
    return nameByDay(row, dayOf);
  };
}

async function nameByDay(row: StatementRow, dayOf: ReadDay): Promise<NamedRow> {
  const { providerId, time } = row;
  const key = amountKey(row);
  const ms = time && isDateTime(time) ? Date.parse(time) : NaN;
  // `Date` cannot read a leap second, so a row with such a time gets no payment.
  if (!time || Number.isNaN(ms) || key === undefined) return row;
  const offsetMs = offsetMsOf(time);
  const start = Math.floor((ms + offsetMs) / dayMs) * dayMs - offsetMs;
  const day = time.slice(0, 10);
  const number = providerId ? `no payment has the provider's number ${providerId}, and ` : "";
  const found = (await dayOf(start)).get(key) ?? [];
  const candidates = found.map(candidateOf);
  const other = found.length === 1 ? found[0]!.reported?.providerId : undefined;
  if (providerId && other && plain(other) !== plain(providerId))
    return unnamed(row, candidates, `the payment of ${day} with the row's amount has the number ${other}`);
  if (found.length > 0)
    return nameBy(row, candidates, `${number}several payments of ${day} have the row's amount`);
  return nameBy(row, [], `${number}no payment of ${day} has the row's amount`);
}

/** Returns the row with the clientId of the only candidate, or with all candidates and the reason `why`. */
function nameBy(row: StatementRow, candidates: readonly Candidate[], why: string): NamedRow {
  if (candidates.length === 1) return { ...row, clientId: candidates[0]!.clientId };
  return unnamed(row, candidates, why);
}

function unnamed(row: StatementRow, candidates: readonly Candidate[], why: string): NamedRow {
  const names = candidates.map(({ reference, state }) => `${reference} ${state}`);
  if (candidates.length === maxCandidates) names.push("…");
  const list = names.length > 0 ? `: ${names.join(", ")}` : "";
  const problem: RowProblem = { code: "id_missing", message: `${withoutIds}, and ${why}${list}.` };
  return { ...row, unmatched: { problem, candidates } };
}

/**
 * Returns the letters and digits of a number, in capitals. Statements differ in capitals, spaces and signs.
 */
function plain(number: string): string {
  return number.replaceAll(/[^\p{L}\p{N}]/gu, "").toUpperCase();
}

function candidateOf({ clientId, reference, state }: Payment): Candidate {
  return { clientId, reference, state };
}

/** Returns the key of an amount, by which payments are found; `undefined` for an impossible amount. */
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
  const amounts = new Map<string, Payment[]>();
  const [from, to] = [start, start + dayMs].map((time) => new Date(time).toISOString());
  let after: { createdAt: string; clientId: string } | undefined;
  for (;;) {
    const query = { from: from!, to: to!, newestFirst: false, limit: paymentsPerPage };
    const page = await store.list({ ...query, ...(after && { after }) });
    for (const payment of page.filter(isOwn)) {
      const key = amountKey(receivedOf(payment))!;
      const some = amounts.get(key) ?? [];
      if (some.length < maxCandidates) amounts.set(key, [...some, payment]);
    }
    const last = page.at(-1);
    if (!last || page.length < paymentsPerPage) return amounts;
    after = { createdAt: last.createdAt, clientId: last.clientId };
  }
}
