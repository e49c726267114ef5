import { type Changes, type StoredHistory, type WebhookPage, type WebhookRecord } from "../../contract.js";
import {
  byArrival,
  isOnWebhookPage,
  isRematchable,
  type ReplacedFields,
  resolvedBy,
  type WebhookRows,
} from "../../rules/webhooks.js";
import { changeUpTo } from "../records/change-up-to.js";
import { type Draft } from "../records/draft.js";
import { after, keyOf, rangeOf } from "../records/keys.js";
import { type KeyedRecords } from "../records/keyed-records.js";
import { hasPrunableBytes, receiptKey, type StoredWebhook, webhookKey } from "../records/stored-records.js";

/** The key of a record that only health checks write. With 100 such keys, processes rarely conflict. */
const probeKey = keyOf("probes", String(Math.floor(Math.random() * 100)));
const maxRematchable = 1000;

type WebhookChanges = Pick<
  Changes,
  "webhooks" | "copies" | "rematched" | "raised" | "dismissed" | "resolutions"
>;

/** Loads the records that {@link webhookRows} and {@link saveProbe} read. */
export async function loadWebhooks(draft: Draft, changes: WebhookChanges): Promise<void> {
  const { webhooks = [], copies = [], rematched = [], raised = [], dismissed = [] } = changes;
  const decided = rematched.map(({ receiptId }) => receiptId);
  const known = [...decided, ...raised, ...dismissed, ...resolvedBy(changes)].map(receiptKey);
  const added = draft.trustsNewIds ? [] : webhooks.map(({ receiptId }) => receiptKey(receiptId));
  const eventKeys = [...webhooks, ...copies].map(({ eventKey }) => webhookKey(eventKey));
  await draft.load([...known, ...added, ...eventKeys, ...(raised.length > 0 ? [probeKey] : [])]);
  await draft.load(known.flatMap((key) => draft.get<string>(key) ?? []));
}

/** Returns the webhooks of a transaction for `saveWebhooks`. */
export function webhookRows(draft: Draft, nextOrder: () => string): WebhookRows {
  const keyBy = (receiptId: string): string | undefined => draft.get<string>(receiptKey(receiptId));
  // A field that is `undefined` is removed, because JSON leaves it out.
  const replace = (key: string | undefined, fields: (row: StoredWebhook) => ReplacedFields): void => {
    const row = key === undefined ? undefined : draft.get<StoredWebhook>(key);
    if (row) draft.put(key!, { ...row, ...fields(row) });
  };
  return {
    hasEventKey: (eventKey) => draft.get(webhookKey(eventKey)) !== undefined,
    hasReceipt: (receiptId) => keyBy(receiptId) !== undefined,
    add(webhook, waits) {
      const rawBody = webhook.rawBody.toString("base64");
      const key = webhookKey(webhook.eventKey);
      draft.put(receiptKey(webhook.receiptId), key);
      draft.put(key, { ...webhook, rawBody, copies: 0, order: nextOrder(), waits, isStray: waits });
    },
    addCopies: (eventKey, count) =>
      replace(webhookKey(eventKey), ({ copies }) => ({ copies: copies + count })),
    replace: (receiptId, fields) => replace(keyBy(receiptId), () => fields),
  };
}

/** Writes a record for a health check, which raises an unknown receiptId to find out if `write` works. */
export function saveProbe(draft: Draft, { raised = [] }: Pick<Changes, "raised">): void {
  if (raised.some((receiptId) => draft.get(receiptKey(receiptId)) === undefined))
    draft.put(probeKey, (draft.get<number>(probeKey) ?? 0) + 1);
}

/** Returns a webhook in the form of the contract, without its bytes. */
export function shownOf(row: StoredWebhook): StoredHistory["webhooks"][number] {
  const {
    rawBody: _bytes,
    order: _order,
    waits: _waits,
    isStray: _stray,
    isResolved: _resolved,
    ...shown
  } = row;
  return shown;
}

function recordOf(row: StoredWebhook): WebhookRecord {
  const { copies, ...facts } = shownOf(row);
  return { ...facts, ...(copies > 0 && { copies }), rawBody: Buffer.from(row.rawBody, "base64") };
}

/** Reads webhooks, and removes the bytes of webhooks. */
export class Webhooks {
  readonly #records: KeyedRecords;

  constructor(records: KeyedRecords) {
    this.#records = records;
  }

  async rematchable(draft: Draft, clientIds: readonly string[]): Promise<WebhookRecord[]> {
    const find = async (keys: string[]): Promise<StoredWebhook[]> =>
      (await this.#records.values<StoredWebhook>(keys, draft)).filter(isRematchable);
    const scans = [...new Set(clientIds)].map((clientId) =>
      this.#records.collect(rangeOf(["client-webhooks", clientId], maxRematchable), find, draft),
    );
    const rows = (await Promise.all(scans)).flat();
    return rows.toSorted((a, b) => (a.order < b.order ? -1 : 1)).map(recordOf);
  }

  async stray(draft: Draft, { before, limit }: { before: string; limit: number }): Promise<WebhookRecord[]> {
    const range = rangeOf(["stray"], limit, { to: keyOf("stray", before) });
    const rows = await this.#records.rows<StoredWebhook>(range, draft);
    // Another transaction may have raised a webhook after the index was read.
    return rows.filter(({ isStray }) => isStray).map(recordOf);
  }

  async list(page: WebhookPage): Promise<WebhookRecord[]> {
    const { clientId, clientIds, receiptId, need, from, to, after: last, limit } = page;
    const isWanted = (row: StoredWebhook): boolean => isOnWebhookPage(page, row);
    if (receiptId !== undefined) {
      const keys = await this.#records.values<string>([receiptKey(receiptId)]);
      return (await this.#records.values<StoredWebhook>(keys)).filter(isWanted).map(recordOf);
    }
    if (clientIds !== undefined) {
      const { clientIds: _, ...others } = page;
      const each = clientIds.map((one) => this.list({ ...others, clientId: one }));
      return (await Promise.all(each)).flat().toSorted(byArrival).slice(0, limit);
    }
    const indexes = clientId === undefined ? ["webhook-times"] : ["client-webhooks", clientId];
    const parts = need === undefined || clientId !== undefined ? indexes : ["needs", need];
    const range = rangeOf(parts, limit, {
      ...(from !== undefined && { from: keyOf(...parts, from) }),
      ...(to !== undefined && { to: keyOf(...parts, to) }),
      ...(last && { from: after(keyOf(...parts, last.receivedAt, last.receiptId)) }),
    });
    const find = async (keys: string[]): Promise<StoredWebhook[]> =>
      (await this.#records.values<StoredWebhook>(keys)).filter(isWanted);
    return (await this.#records.collect(range, find)).map(recordOf);
  }

  /** Removes the bytes of final webhooks. Returns the number of these webhooks. */
  async prune(before: string, limit: number): Promise<number> {
    const to = keyOf("bytes", before);
    const find = (wanted: number) => this.#records.scan<string>(rangeOf(["bytes"], wanted, { to }));
    return changeUpTo(limit, find, (key) =>
      this.#records.change(async (draft) => {
        await draft.load([key]);
        const row = draft.get<StoredWebhook>(key);
        if (!row || !hasPrunableBytes(row)) return 0;
        draft.put(key, { ...row, rawBody: "" });
        return 1;
      }),
    );
  }
}
