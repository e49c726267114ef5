import { runLazily } from "../rules/run-lazily.js";
import { TillkitError } from "../../errors/index.js";
import { needOfPayment } from "../../model/attention.js";
import { type Payment } from "../../model/payment.js";
import {
  type Changes,
  type Claim,
  type ClaimOptions,
  type CountsOptions,
  type DeadPage,
  type DispatchRecord,
  type DuePage,
  type HandlerSummary,
  type HistoryPage,
  type Registration,
  type Locked,
  type LockKeys,
  type NoteRecord,
  type NotesOptions,
  type PaymentPage,
  type PaymentStore,
  type PrunedBatch,
  type ResolutionRecord,
  type RetireOptions,
  type RevivedPage,
  type RunKey,
  type Saved,
  type Settlement,
  type StoreCounts,
  type StoredHistory,
  type WebhookPage,
  type WebhookRecord,
} from "../contract.js";
import { needCounts } from "../rules/needs.js";
import { changedNote, notesAmong } from "../rules/notes.js";
import { conflict, savePayments } from "../rules/payments.js";
import { saveWebhooks } from "../rules/webhooks.js";
import { DispatchesTable } from "./dispatches-table.js";
import { PaymentsTable } from "./payments-table.js";
import { newestBefore, Rows } from "./rows.js";
import { WebhooksTable } from "./webhooks-table.js";

/** The transaction of a {@link MemoryStore}. */
export interface MemoryTx {
  /** Runs `write` when the transaction commits, and never when it rolls back. */
  onCommit(write: () => void): void;
}

/**
 * Stores everything in this process and loses it when the process exits. This store is for tests and first
 * tries, and runs one transaction at a time. The kit refuses it with `store_not_durable` if NODE_ENV is
 * production.
 */
