import { createHash } from "node:crypto";
import { sameTotal } from "../../model/attempts.js";
import { type Payment, type Refund } from "../../model/payment.js";
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

/** Finds refunds of a statement that are not recorded. The rows of a payment must follow each other. */
export class RefundRows {
  readonly #store: PaymentStore;
  readonly #run: RunState;
  #payment: Payment | undefined;
  /** The recorded refunds that no row has named yet; `undefined` if one was recorded without its amount. */
  #recorded: Refund[] | undefined = [];
  /** The number of rows with each key. */
  readonly #keys = new Map<string, number>();

  constructor(store: PaymentStore, run: RunState) {
    this.#store = store;
    this.#run = run;
  }

  /**
   * Leaves out the findings about recorded refunds. The other findings about refunds get a key and the stored
   * payment.
   */
  async unrecorded(found: readonly StatementFinding[]): Promise<StatementFinding[]> {
    const left: StatementFinding[] = [];
    const keys = new Set(found.map(({ key }) => key));
    for (const finding of found)
      if (finding.kind !== "refund_missing_here") left.push(finding);
      else left.push(...(await this.#look(finding, keys)));
    return left;
  }

  /** Returns the finding if its refund is not recorded. `keys` are the keys of the neighbouring findings. */
  async #look(finding: StatementFinding, keys: ReadonlySet<string | undefined>): Promise<StatementFinding[]> {
    const { clientId, statement } = finding;
    if (this.#payment?.clientId !== clientId) await this.#read(clientId!);
    const key = finding.key && this.#numbered(finding.key);
    if (this.#recorded === undefined) return [];
    // A recorded refund with this key and another amount was recorded wrongly, so it does not count.
    const sameKey = this.#recorded.findIndex(
      (one) => key !== undefined && one.key === key && sameTotal(one.amount, statement!),
    );
    // A person may have recorded the refund, without the key of a row, before the statement came.
    const isOne = (one: Refund): boolean => !one.key?.startsWith(prefix) && sameTotal(one.amount, statement!);
    const index = sameKey >= 0 ? sameKey : this.#recorded.findIndex(isOne);
    if (index >= 0) {
      this.#recorded.splice(index, 1);
      return [];
    }
    this.#run.count("refund_missing_here");
    // If an earlier statement was read with other columns or another UTC offset, this row had another key
    // then. So a recorded refund of the same amount with another key may be the refund of this row.
    const recordedKey = this.#recorded.find(
      (one) => sameTotal(one.amount, statement!) && !keys.has(one.key),
    )?.key;
    const stored = storedSide(this.#payment!);
    return [newFinding({ ...finding, key: recordedKey === undefined ? key : "", recordedKey, stored })];
  }

  /** Returns the key of a row. Each later equal row gets a number, because equal rows are several refunds. */
  #numbered(key: string): string {
    const count = (this.#keys.get(key) ?? 0) + 1;
    this.#keys.set(key, count);
    return count === 1 ? key : `${key}:${count}`;
  }

  async #read(clientId: string): Promise<void> {
    this.#payment = await this.#store.find(clientId);
    const { resolutions } = await this.#store.history(clientId);
    const refunds = resolutions.filter(({ action }) => action === "refunded").map(({ refund }) => refund);
    this.#recorded = refunds.every((one) => one !== undefined) ? refunds : undefined;
    this.#keys.clear();
  }
}
