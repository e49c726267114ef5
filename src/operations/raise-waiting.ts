import { unconfirmedEvent, unmatchedEvent, type EventDraft } from "../webhook/recording/payment-events.js";
import { readStored } from "../webhook/recording/read-stored.js";
import { type EventRecord, type PaymentStore, type WebhookRecord } from "../store/index.js";

/** What raising needs. */
export interface RaisingWaiting<Tx> {
  store: PaymentStore<Tx>;
  /** How long a webhook may wait before somebody is told. */
  unmatchedAfterMs: number;
  now: () => Date;
  newId: () => string;
  /** Decides webhooks that came before their payment was known. */
  rematch: (clientIds: readonly string[]) => Promise<void>;
}

const pageSize = 100;
/** One sweep raises no more than this; the next goes on where it ended, because what was raised is stray no more. */
const pagesPerSweep = 20;

/**
 * Tells of webhooks that have waited too long: `payment.unmatched` where no payment has their clientId,
 * `payment.unconfirmed` where no lookup confirmed them. Each is looked at once more before it is told of, and told of
 * once, however many processes sweep. Resolves to how many were raised.
 */
export async function raiseWaiting<Tx>(kit: RaisingWaiting<Tx>): Promise<number> {
  const { store, now, unmatchedAfterMs } = kit;
  if (!store.stray) return 0;
  const options = { before: new Date(now().getTime() - unmatchedAfterMs).toISOString(), limit: pageSize };
  let raised = 0;
  for (let page = 0; page < pagesPerSweep; page++) {
    const found = await store.transaction((tx) => store.stray!(tx, options));
    if (found.length === 0) break;
    await kit.rematch(found.map(({ clientId = "" }) => clientId));
    raised += await raisePage(kit, new Set(found.map(({ receiptId }) => receiptId)), options);
    if (found.length < pageSize) break;
  }
  return raised;
}

/**
 * Locks the webhooks, so that no other sweep tells of them too, and no payments: a matcher has those locked when it
 * comes for the webhooks. A payment that appears right now is matched afterwards.
 */
async function raisePage<Tx>(
  { store, now, newId }: RaisingWaiting<Tx>,
  wanted: ReadonlySet<string>,
  options: { before: string; limit: number },
): Promise<number> {
  return store.transaction(async (tx) => {
    const still = (await store.stray!(tx, options)).filter(({ receiptId }) => wanted.has(receiptId));
    const at = now().toISOString();
    const events: EventRecord[] = [];
    for (const webhook of still) {
      const { clientId } = webhook;
      const draft = await eventOf(store, webhook);
      if (draft) events.push({ id: newId(), ...draft, ...(clientId && { clientId }), recordedAt: at });
    }
    if (still.length > 0) await store.save(tx, { raised: still.map(({ receiptId }) => receiptId), events });
    return events.length;
  });
}

async function eventOf<Tx>(store: PaymentStore<Tx>, webhook: WebhookRecord): Promise<EventDraft | undefined> {
  const message = readStored(webhook);
  if (message.kind !== "payment") return undefined;
  if (webhook.outcome === "unmatched") return unmatchedEvent(message.report, webhook);
  const payment = await store.find(message.report.clientId);
  return payment && unconfirmedEvent(payment, message.report, webhook);
}