export class MemoryStore implements PaymentStore<MemoryTx> {
  readonly durable = false;
  readonly maxGroup = Infinity;
  readonly #payments = new PaymentsTable();
  readonly #webhooks = new WebhooksTable();
  readonly #dispatches = new DispatchesTable();
  readonly #resolutions = new Rows<ResolutionRecord>();
  readonly #notes = new Rows<NoteRecord>();
  #identity: string | undefined;
  readonly #tables = [
    this.#payments.rows,
    this.#webhooks.rows,
    this.#dispatches,
    this.#resolutions,
    this.#notes,
  ];
  /** A promise that resolves when the last transaction has ended. */
  #last: Promise<unknown> = Promise.resolve();
  #current: MemoryTx | undefined;
  /** The error of the last `save` that failed in the current transaction. */
  #refusal: unknown;
  #closed = false;

  transaction<T>(run: (tx: MemoryTx) => Promise<T>): Promise<T> {
    const result = this.#last.then(() => this.#transact(run));
    this.#last = result.catch(() => {});
    return result;
  }

  async find(clientId: string): Promise<Payment | undefined> {
    return this.#payments.find(clientId);
  }

  async findMany(keys: Pick<LockKeys, "clientIds" | "serviceIds">): Promise<Payment[]> {
    return this.#payments.findMany(keys);
  }

  async lock(tx: MemoryTx, keys: LockKeys): Promise<Locked> {
    this.#check(tx);
    const eventKeys = keys.eventKeys?.filter((eventKey) => this.#webhooks.hasEventKey(eventKey)) ?? [];
    return { payments: this.#payments.select(keys), eventKeys };
  }

  async save(tx: MemoryTx, changes: Changes): Promise<Saved> {
    this.#check(tx);
    try {
      return this.#write(changes);
    } catch (error) {
      this.#refusal = error;
      throw error;
    }
  }

  async record(keys: LockKeys, decide: (locked: Locked) => Changes): Promise<boolean> {
    const taken = new Error("A webhook is taken.");
    try {
      await this.transaction(async (tx) => {
        const { takenEventKeys } = await this.save(tx, decide(await this.lock(tx, keys)));
        if (takenEventKeys.length > 0) throw taken;
      });
      return true;
    } catch (error) {
      if (error === taken) return false;
      throw error;
    }
  }

  registerHandlers(handlers: readonly Registration[]): Promise<void> {
    return this.transaction(async () => this.#dispatches.register(handlers));
  }

  claim(options: ClaimOptions): Promise<Claim[]> {
    return this.transaction(async () => this.#dispatches.claim(options));
  }

  async settle(tx: MemoryTx, settlement: Settlement): Promise<boolean> {
    this.#check(tx);
    return this.#dispatches.settle(settlement);
  }

  async rematchable(tx: MemoryTx, clientIds: readonly string[]): Promise<WebhookRecord[]> {
    this.#check(tx);
    return this.#webhooks.rematchable(clientIds);
  }

  async stray(tx: MemoryTx, options: { before: string; limit: number }): Promise<WebhookRecord[]> {
    this.#check(tx);
    return this.#webhooks.stray(options);
  }

  async renew(run: RunKey, leaseMs: number): Promise<boolean> {
    return this.#dispatches.renew(run, leaseMs);
  }

  async due(page: DuePage): Promise<Payment[]> {
    return this.#payments.due(page);
  }

  async lookupDue(options: { before: string; limit: number }): Promise<Payment[]> {
    return this.#payments.lookupDue(options);
  }

  async list(page: PaymentPage): Promise<Payment[]> {
    return this.#payments.list(page);
  }

  async history(clientId: string, page: HistoryPage = {}): Promise<StoredHistory> {
    const placeOf = ({ at, id }: ResolutionRecord): string => `${at} ${id}`;
    const resolutions = this.#resolutions
      .allCommitted()
      .filter((one) => one.clientId === clientId)
      .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
    return {
      webhooks: this.#webhooks.history(clientId, page),
      ...this.#dispatches.history(clientId, page),
      resolutions: newestBefore(resolutions, page, ({ resolution }) => resolution?.id).map((one) => ({
        ...one,
      })),
    };
  }

  async webhooks(page: WebhookPage): Promise<WebhookRecord[]> {
    return this.#webhooks.list(page);
  }

  async dead(options: DeadPage): Promise<DispatchRecord[]> {
    const find = async () => this.#dispatches.dead(options);
    // If the caller is inside a transaction, a transaction for a read would wait forever.
    return options.revive ? this.transaction(find) : find();
  }

  async revived(page: RevivedPage): Promise<DispatchRecord[]> {
    return this.#dispatches.revived(page);
  }

  async counts(options?: CountsOptions): Promise<StoreCounts> {
    const payments = this.#payments.rows
      .allCommitted()
      .map((payment) => [needOfPayment(payment), payment.createdAt] as const);
    return {
      ...this.#dispatches.counts(options),
      parked: this.#webhooks.countWaiting(),
      ...needCounts([...payments, ...this.#webhooks.needs()], options),
    };
  }

  async handlers(): Promise<HandlerSummary[]> {
    return this.#dispatches.summarize();
  }

  async notes(options: NotesOptions): Promise<NoteRecord[]> {
    return notesAmong(this.#notes.allCommitted(), options);
  }

  prune({ before, limit }: { before: string; limit: number }): Promise<PrunedBatch> {
    return this.transaction(async () => ({
      webhooks: this.#webhooks.prune(before, limit),
      events: this.#dispatches.prune(before, limit),
    }));
  }

  async identify(newId: string): Promise<string> {
    return (this.#identity ??= newId);
  }

  retire(options: RetireOptions): Promise<number> {
    return this.transaction(async () => this.#dispatches.retire(options));
  }

  runHandler(
    run: (tx: MemoryTx) => Promise<unknown>,
    finish: (tx: MemoryTx) => Promise<void>,
  ): Promise<void> {
    const transaction = (work: (tx: MemoryTx) => Promise<void>) => this.transaction(work);
    return runLazily({ transaction, lateTx }, run, finish);
  }

  async migrate(): Promise<void> {}

  async warnings(): Promise<readonly string[]> {
    return [];
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
  }

  #write(changes: Changes): Saved {
    const { updated = [], created = [], resolutions = [], notes = [], events = [] } = changes;
    const takenClientIds = savePayments(this.#payments, updated, created);
    const takenEventKeys = saveWebhooks(this.#webhooks, changes);
    for (const resolution of resolutions) {
      const { id } = resolution;
      if (this.#resolutions.get(id)) throw conflict(`The resolution ${id} exists already.`);
      this.#resolutions.put(id, { ...resolution });
    }
    for (const note of notes) {
      const key = `${note.kind} ${note.id}`;
      this.#notes.put(key, changedNote(this.#notes.get(key), note));
    }
    for (const event of events) this.#dispatches.insert(event);
    return { takenClientIds, takenEventKeys };
  }

  async #transact<T>(run: (tx: MemoryTx) => Promise<T>): Promise<T> {
    if (this.#closed) throw new TillkitError("store_closed", "This MemoryStore was closed.");
    const writes: (() => void)[] = [];
    const tx: MemoryTx = { onCommit: (write) => void writes.push(write) };
    this.#current = tx;
    this.#refusal = undefined;
    try {
      const result = await run(tx);
      // `run` may have swallowed the error. The earlier changes must then not be committed either.
      if (this.#refusal !== undefined)
        throw new TillkitError("transaction_poisoned", "A change was refused.", { cause: this.#refusal });
      for (const table of this.#tables) table.commit();
      for (const write of writes) write();
      return result;
    } catch (error) {
      for (const table of this.#tables) table.rollback();
      throw error;
    } finally {
      this.#current = undefined;
    }
  }

  #check(tx: MemoryTx): void {
    if (tx === this.#current) return;
    const message = "This transaction has ended; await every call inside of it.";
    throw new TillkitError("transaction_closed", message);
  }
}

/** Returns a `tx` that opens its transaction at its first use. Until then, other transactions can run. */
function lateTx(open: () => Promise<MemoryTx>): MemoryTx {
  const writes: (() => void)[] = [];
  let opened: Promise<void> | undefined;
  return {
    onCommit(write) {
      writes.push(write);
      opened ??= open().then((tx) => tx.onCommit(() => writes.forEach((each) => each())));
      opened.catch(() => {}); // Nothing is lost: the transaction rejects with the same error.
    },
  };
}
