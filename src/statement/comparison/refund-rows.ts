import { createHash } from "node:crypto";
import { sameTotal } from "../../model/attempts.js";
import { type Refund } from "../../model/payment.js";
import { readEveryPage } from "../../operations/reading/history-page.js";
import { type PaymentStore } from "../../store/contract.js";
import { newFinding, type StatementFinding } from "../result/finding.js";
import { type CheckedRow } from "../statement-row.js";
import { storedSide } from "./compare-row.js";
import { type RunState } from "./run-state.js";

const prefix = "row:";

/**
 * Returns the key of a refund. The key is equal in every statement that lists the refund with the same time,
 * provider's number and amount. Returns an empty text if the row has neither a time nor a provider's number,
 * because such rows look equal.
 */
export function refundRowKey({ providerId, time, value, currency }: CheckedRow): string {
  if (!providerId && !time) return "";
  const facts = JSON.stringify([providerId ?? "", time ?? "", value, currency]);
  const digest = createHash("sha256").update(facts).digest("hex").slice(0, 24);
  // The key contains the number, because people search for it. The number is not sufficient as a key, because
  // partial refunds may share it.
  return prefix + (providerId ? `${providerId.slice(0, 100)}:` : "") + digest;
}

/**
 * Leaves out the findings about recorded refunds. The other findings about refunds get a key and the stored
 * payment. The findings about refunds of one payment must be complete, and must follow each other.
 */
export async function unrecordedRefunds(
  store: PaymentStore,
  run: RunState,
  found: readonly StatementFinding[],
): Promise<StatementFinding[]> {
  const left: StatementFinding[] = [];
  for (let start = 0, end = 0; start < found.length; start = end) {
    const { kind, clientId } = found[start]!;
    while (end < found.length && found[end]!.kind === kind && found[end]!.clientId === clientId) end += 1;
    const group = found.slice(start, end);
    left.push(...(kind === "refund_missing_here" ? await unrecordedOf(clientId!, group, store, run) : group));
  }
  return left;
}

/** Returns the findings about refunds of one payment that are not recorded. */
async function unrecordedOf(
  clientId: string,
  found: readonly StatementFinding[],
  store: PaymentStore,
  run: RunState,
): Promise<StatementFinding[]> {
  const payment = (await store.find(clientId))!;
  const { resolutions } = await readEveryPage(store, clientId);
  const refunds = resolutions.filter(({ action }) => action === "refunded").map(({ refund }) => refund);
  /** The recorded refunds that no row has named yet. */
  const recorded = refunds.filter((one) => one !== undefined);
  // If a refund was recorded without its amount, no row can be compared.
  if (recorded.length < refunds.length) return [];
  const rows = withNumberedKeys(found);
  const keys = new Set(rows.map(({ key }) => key));
  return rows.flatMap((row) => {
    const { key } = row;
    const amount = row.statement!;
    // A recorded refund with this key and another amount was recorded wrongly, so it does not count.
    const sameKey = recorded.findIndex(
      (one) => key !== undefined && one.key === key && sameTotal(one.amount, amount),
    );
    // A person may have recorded the refund, without the key of a row, before the statement came.
    const isOne = (one: Refund): boolean => !one.key?.startsWith(prefix) && sameTotal(one.amount, amount);
    const index = sameKey >= 0 ? sameKey : recorded.findIndex(isOne);
    if (index >= 0) {
      recorded.splice(index, 1);
      return [];
    }
    run.count("refund_missing_here");
    // If an earlier statement was read with other columns or another UTC offset, this row had another key
    // then. So a recorded refund of the same amount with another key may be the refund of this row.
    const recordedKey = recorded.find((one) => sameTotal(one.amount, amount) && !keys.has(one.key))?.key;
    const stored = storedSide(payment);
    return [newFinding({ ...row, key: recordedKey === undefined ? key : "", recordedKey, stored })];
  });
}

/**
 * Returns the findings with the keys of their rows. Each later equal row gets a number, because equal rows
 * are several refunds.
 */
function withNumberedKeys(found: readonly StatementFinding[]): StatementFinding[] {
  const counts = new Map<string, number>();
  return found.map((finding) => {
    const { key } = finding;
    if (!key) return finding;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count === 1 ? finding : { ...finding, key: `${key}:${count}` };
  });
}
