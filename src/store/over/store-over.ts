import {
  type Changes,
  type Locked,
  type LockKeys,
  type PaymentStore,
  type Saved,
  type WebhookRecord,
} from "../contract.js";
import { isParked } from "../records.js";
import { type BatchAdapter, type BatchTx, type TransactionAdapter } from "../adapter.js";
import { checkAdapter } from "./adapter-problems.js";
import {
  type StoredDispatch,
  type StoredEvent,
  dispatchIndexes,
  dispatchKeysOf,
  eventIndexes,
  eventKey,
  isFinal,
  saveEvents,
} from "./dispatches.js";
import { type Draft } from "./draft.js";
import { keyOf, rangeOf } from "./keys.js";
import { type Adapter, adapterOf } from "./operations.js";
import { OverDispatches } from "./over-dispatches.js";
import { conflict, handlersKey, keysOfPayments, readLocked, savePayments } from "./payments.js";
import { Records } from "./records.js";
import { loadWebhooks, pruneWebhook, recordOf, saveWebhooks, type StoredWebhook } from "./webhooks.js";

/** How a store over an adapter works. */
export interface StoreOverOptions {
  /** How long, in milliseconds, a transaction is tried again while others change the same records. @default 5000 */
  busyTimeoutMs?: number;
}

/**
 * Makes a complete store over a few operations of any database that can write several records all or nothing, each only if its
 * version is the expected one. Nothing is locked: a transaction whose records were changed by another one runs again.
 *
 * @throws ConfigurationError if a member of the adapter or an option is missing or misspelt
 * @throws TillkitError `adapter_defective` (from its methods) where an answer of the adapter is not what it must be
 * @throws TillkitError `store_busy` (from its methods) where others changed the same records for `busyTimeoutMs`
 */
export function storeOver<Tx extends object>(
  adapter: TransactionAdapter<Tx>,
  options?: StoreOverOptions,
): PaymentStore<Tx>;
export function storeOver<Item>(
  adapter: BatchAdapter<Item>,
  options?: StoreOverOptions,
): PaymentStore<BatchTx<Item>>;
export function storeOver(adapter: Adapter, options: StoreOverOptions = {}): PaymentStore<object> {
  checkAdapter(adapter, options);
  return new OverStore(adapter, options);
}

/** The changes of a webhook with some handlers, at most, for stores that limit the changes of one write. */
const changesPerWebhook = 20;
const maxParked = 1000;
const identityKey = keyOf("identity");

class OverStore extends OverDispatches implements PaymentStore<object> {
  readonly durable: boolean;
  readonly maxGroup: number;
  readonly [adapterOf]: Adapter;
  #lastOrder = 0;

  constructor(adapter: Adapter, { busyTimeoutMs = 5000 }: StoreOverOptions) {
    super(new Records(adapter, busyTimeoutMs));
    this[adapterOf] = adapter;
    this.durable = adapter.durable;
    this.maxGroup = Math.max(1, Math.floor(this.records.maxChanges / changesPerWebhook));
  }

  transaction<T>(run: (tx: object) => Promise<T>): Promise<T> {
    return this.records.transaction(run);
  }

  runHandler(run: (tx: object) => Promise<unknown>, finish: (tx: object) => Promise<void>): Promise<void> {
    return this.transaction(async (tx) => {
      await run(tx);
      await finish(tx);
    });
  }

  lock(tx: object, keys: LockKeys): Promise<Locked> {
    const draft = this.records.draftOf(tx);
    return draft.guard(() => readLocked(draft, keys));
  }

