import { type Changes, type StoredHistory, type WebhookRecord } from "../contract.js";
import { isWaiting, needsResolution } from "../records.js";
import { type Draft } from "./draft.js";
import { keyOf } from "./keys.js";
import { webhookKey } from "./payments.js";

/** A webhook as its record has it. */
export interface StoredWebhook extends Omit<WebhookRecord, "rawBody"> {
  /** Base64; empty after it was pruned. */
  rawBody: string;
  copies: number;
  /** The place of the webhook among all webhooks. */
  order: string;
  /** Whether it waits for its payment or a lookup. */
  waits: boolean;
  /** Whether it waits and was not raised yet. */
  isStray: boolean;
  /** Whether a person has resolved it. */
  isResolved?: boolean;
}

/** Returns the key of the record that leads from a receipt to its webhook. */
export const receiptKey = (receiptId: string): string => keyOf("receipts", receiptId);

/** The key of a record that only health checks write: one of 100, so that processes rarely conflict. */
const probeKey = keyOf("probes", String(Math.floor(Math.random() * 100)));

type WebhookChanges = Pick<
  Changes,
  "webhooks" | "copies" | "rematched" | "raised" | "dismissed" | "resolutions"
>;

/** Loads what {@link saveWebhooks} needs. */
export async function loadWebhooks(draft: Draft, changes: WebhookChanges): Promise<void> {
  const { webhooks = [], copies = [], rematched = [], raised = [], dismissed = [] } = changes;
  const decided = rematched.map(({ receiptId }) => receiptId);
  const known = [...decided, ...raised, ...dismissed, ...resolvedBy(changes)].map(receiptKey);
  const added = draft.trustsNewIds ? [] : webhooks.map(({ receiptId }) => receiptKey(receiptId));
  const eventKeys = [...webhooks, ...copies].map(({ eventKey }) => webhookKey(eventKey));
  await draft.load([...known, ...added, ...eventKeys, ...(raised.length > 0 ? [probeKey] : [])]);
  await draft.load(known.flatMap((key) => draft.get<string>(key) ?? []));
}

/** Writes webhooks. Returns the eventKeys of those whose eventKey or receiptId is taken. */
export function saveWebhooks(draft: Draft, changes: WebhookChanges, nextOrder: () => string): string[] {
  const { webhooks = [], copies = [], rematched = [], raised = [], dismissed = [] } = changes;
  const keyBy = (receiptId: string): string | undefined => draft.get<string>(receiptKey(receiptId));
  const taken: string[] = [];
  for (const { rawBody, ...webhook } of webhooks) {
    const key = webhookKey(webhook.eventKey);
    if (draft.get(key) !== undefined || draft.get(receiptKey(webhook.receiptId)) !== undefined) {
      taken.push(webhook.eventKey);
      continue;
    }
    const waits = isWaiting(webhook);
    const row = {
      ...webhook,
      rawBody: rawBody.toString("base64"),
      copies: 0,
      order: nextOrder(),
      waits,
      isStray: waits,
    };
    draft.put(receiptKey(webhook.receiptId), key);
    draft.putIndexed<StoredWebhook>(key, row, indexesOf);
  }
  for (const { eventKey, count } of copies)
    change(draft, webhookKey(eventKey), (row) => ({ ...row, copies: row.copies + count }));
  for (const { receiptId, outcome, reason, decidedAt } of rematched) {
    const waits = isWaiting({ outcome });
    const decided = { outcome, reason, decidedAt, waits, isStray: waits };
    // What is undefined is left out of the JSON.
    change(draft, keyBy(receiptId), (row) => ({ ...row, ...decided }) as StoredWebhook);
  }
  for (const receiptId of raised) {
    const key = keyBy(receiptId);
    // The health check raises an unknown receipt, and must reach the adapter's `write`.
    if (key === undefined) draft.put(probeKey, (draft.get<number>(probeKey) ?? 0) + 1);
    change(draft, key, (row) => ({ ...row, isStray: false }));
  }
  for (const receiptId of dismissed)
    change(draft, keyBy(receiptId), (row) => ({ ...row, isStray: false, waits: false }));
  for (const receiptId of resolvedBy(changes))
    change(draft, keyBy(receiptId), (row) => ({ ...row, isResolved: true }));
  return taken;
}

const resolvedBy = ({ resolutions = [] }: WebhookChanges): string[] =>
  resolutions.flatMap(({ receiptId }) => receiptId ?? []);

/** Removes the bytes of a webhook that is final. Returns whether there were any. */
export function pruneWebhook(draft: Draft, key: string): boolean {
  const row = draft.get<StoredWebhook>(key);
  if (!row || !isPrunable(row)) return false;
  draft.putIndexed(key, { ...row, rawBody: "" }, indexesOf);
  return true;
}

export function recordOf(row: StoredWebhook): WebhookRecord {
  const { rawBody, copies: _, order: __, waits: ___, isStray: ____, isResolved: _____, ...facts } = row;
  return { ...facts, rawBody: Buffer.from(rawBody, "base64") };
}

export function shownOf(row: StoredWebhook): StoredHistory["webhooks"][number] {
  const { rawBody: _, order: __, waits: ___, isStray: ____, isResolved: _____, ...shown } = row;
  return shown;
}

function isPrunable(row: StoredWebhook): boolean {
  return !row.waits && row.rawBody !== "" && (row.isResolved === true || !needsResolution(row));
}

function change(draft: Draft, key: string | undefined, next: (row: StoredWebhook) => StoredWebhook): void {
  const row = key === undefined ? undefined : draft.get<StoredWebhook>(key);
  if (row) draft.putIndexed(key!, next(row), indexesOf);
}

/** Returns the index entries of a webhook. Each leads to its record. */
function indexesOf(row: StoredWebhook) {
  const { eventKey, receiptId, clientId, receivedAt, waits, isStray } = row;
  const key = webhookKey(eventKey);
  return {
    [keyOf("webhook-times", receivedAt, receiptId)]: key,
    ...(clientId !== undefined && { [keyOf("client-webhooks", clientId, receivedAt, receiptId)]: key }),
    ...(waits && { [keyOf("waiting", receivedAt, receiptId)]: key }),
    ...(isStray && { [keyOf("stray", receivedAt, receiptId)]: key }),
    ...(isPrunable(row) && { [keyOf("bytes", receivedAt, receiptId)]: key }),
  };
}
