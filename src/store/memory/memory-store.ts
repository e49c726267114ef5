import { TillkitError } from "../../errors/index.js";
import { type Payment } from "../../model/payment.js";
import {
  type Changes,
  type Claim,
  type DeadPage,
  type DispatchRecord,
  type HandlerKey,
  type Locked,
  type LockKeys,
  type PaymentPage,
  type PaymentStore,
  type Saved,
  type Settlement,
  type StoreCounts,
  type StoredHistory,
  type WebhookPage,
  type WebhookRecord,
} from "../payment-store.js";
import { DispatchesTable } from "./dispatches-table.js";
import { copyOf, PaymentsTable } from "./payments-table.js";
import { ResolutionsTable } from "./resolutions-table.js";
import { WebhooksTable } from "./webhooks-table.js";

/** What a record is made of, where it is made in steps. */
const steps = ["transaction", "lock", "save"] as const;

/** Most of each kind that a history answers. */
const historyLimit = 1000;

/** The transaction of a {@link MemoryStore}. */
export interface MemoryTx {
  /** Runs `write` when the transaction commits, and never when it rolls back. */
  onCommit(write: () => void): void;
}

/**
 * Keeps everything in this process and forgets it at exit: for tests and first tries. Refused with the code
 * `store_not_durable` when NODE_ENV is production. One transaction runs at a time.
 */
export class MemoryStore implements PaymentStore<MemoryTx> {
  readonly durable = false;
  readonly #payments = new PaymentsTable();
  readonly #webhooks = new WebhooksTable();
  readonly #dispatches = new DispatchesTable();
  readonly #resolutions = new ResolutionsTable();
  readonly #tables = [this.#payments, this.#webhooks, this.#dispatches, this.#resolutions];
  #turn: Promise<unknown> = Promise.resolve();
  /** Transactions that have not ended. */
  #underWay = 0;
  #current: MemoryTx | undefined;
  #poison: unknown;
  #closed = false;

  transaction<T>(run: (tx: MemoryTx) => Promise<T>): Promise<T> {
    this.#underWay += 1;
    const result = this.#turn.then(() => this.#transact(run)).finally(() => (this.#underWay -= 1));
    this.#turn = result.catch(() => {});
    return result;
  }

  async find(clientId: string): Promise<Payment | undefined> {
    const payment = this.#payments.findCommitted(clientId);
    return payment && copyOf(payment);
  }

  async findMany(keys: Pick<LockKeys, "clientIds" | "serviceIds">): Promise<Payment[]> {
    return this.#payments.selectCommitted(keys);
  }

  async lock(tx: MemoryTx, keys: LockKeys): Promise<Locked> {
    this.#check(tx);
    return this.#read(keys);
  }

  async save(tx: MemoryTx, changes: Changes): Promise<Saved> {
    this.#check(tx);
    try {
      return this.#write(changes);
    } catch (error) {
      this.#poison = error;
      throw error;
    }
  }

