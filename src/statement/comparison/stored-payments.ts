import { findClaimed } from "../../checkout/payment-claims.js";
import { isOfShop, receivedOf } from "../../model/attempts.js";
import { type Payment } from "../../model/payment.js";
import { type PaymentStore } from "../../store/contract.js";
import { type Matches } from "./compare-row.js";
import { dayMs, sortableTime } from "../../shared/date-time.js";
import { type Period, type ResolvedStatementOptions } from "../../operations/statement-options.js";
import { type StatementFinding } from "../result/finding.js";
import { type RunState } from "./run-state.js";
import { paymentEntry } from "./sort-entries.js";
import { type StatementRow } from "../statement-row.js";

const paymentsPerPage = 500;

type Ids = Pick<StatementRow, "clientId" | "serviceId">;

/** Stored payments by their ids and by their reference. */
export class StoredPayments {
  readonly #byClientId = new Map<string, Payment>();
  readonly #byServiceId = new Map<string, Payment>();
  readonly #byReference = new Map<string, Payment[]>();

  constructor(payments: readonly Payment[]) {
    for (const payment of payments) {
      if (this.#byClientId.has(payment.clientId)) continue;
      this.#byClientId.set(payment.clientId, payment);
      if (payment.serviceId !== undefined) this.#byServiceId.set(payment.serviceId, payment);
      const siblings = this.#byReference.get(payment.reference);
      if (siblings) siblings.push(payment);
      else this.#byReference.set(payment.reference, [payment]);
    }
  }

  matching({ clientId, serviceId }: Ids): Matches {
    return {
      byClientId: clientId ? this.#byClientId.get(clientId) : undefined,
      byServiceId: serviceId ? this.#byServiceId.get(serviceId) : undefined,
    };
  }

  /** Returns all payments with the reference of this payment, including this payment. */
  siblingsOf({ reference }: Payment): readonly Payment[] {
    return this.#byReference.get(reference) ?? [];
  }
}

/**
 * Reads the payments of a batch of rows from the store, by clientId. Then reads payments by the serviceId of
 * each row without such a payment. Does the same for each row whose payment has no serviceId, because the
 * row's serviceId may belong to another payment.
 */
export async function findPayments(store: PaymentStore, rows: readonly Ids[]): Promise<StoredPayments> {
  const clientIds = distinct(rows.map(({ clientId }) => clientId));
  const found = clientIds.length > 0 ? [...(await store.findMany({ clientIds }))] : [];
  const known = new Set(
    found.flatMap(({ clientId, serviceId }) => (serviceId === undefined ? [] : [clientId])),
  );
  const left = rows.filter(({ clientId }) => !clientId || !known.has(clientId));
  const serviceIds = distinct(left.map(({ serviceId }) => serviceId));
  if (serviceIds.length > 0) found.push(...(await store.findMany({ serviceIds })));
  return new StoredPayments(found);
}

function distinct(ids: readonly (string | undefined)[]): string[] {
  return [...new Set(ids.filter((id) => id !== undefined && id !== ""))] as string[];
}

/**
 * Adds `other` to the findings of rows without a completed payment: the clientId of the only other payment
 * whose customer gave the row's number.
 */
export async function nameClaimants(store: PaymentStore, found: readonly StatementFinding[]): Promise<void> {
  const open = found.filter(({ kind }) => kind === "missing_here" || kind === "unpaid_here");
  const numbered = open.filter(({ other, providerId }) => other === undefined && providerId !== undefined);
  const claimed = await findClaimed(store, distinct(numbered.map(({ providerId }) => providerId)));
  for (const finding of numbered) {
    const others = claimed(finding.providerId!).filter(({ clientId }) => clientId !== finding.clientId);
    if (others.length === 1) finding.other = others[0]!.clientId;
  }
}

/**
 * Adds every stored payment that was completed in the period to the run. `list` selects by the time of
 * creation. So the function reads all completed payments that were created until one day after the period.
 */
export async function addCompletedPayments(
  store: PaymentStore,
  run: RunState,
  period: Period,
  { createdFrom, clientIdPrefix }: ResolvedStatementOptions,
): Promise<void> {
  // If the clock was put back after the creation, the creation looks later than the completion. So one day
  // more is read.
  const to = sortableTime(new Date(Date.parse(period.to) + dayMs));
  const query = { state: "completed", to, newestFirst: false, limit: paymentsPerPage } as const;
  const from = createdFrom && { from: createdFrom };
  let after: { createdAt: string; clientId: string } | undefined;
  for (;;) {
    const page = await store.list({ ...query, ...from, ...(after && { after }) });
    for (const payment of page) {
      const completedAt = payment.completedAt ?? payment.updatedAt;
      if (completedAt < period.from || completedAt >= period.to) continue;
      if (!isOfShop(payment, clientIdPrefix)) {
        run.completedElsewhere += 1;
        continue;
      }
      run.completed += 1;
      run.totals.addPayment("stored", receivedOf(payment));
      await run.entries.add(paymentEntry(payment, completedAt));
    }
    run.reportProgress("stored", page.length);
    const last = page.at(-1);
    if (!last || page.length < paymentsPerPage) return;
    after = { createdAt: last.createdAt, clientId: last.clientId };
  }
}
