import { decimalOf, minorUnits } from "../../model/money.js";
import { newFinding, type StatementFinding } from "../result/finding.js";
import { type CheckedRow } from "../statement-row.js";
import { type RunState } from "./run-state.js";

/** Adds the money of a row to its payout: the net amount of a payment or refund, or the paid-out amount. */
export async function addToPayout(run: RunState, row: CheckedRow): Promise<void> {
  const { payout, kind, line, currency, paid } = row;
  if (!paid) return;
  const units = kind === "payout" ? unitsOf(row.value, currency) : netOf(row);
  await run.payouts.add(JSON.stringify([currency, payout, kind === "payout" ? 0 : 1, line, `${units}`]));
}

/**
 * Adds the fee and the net amount of a row to the sums. Returns a finding if the gross amount minus the fee
 * is not the net amount.
 */
export function addFees(run: RunState, row: CheckedRow, reference?: string): StatementFinding[] {
  const { kind, line, clientId, serviceId, providerId, source, value, currency, fee, net } = row;
  if (!row.paid) return [];
  const add = (name: "refunds" | "fees" | "net" | "payouts", units: bigint): void =>
    run.totals.addMoney(name, units, currency);
  if (kind === "payout") {
    add("payouts", unitsOf(value, currency));
    return [];
  }
  if (kind === "refund") add("refunds", unitsOf(value, currency));
  if (fee !== undefined) add("fees", grossOf(row) - netWithFee(row));
  add("net", netOf(row));
  if (fee === undefined || net === undefined) return [];
  const got = unitsOf(net, currency);
  if (got === netWithFee(row) || got === grossOf(row) - unitsOf(fee, currency)) return [];
  run.count("fee_differs");
  const difference = decimalOf(got - netWithFee(row), currency);
  const ids = { clientId, serviceId, providerId, reference };
  const statement = { value: kind === "refund" ? `-${value}` : value, currency };
  return [newFinding({ kind: "fee_differs", line, ...ids, source, statement, fee, net, difference })];
}

/** Yields payouts whose amount is not the sum of their rows. Reads the sorted rows in batches. */
export async function* findPayouts(run: RunState): AsyncGenerator<StatementFinding, void, undefined> {
  let group: Payout | undefined;
  for await (const lines of run.payouts.sorted()) {
    for (const text of lines) {
      const [currency, payout, side, line, units] = JSON.parse(text) as [
        string,
        string,
        0 | 1,
        number,
        string,
      ];
      if (group?.currency !== currency || group.payout !== payout) {
        yield* findingOf(run, group);
        group = { currency, payout, line, positive: 0n, negative: 0n, rows: 0n, isListed: false };
      }
      group.isListed ||= side === 0;
      const amount = BigInt(units);
      if (side === 1) group.rows += amount;
      else if (amount < 0n) group.negative += amount;
      else group.positive += amount;
    }
  }
  yield* findingOf(run, group);
}

/** The rows of one payout in one currency. */
interface Payout {
  currency: string;
  payout: string;
  /** The line of the payout itself, if the statement lists it. */
  line: number;
  /** The sums of the payout's own rows, by their signs. */
  positive: bigint;
  negative: bigint;
  /** The sum of the net amounts of the other rows. */
  rows: bigint;
  isListed: boolean;
}

function findingOf(run: RunState, group: Payout | undefined): StatementFinding[] {
  if (!group?.isListed) return [];
  const { currency, payout, line, positive, negative, rows } = group;
  // Some statements write payouts with a minus, because the money leaves the account. A row with a plus is
  // then a payment without ids. The payment must not count as a part of the payout.
  const sum = negative === 0n ? positive : negative;
  if (rows === sum || rows === -sum) return [];
  const paidOut = sum < 0n && rows > 0n ? -sum : sum;
  run.count("payout_differs");
  const statement = { value: decimalOf(paidOut, currency), currency };
  const difference = decimalOf(paidOut - rows, currency);
  return [newFinding({ kind: "payout_differs", line, payout, statement, difference })];
}

function grossOf({ kind, value, currency }: CheckedRow): bigint {
  return unitsOf(kind === "refund" ? `-${value}` : value, currency);
}

/** Returns the gross amount minus the fee. The fee may be written with or without a minus. */
function netWithFee(row: CheckedRow): bigint {
  const fee = unitsOf(row.fee ?? "0", row.currency);
  return grossOf(row) - (fee < 0n ? -fee : fee);
}

function netOf(row: CheckedRow): bigint {
  return row.net === undefined ? netWithFee(row) : unitsOf(row.net, row.currency);
}

function unitsOf(value: string, currency: string): bigint {
  return value.startsWith("-") ? -minorUnits(value.slice(1), currency) : minorUnits(value, currency);
}