  async record(keys: LockKeys, decide: (locked: Locked) => Changes): Promise<boolean> {
    // A test that watches or fails one of the three must see all that is recorded.
    if (!steps.every((step) => this[step] === MemoryStore.prototype[step]))
      return this.#recordInSteps(keys, decide);
    // At once where no transaction is under way: nothing of it waits.
    if (this.#underWay > 0) return this.transaction(async () => this.#recordNow(keys, decide));
    this.#checkOpen();
    return this.#recordNow(keys, decide);
  }

  registerHandlers(handlers: readonly HandlerKey[]): Promise<void> {
    return this.transaction(async () => this.#dispatches.register(handlers));
  }

  claim(options: { handlers: readonly HandlerKey[]; limit: number; leaseMs: number }): Promise<Claim[]> {
    return this.transaction(async () => this.#dispatches.claim(options));
  }

  async settle(tx: MemoryTx, settlement: Settlement): Promise<boolean> {
    this.#check(tx);
    return this.#dispatches.settle(settlement);
  }

  async parked(tx: MemoryTx, clientIds: readonly string[]): Promise<WebhookRecord[]> {
    this.#check(tx);
    return this.#webhooks.parked(clientIds);
  }

  async stray(tx: MemoryTx, options: { before: string; limit: number }): Promise<WebhookRecord[]> {
    this.#check(tx);
    return this.#webhooks.stray(options);
  }

  async renew(claim: { eventId: string; handler: string; fence: number }, leaseMs: number): Promise<boolean> {
    return this.#dispatches.renew(claim.eventId, claim.handler, claim.fence, leaseMs);
  }

  async due(page: {
    before: string;
    after?: { createdAt: string; clientId: string };
    limit: number;
  }): Promise<Payment[]> {
    return this.#payments.due(page.before, page.after, page.limit);
  }

  async lookupDue(options: { before: string; limit: number }): Promise<Payment[]> {
    return this.#payments.lookupDue(options);
  }

  async list(page: PaymentPage): Promise<Payment[]> {
    return this.#payments.list(page);
  }

  async history(clientId: string): Promise<StoredHistory> {
    return {
      webhooks: this.#webhooks.history(clientId, historyLimit),
      ...this.#dispatches.history(clientId, historyLimit),
      resolutions: this.#resolutions.ofClientId(clientId).slice(0, historyLimit),
    };
  }

  async webhooks(page: WebhookPage): Promise<WebhookRecord[]> {
    return this.#webhooks.page(page);
  }

  dead(options: DeadPage): Promise<DispatchRecord[]> {
    return this.transaction(async () => this.#dispatches.dead(options));
  }

  async counts(): Promise<StoreCounts> {
    const oldestUndoneAt = this.#dispatches.oldestUndoneAt();
    return {
      dead: this.#dispatches.countDead(),
      parked: this.#webhooks.countParked(),
      ...(oldestUndoneAt !== undefined && { oldestUndoneAt }),
    };
  }

  prune({ before, limit }: { before: string; limit: number }): Promise<{ webhooks: number; events: number }> {
    return this.transaction(async () => ({
      webhooks: this.#webhooks.prune(before, limit),
      events: this.#dispatches.prune(before, limit),
    }));
  }

  /** A handler that never touches `tx` must not hold up everybody else. */
  lazy(open: () => Promise<MemoryTx>): MemoryTx {
    const writes: (() => void)[] = [];
    let opened: Promise<void> | undefined;
    return {
      onCommit(write) {
        writes.push(write);
        opened ??= open().then((tx) => tx.onCommit(() => writes.forEach((each) => each())));
        opened.catch(() => {}); // The transaction itself rejects with the same error.
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#turn;
  }

  #read(keys: LockKeys): Locked {
    const eventKeys = keys.eventKeys?.filter((eventKey) => this.#webhooks.has(eventKey)) ?? [];
    return { payments: this.#payments.select(keys), eventKeys };
  }

  #recordNow(keys: LockKeys, decide: (locked: Locked) => Changes): boolean {
    let isCommitted = false;
    try {
      const { takenEventKeys } = this.#write(decide(this.#read(keys)));
      isCommitted = takenEventKeys.length === 0;
      return isCommitted;
    } finally {
      for (const table of this.#tables)
        if (isCommitted) table.commit();
        else table.rollback();
    }
  }

  async #recordInSteps(keys: LockKeys, decide: (locked: Locked) => Changes): Promise<boolean> {
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

  #write(changes: Changes): Saved {
    for (const payment of changes.updated ?? []) this.#payments.update(payment);
    const untaken = changes.created?.filter((payment) => !this.#payments.insert(payment)) ?? [];
    const known = changes.webhooks?.filter((webhook) => !this.#webhooks.insert(webhook)) ?? [];
    for (const { eventKey, count } of changes.copies ?? []) this.#webhooks.addCopies(eventKey, count);
    for (const rematched of changes.rematched ?? []) this.#webhooks.rematch(rematched);
    for (const receiptId of changes.raised ?? []) this.#webhooks.raise(receiptId);
    for (const receiptId of changes.dismissed ?? []) this.#webhooks.dismiss(receiptId);
    for (const resolution of changes.resolutions ?? []) this.#resolutions.insert(resolution);
    for (const event of changes.events ?? []) this.#dispatches.insert(event);
    return {
      takenClientIds: untaken.map(({ clientId }) => clientId),
      takenEventKeys: known.map(({ eventKey }) => eventKey),
    };
  }

  async #transact<T>(run: (tx: MemoryTx) => Promise<T>): Promise<T> {
    this.#checkOpen();
    const writes: (() => void)[] = [];
    const tx: MemoryTx = { onCommit: (write) => void writes.push(write) };
    this.#current = tx;
    this.#poison = undefined;
    try {
      const result = await run(tx);
      // A change that was refused half-way must not be committed by somebody who swallowed the error.
      if (this.#poison !== undefined) {
        throw new TillkitError("transaction_poisoned", "A change was refused.", { cause: this.#poison });
      }
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

  #checkOpen(): void {
    if (this.#closed) throw new TillkitError("store_closed", "This MemoryStore was closed.");
  }

  #check(tx: MemoryTx): void {
    if (tx !== this.#current) {
      throw new TillkitError(
        "transaction_closed",
        "This transaction has ended; await every call inside of it.",
      );
    }
  }
}
