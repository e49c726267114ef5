import { type NoteRecord, type PaymentStore } from "../contract.js";
import { type BatchAdapter, type BatchTx, type TransactionAdapter } from "../adapter.js";
import { checkAdapter } from "./adapter/adapter-problems.js";
import { Dispatches } from "./tables/dispatches.js";
import { type Draft } from "./records/draft.js";
import { Events } from "./tables/events.js";
import { KeyedRecords } from "./records/keyed-records.js";
import { notesAmong } from "../rules/notes.js";
import { after, keyOf, rangeOf } from "./records/keys.js";
import { type Adapter, adapterOf } from "./adapter/operations.js";
import { CommittedPayments, readLocked } from "./tables/payments.js";
import { countNeeds, readHistory } from "./tables/history.js";
import { changesSaver } from "./tables/save-changes.js";
import { noteKey } from "./records/stored-records.js";
import { Webhooks } from "./tables/webhooks.js";

/** The options of `storeOver`. */
export interface StoreOverOptions {
  /** The time, in milliseconds, for which a transaction is repeated after a first conflict. @default 5000 */
  busyTimeoutMs?: number;
}

/**
 * Makes a complete store over a few operations of a database. The database must be able to write several
 * records all or nothing, each only if its version is the expected one. Nothing is locked. If another
 * transaction has changed the version of a record, the transaction that expects the old version runs again.
 *
 * @throws ConfigurationError `option_invalid` if a member of the adapter or an option is missing, misspelt or
 * of the wrong type
 * @throws TillkitError `adapter_defective` (from the store's methods) if the adapter returns a value of the
 * wrong type or has a bug
 * @throws TillkitError `store_busy` (from the store's methods) if conflicts continue for `busyTimeoutMs`
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
  const records = new KeyedRecords(adapter, options.busyTimeoutMs ?? 5000);
  return { ...storeOf(records), durable: adapter.durable, [adapterOf]: adapter } as PaymentStore<object>;
}

/** The assumed number of changes for one webhook with some handlers. `maxGroup` follows from this number. */
const changesPerWebhook = 20;
const identityKey = keyOf("identity");

/** Returns the members of a store over records. */
function storeOf(records: KeyedRecords): Omit<PaymentStore<object>, "durable"> {
  const payments = new CommittedPayments(records);
  const webhooks = new Webhooks(records);
  const events = new Events(records);
  const dispatches = new Dispatches(records);
  const save = changesSaver(records);
  const within = async <T>(tx: object, step: (draft: Draft) => Promise<T>): Promise<T> => {
    const draft = records.draftOf(tx);
    return draft.guard(() => step(draft));
  };
  return {
    maxGroup: Math.max(1, Math.floor(records.maxChanges / changesPerWebhook)),
    transaction: (run) => records.transaction(run),
    async runHandler(run, finish) {
      await this.transaction(async (tx) => {
        await run(tx);
        await finish(tx);
      });
    },
    lock: (tx, keys) => within(tx, (draft) => readLocked(draft, keys)),
    save: (tx, changes) => within(tx, (draft) => save(draft, changes)),
    settle: (tx, settlement) => within(tx, (draft) => dispatches.settle(draft, settlement)),
    rematchable: async (tx, clientIds) => webhooks.rematchable(records.draftOf(tx), clientIds),
    stray: async (tx, page) => webhooks.stray(records.draftOf(tx), page),
    record: (keys, decide) =>
      records.change(async (draft) => {
        const { takenEventKeys } = await save(draft, decide(await readLocked(draft, keys)));
        if (takenEventKeys.length > 0) draft.discard();
        return takenEventKeys.length === 0;
      }),
    find: (clientId) => payments.find(clientId),
    findMany: (keys) => payments.findMany(keys),
    due: (page) => payments.due(page),
    lookupDue: (page) => payments.lookupDue(page),
    list: (page) => payments.list(page),
    webhooks: (page) => webhooks.list(page),
    history: (clientId, page) => readHistory(records, clientId, page),
    registerHandlers: (handlers) => events.register(handlers),
    claim: (options) => dispatches.claim(options),
    renew: (run, leaseMs) => dispatches.renew(run, leaseMs),
    dead: (page) => dispatches.dead(page),
    revived: (page) => dispatches.revived(page),
    async counts(options) {
      const counted = countNeeds(records, options);
      return { ...(await dispatches.counts(await events.handlers(), options)), ...(await counted) };
    },
    handlers: async () => dispatches.summarize(await events.handlers()),
    async notes(options) {
      const { kind, ids, after: last, limit = Infinity } = options;
      const from = last === undefined ? {} : { from: after(noteKey({ kind, id: last })) };
      const found = ids
        ? await records.values<NoteRecord>(ids.map((id) => noteKey({ kind, id })))
        : await records.scan<NoteRecord>(rangeOf(["notes", kind], limit, from));
      // A page stays in the order of its keys, because the next page continues in this order.
      return last === undefined && limit === Infinity ? notesAmong(found, options) : found;
    },
    retire: async (options) => dispatches.retire(options, await events.forget(options)),
    async prune({ before, limit, after: last }) {
      const pruned = await webhooks.prune(before, limit);
      const { count, end } = await events.prune(before, limit, last?.events);
      return { webhooks: pruned, events: count, after: { webhooks: "", events: end } };
    },
    identify: (newId) =>
      records.change(async (draft) => {
        await draft.load([identityKey]);
        const known = draft.get<string>(identityKey);
        if (known === undefined) draft.put(identityKey, newId);
        return known ?? newId;
      }),
    migrate: () => records.migrate(),
    warnings: async () => [],
    close: () => records.close(),
  };
}
