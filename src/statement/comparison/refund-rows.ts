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
 * Returns a key that is equal for the same refund in another statement, or an empty text for a row that shows neither its time nor its
 * number at the provider: such rows look equal.
 */
export function refundRowKey({ providerId, time, value, currency }: CheckedRow): string {
  if (!providerId && !time) return "";
  const facts = JSON.stringify([providerId ?? "", time ?? "", value, currency]);
  const digest = createHash("sha256").update(facts).digest("hex").slice(0, 24);
  // In a payment's history, a person looks for the number. It alone is no key: partial refunds may share it.
  return prefix + (providerId ? `${providerId.slice(0, 100)}:` : "") + digest;
}

/** Finds the refunds of a statement that are not recorded. The rows of one payment come one after the other. */
export class RefundRows {
  readonly #store: PaymentStore;
  readonly #run: RunState;
  #payment: Payment | undefined;
  /** The refunds of this payment that no row has named yet. `undefined`: an earlier version recorded one without its amount. */
  #recorded: Refund[] | undefined = [];
  /** How often each key came. */
  readonly #keys = new Map<string, number>();

  constructor(store: PaymentStore, run: RunState) {
    this.#store = store;
    this.#run = run;
  }

  /** Returns the findings without refunds that are recorded, and the others with their keys and the stored payment. */
  async unrecorded(found: readonly StatementFinding[]): Promise<StatementFinding[]> {
    const left: StatementFinding[] = [];
    const keys = new Set(found.map(({ key }) => key));
    for (const finding of found)
      if (finding.kind !== "refund_missing_here") left.push(finding);
      else left.push(...(await this.#look(finding, keys)));
    return left;
  }

  /** `keys` are those of the neighbouring rows. */
  async #look(finding: StatementFinding, keys: ReadonlySet<string | undefined>): Promise<StatementFinding[]> {
    const { clientId, statement } = finding;
    if (this.#payment?.clientId !== clientId) await this.#read(clientId!);
    const key = finding.key && this.#numbered(finding.key);
    if (this.#recorded === undefined) return [];
    // One with this key and another amount was recorded wrongly.
    const sameKey = this.#recorded.findIndex(
      (one) => key !== undefined && one.key === key && sameTotal(one.amount, statement!),
    );
    // A person may have recorded it before the statement came.
    const isOne = (one: Refund): boolean => !one.key?.startsWith(prefix) && sameTotal(one.amount, statement!);
    const index = sameKey >= 0 ? sameKey : this.#recorded.findIndex(isOne);
    if (index >= 0) {
      this.#recorded.splice(index, 1);
      return [];
    }
    this.#run.count("refund_missing_here");
    // With other columns or another UTC offset, the same row has another key, and would be recorded once more.
    const recordedKey = this.#recorded.find(
      (one) => sameTotal(one.amount, statement!) && !keys.has(one.key),
    )?.key;
    const stored = storedSide(this.#payment!);
    return [newFinding({ ...finding, key: recordedKey === undefined ? key : "", recordedKey, stored })];
  }

  /** Equal rows of one statement are several refunds. */
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
