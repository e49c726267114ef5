import path from "node:path";
import { type Payment, type Payments, type PaymentsOptions, type SignedField } from "tillkit";
import { type SqlTx } from "tillkit/sql";
import { openStore, placeholders, type Place } from "../processes/databases.js";
import { appOf, serve, testKit } from "../../support/kit.js";
import { completedBody, pendingPayment, signed, type WebhookBody } from "../../support/webhooks.js";

/** A shop in the process of the test, with the tables of a place and a real server. */
export interface Shop {
  payments: Payments<SignedField, SqlTx>;
  /** Sends one webhook. Resolves with the status of the answer. */
  post(this: void, body: WebhookBody): Promise<number>;
  /** Sends bytes with these headers. Resolves with the status of the answer. */
  postSigned(this: void, headers: Record<string, string>, rawBody: Buffer): Promise<number>;
}

/** A claim whose answer was lost waits for this time, so it is short where connections break. */
export const leaseMs = 5000;

/** Opens a shop. Its handler, where it dispatches, writes to the ledger. `closeAll` closes it. */
export async function openShop(
  place: Place,
  {
    url = place.address.url,
    ...options
  }: Partial<PaymentsOptions<SignedField, SqlTx>> & { url?: string } = {},
): Promise<Shop> {
  const payments = testKit<SignedField, SqlTx>({
    store: openStore({ ...place.address, url }),
    spool: { directory: path.join(place.folder, "spool") },
    webhook: { recordTimeoutMs: 500 },
    dispatch: { leaseMs, pollMs: 20, firstDelayMs: 10, maxDelayMs: 50 },
    ...options,
  });
  payments.onPaymentCompleted(ledgerOf(place), { name: "books" });
  await payments.start({ keepAlive: false });
  const address = await serve(appOf(payments));
  const postSigned: Shop["postSigned"] = async (headers, rawBody) => {
    const body = new Uint8Array(rawBody);
    const answer = await fetch(`${address}/payments/webhook`, { method: "POST", headers, body });
    await answer.arrayBuffer();
    return answer.status;
  };
  return {
    payments,
    postSigned,
    post(body) {
      const { headers, rawBody } = signed(body);
      return postSigned(headers, rawBody);
    },
  };
}

/** Returns a handler that writes a row for each run that commits. */
export function ledgerOf({ address: { prefix } }: Place) {
  return async (
    { id, payment }: { id: string; payment: Payment },
    { tx, attempt, idempotencyKey }: { tx: SqlTx; attempt: number; idempotencyKey: string },
  ): Promise<void> => {
    await tx.query(
      `insert into ${prefix}ledger (name, client_id, event_id, attempt, idempotency_key)
        values (${placeholders(tx, 5)})`,
      ["books", payment.clientId, id, attempt, idempotencyKey],
    );
  };
}

/** Stores pending payments `c-0`, `c-1`, …. */
export async function seedPayments({ store }: Place, count: number): Promise<void> {
  const created = Array.from({ length: count }, (_, n) =>
    pendingPayment({ clientId: `c-${n}`, reference: `order-${n}`, serviceId: `s-${n}` }),
  );
  await store.transaction((tx) => store.save(tx, { created }));
}

/** Returns the webhook that completes payment `c-n`. */
export function completionOf(n: number): WebhookBody {
  return completedBody({ clientId: `c-${n}`, id: `s-${n}` });
}
