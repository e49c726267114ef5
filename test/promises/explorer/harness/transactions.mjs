import { blocked } from "./world.mjs";

/** A transaction: what it has written, and the rows that it has locked. */
class Transaction {
  isOpen = true;
  isPoisoned = false;
  waitsFor = undefined;
  locks = new Set();
  payments = new Map();
  webhooks = new Map();
  events = new Map();
  resolutions = new Map();
  settlements = new Map();
  rows = [];
  /** The changes of records, where the store is one over an adapter. */
  changes = [];

  constructor(owner, number) {
    this.owner = owner;
    this.number = number;
  }
}

/** Row locks, and the transactions that hold them. A transaction that would wait in a circle is refused. */
export class Transactions {
  #world;
  #holders = new Map();
  #open = new Set();
  #count = 0;

  constructor(world) {
    this.#world = world;
  }

  begin(owner) {
    const tx = new Transaction(owner, ++this.#count);
    this.#open.add(tx);
    return tx;
  }

  get isIdle() {
    return this.#open.size === 0;
  }

  isLockedByOther(key, tx) {
    const holder = this.#holders.get(key);
    return holder !== undefined && holder !== tx;
  }

  /** Locks all keys and returns `true`, or waits: the operation is then tried again. */
  lock(tx, keys) {
    for (const key of keys) {
      const holder = this.#holders.get(key);
      if (holder === tx) continue;
      if (holder) return this.#wait(tx, holder);
      this.#holders.set(key, tx);
      tx.locks.add(key);
    }
    tx.waitsFor = undefined;
    return true;
  }

  end(tx) {
    if (!tx.isOpen) return;
    tx.isOpen = false;
    tx.waitsFor = undefined;
    this.#open.delete(tx);
    for (const key of tx.locks) this.#holders.delete(key);
    this.#world.unblock();
  }

  /** Rolls back what a dead process left open. */
  endOf(owner) {
    for (const tx of this.#open) if (tx.owner === owner) this.end(tx);
  }

  #wait(tx, holder) {
    tx.waitsFor = holder;
    for (let next = holder; next; next = next.waitsFor) {
      if (next !== tx) continue;
      tx.waitsFor = undefined;
      this.end(tx);
      throw Object.assign(new Error("deadlock detected"), { code: "40P01" });
    }
    return blocked;
  }
}
