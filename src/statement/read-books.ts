import { TillkitError } from "../errors/index.js";
import { type PaymentStore } from "../store/payment-store.js";
import { type Ledger } from "./ledger.js";
import { paymentMark } from "./marks.js";
import { type Period, type ResolvedReconcileOptions } from "./options.js";

const pagePayments = 500;

/**
 * Marks every payment that the books completed in the period. A listing goes by the time of creation, and a payment can be
 * completed long after it, so everything completed is read that was created before the period's end.
 *
 * @throws TillkitError `store_method_missing` where the store has no `list`
 */
export async function readBooks(
  store: PaymentStore,
  ledger: Ledger,
  period: Period,
  { createdFrom, clientIdPrefix = "" }: ResolvedReconcileOptions,
): Promise<void> {
  if (!store.list) throw incapable();
  const which = { state: "completed", to: period.to, newestFirst: false, limit: pagePayments } as const;
  let after: { createdAt: string; clientId: string } | undefined;
  for (;;) {
    const page = await store.list({
      ...which,
      ...(createdFrom && { from: createdFrom }),
      ...(after && { after }),
    });
    for (const payment of page) {
      const completedAt = payment.completedAt ?? payment.updatedAt;
      if (completedAt < period.from || completedAt >= period.to) continue;
      if (!payment.clientId.startsWith(clientIdPrefix)) continue;
      ledger.books += 1;
      ledger.totals.addPayment("books", payment.total);
      await ledger.marks.add(paymentMark(payment, completedAt));
    }
    ledger.report("books", page.length);
    const last = page.at(-1);
    if (!last || page.length < pagePayments) return;
    after = { createdAt: last.createdAt, clientId: last.clientId };
  }
}

function incapable(): TillkitError {
  return new TillkitError(
    "store_method_missing",
    "The store has no `list`, so what is missing on the statement cannot be told.",
  );
}
