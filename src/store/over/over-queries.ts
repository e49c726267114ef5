import { type Payment } from "../../model/payment.js";
import {
  type DuePage,
  type Locked,
  type LockKeys,
  type PaymentPage,
  type ResolutionRecord,
  type StoredHistory,
  type WebhookPage,
  type WebhookRecord,
} from "../contract.js";
import { type KeyRange } from "../adapter.js";
import { type StoredDispatch, type StoredEvent, dispatchKeysOf, dispatchOf, eventOf } from "./dispatches.js";
import { after, keyOf, rangeOf } from "./keys.js";
import { inOrder, orderKey, readLocked } from "./payments.js";
import { type Records } from "./records.js";
import { receiptKey, recordOf, shownOf, type StoredWebhook } from "./webhooks.js";

const historyLimit = 1000;

/** Reads what is committed. */
export class OverQueries {
  protected readonly records: Records;

  constructor(records: Records) {
    this.records = records;
  }

  async find(clientId: string): Promise<Payment | undefined> {
    const { payments } = await this.#readCommitted({ clientIds: [clientId] });
    return payments.find((payment) => payment.clientId === clientId);
  }

  async findMany(keys: Pick<LockKeys, "clientIds" | "serviceIds">): Promise<Payment[]> {
    return (await this.#readCommitted(keys)).payments;
  }

  async due({ before, after: last, limit }: DuePage): Promise<Payment[]> {
    const from = last && { from: after(keyOf("undecided", last.createdAt, last.clientId)) };
    const range = rangeOf(["undecided"], limit, { to: keyOf("undecided", before), ...from });
    return this.#payments(range, (payment) => payment.overdueAt === undefined);
  }

  async lookupDue({ before, limit }: { before: string; limit: number }): Promise<Payment[]> {
    const range = rangeOf(["lookups"], limit, { to: keyOf("lookups", before) });
    return this.#payments(range, ({ nextLookupAt = before }) => nextLookupAt < before);
  }

  async list(page: PaymentPage): Promise<Payment[]> {
    const { state, reference, providerId, from, to, after: last, newestFirst, limit } = page;
    const isWanted = (payment: Payment): boolean =>
      (state === undefined || payment.state === state) &&
      (reference === undefined || payment.reference === reference) &&
      (providerId === undefined || payment.reported?.providerId === providerId) &&
      payment.createdAt >= (from ?? "") &&
      (to === undefined || payment.createdAt < to) &&
      // Without a reference, the range in the index begins after the last payment.
      (!last || reference === undefined || inOrder(payment, last) * (newestFirst ? -1 : 1) > 0);
    if (reference !== undefined) {
      const { payments } = await this.#readCommitted({ references: [reference] });
      const found = payments.filter(isWanted).toSorted(inOrder);
      return (newestFirst ? found.toReversed() : found).slice(0, limit);
    }
    const parts = state === undefined || state === "completed" ? ["created"] : ["states", state];
    const position = last && keyOf(...parts, last.createdAt, last.clientId);
    const range = rangeOf(parts, limit, {
      reverse: newestFirst,
      ...(from !== undefined && { from: keyOf(...parts, from) }),
      ...(to !== undefined && { to: keyOf(...parts, to) }),
      ...(position !== undefined && (newestFirst ? { to: position } : { from: after(position) })),
    });
    return this.#payments(range, isWanted);
  }

  async history(clientId: string): Promise<StoredHistory> {
    const newestOf = async <T>(index: string): Promise<T[]> => {
      const range = rangeOf([index, clientId], historyLimit, { reverse: true });
      return (await this.records.rows<T>(range)).toReversed();
    };
    const [webhooks, events, resolutions] = await Promise.all([
      newestOf<StoredWebhook>("client-webhooks"),
      newestOf<StoredEvent>("client-events"),
      newestOf<ResolutionRecord>("client-resolutions"),
    ]);
    const dispatchKeys = events.flatMap(dispatchKeysOf).slice(-historyLimit);
    const dispatches = await this.records.values<StoredDispatch>(dispatchKeys);
    return {
      webhooks: webhooks.map(shownOf),
      events: events.map(eventOf),
      dispatches: dispatches.map(dispatchOf),
      resolutions,
    };
  }

  async webhooks(page: WebhookPage): Promise<WebhookRecord[]> {
    const { clientId, receiptId, outcome, from, to, after: last, limit } = page;
    const isWanted = (row: StoredWebhook): boolean =>
      (clientId === undefined || row.clientId === clientId) &&
      (receiptId === undefined || row.receiptId === receiptId) &&
      (outcome === undefined || row.outcome === outcome) &&
      row.receivedAt >= (from ?? "") &&
      (to === undefined || row.receivedAt < to) &&
      (last === undefined || `${row.receivedAt} ${row.receiptId}` > `${last.receivedAt} ${last.receiptId}`);
    if (receiptId !== undefined) {
      const draft = this.records.draft();
      await draft.load([receiptKey(receiptId)]);
      const key = draft.get<string>(receiptKey(receiptId));
      if (key !== undefined) await draft.load([key]);
      const row = key === undefined ? undefined : draft.get<StoredWebhook>(key);
      return row && isWanted(row) ? [recordOf(row)] : [];
    }
    const parts = clientId === undefined ? ["webhook-times"] : ["client-webhooks", clientId];
    const range = rangeOf(parts, limit, {
      ...(from !== undefined && { from: keyOf(...parts, from) }),
      ...(to !== undefined && { to: keyOf(...parts, to) }),
      ...(last && { from: after(keyOf(...parts, last.receivedAt, last.receiptId)) }),
    });
    const rows = await this.records.collect<string, StoredWebhook>(range, async (keys) =>
      (await this.records.values<StoredWebhook>(keys)).filter(isWanted),
    );
    return rows.map(recordOf);
  }

  #readCommitted(keys: LockKeys): Promise<Locked> {
    return readLocked(this.records.draft(), keys);
  }

  #payments(range: KeyRange, isWanted: (payment: Payment) => boolean): Promise<Payment[]> {
    const draft = this.records.draft();
    return this.records.collect<string, Payment>(range, async (references, keys) => {
      await draft.load(references.map(orderKey));
      return references.flatMap((reference, index) => {
        const payments = draft.get<Payment[]>(orderKey(reference)) ?? [];
        return payments.filter(
          (payment) => keys[index]!.endsWith(`/${keyOf(payment.clientId)}`) && isWanted(payment),
        );
      });
    });
  }
}