  save(tx: object, changes: Changes): Promise<Saved> {
    const draft = this.records.draftOf(tx);
    return draft.guard(() => this.#save(draft, changes));
  }

  record(keys: LockKeys, decide: (locked: Locked) => Changes): Promise<boolean> {
    return this.records.update(async (draft) => {
      const { takenEventKeys } = await this.#save(draft, decide(await readLocked(draft, keys)));
      if (takenEventKeys.length > 0) draft.discard();
      return takenEventKeys.length === 0;
    });
  }

  async parked(tx: object, clientIds: readonly string[]): Promise<WebhookRecord[]> {
    const draft = this.records.draftOf(tx);
    const find = async (keys: string[]): Promise<StoredWebhook[]> =>
      (await this.records.values<StoredWebhook>(keys, draft)).filter(isParked);
    const scans = [...new Set(clientIds)].map((clientId) =>
      this.records.collect(rangeOf(["client-webhooks", clientId], maxParked), find, draft),
    );
    const rows = (await Promise.all(scans)).flat();
    return rows.toSorted((a, b) => (a.order < b.order ? -1 : 1)).map(recordOf);
  }

  async stray(tx: object, { before, limit }: { before: string; limit: number }): Promise<WebhookRecord[]> {
    const range = rangeOf(["stray"], limit, { to: keyOf("stray", before) });
    const rows = await this.records.rows<StoredWebhook>(range, this.records.draftOf(tx));
    // Another transaction may have raised one after the index was read.
    return rows.filter(({ isStray }) => isStray).map(recordOf);
  }

  async prune({
    before,
    limit,
  }: {
    before: string;
    limit: number;
  }): Promise<{ webhooks: number; events: number }> {
    let webhooks = 0;
    for (const key of await this.records.scan<string>(
      rangeOf(["bytes"], limit, { to: keyOf("bytes", before) }),
    ))
      webhooks += await this.records.update(async (draft) => {
        await draft.load([key]);
        return pruneWebhook(draft, key) ? 1 : 0;
      });
    let events = 0;
    const old = rangeOf(["event-times"], limit, { to: keyOf("event-times", before) });
    for (const event of await this.records.collect<string, StoredEvent>(old, (keys) =>
      this.#finalEvents(keys),
    ))
      events += await this.#pruneEvent(event);
    return { webhooks, events };
  }

  async migrate(): Promise<void> {
    await this[adapterOf].migrate?.();
  }

  identify(newId: string): Promise<string> {
    return this.records.update(async (draft) => {
      await draft.load([identityKey]);
      const known = draft.get<string>(identityKey);
      if (known === undefined) draft.put(identityKey, newId);
      return known ?? newId;
    });
  }

  async warnings(): Promise<readonly string[]> {
    return [];
  }

  close(): Promise<void> {
    return this.records.close();
  }

  async #save(draft: Draft, changes: Changes): Promise<Saved> {
    const { updated = [], created = [], resolutions = [], events = [] } = changes;
    const resolutionKeys = resolutions.map(({ id }) => keyOf("resolutions", id));
    const eventKeys = draft.trustsNewIds ? [] : events.map(({ id }) => eventKey(id));
    const keys = [...keysOfPayments([...updated, ...created]), ...resolutionKeys, ...eventKeys];
    const [now] = await Promise.all([
      this.records.now(),
      draft.load([...keys, ...(events.length > 0 ? [handlersKey] : [])]),
      loadWebhooks(draft, changes),
    ]);
    const takenClientIds = savePayments(draft, updated, created);
    const takenEventKeys = saveWebhooks(draft, changes, () => this.#nextOrder(now));
    for (const resolution of resolutions) {
      const { id, clientId, at } = resolution;
      const key = keyOf("resolutions", id);
      if (draft.get(key) !== undefined) throw conflict(`The resolution ${id} exists already.`);
      draft.put(key, resolution);
      draft.put(keyOf("client-resolutions", clientId, at, id), key);
    }
    saveEvents(draft, events, () => this.#nextOrder(now));
    return { takenClientIds, takenEventKeys };
  }

  /** Returns a string that sorts after all that this process made before. */
  #nextOrder(now: number): string {
    this.#lastOrder = Math.max(this.#lastOrder + 1, now * 1000);
    return String(this.#lastOrder).padStart(20, "0");
  }

  /** Returns those events of which no dispatch waits. */
  async #finalEvents(keys: readonly string[]): Promise<StoredEvent[]> {
    const draft = this.records.draft();
    const events = await this.records.values<StoredEvent>(keys, draft);
    await draft.load(events.flatMap(dispatchKeysOf));
    return events.filter((event) => isFinal(draft, event));
  }

  #pruneEvent(event: StoredEvent): Promise<number> {
    return this.records.update(async (draft) => {
      const [key, keys] = [eventKey(event.id), dispatchKeysOf(event)];
      await draft.load([key, ...keys]);
      // Another process may have pruned it since.
      if (draft.get(key) === undefined || !isFinal(draft, event)) return 0;
      draft.putIndexed<StoredEvent>(key, undefined, eventIndexes);
      for (const one of keys) draft.putIndexed<StoredDispatch>(one, undefined, dispatchIndexes);
      return 1;
    });
  }
}
