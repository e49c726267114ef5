import { setImmediate as nextIteration } from "node:timers/promises";
import { TillkitError } from "../errors/index.js";
import { Deadlines, type Waiting } from "./deadlines.js";

/** Options of {@link GroupCommit}. */
export interface GroupCommitOptions<Item, Result> {
  /** Writes a group in one transaction, all or nothing. Resolves to the results in the order of the items. */
  write: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** The maximum number of items in one transaction, except if one call of `addAll` has more items. */
  maxGroup: number;
  /** The maximum time until an item is committed, including the time in the queue. */
  deadlineMs: number;
  /**
   * The maximum number of event loop iterations for which a group waits for more items. A group waits only
   * while it is smaller than the previous group, and never after a group of one item. Clients that got their
   * answers from one commit send again at nearly the same moment, but not in one iteration. Useful only if a
   * commit costs more than an iteration; see "Groups" in bench/README.md. @default 0
   */
  refillIterations?: number;
}

/** The items of one call. The items are committed in one transaction or not at all. */
interface ItemBatch<Item, Result> extends Waiting {
  items: readonly Item[];
  /** Called with the results of the whole group. The results of this batch begin at the index `first`. */
  resolve: (results: readonly Result[], first: number) => void;
  reject: (error: unknown) => void;
  isSettled: boolean;
}

/** A commit in progress. */
interface RunningCommit extends Waiting {
  /** Allows the next commit to start. */
  readonly resolve: () => void;
  isAbandoned: boolean;
}

/** If this many commits hang, each on its own connection, no more commits are started. */
const maxAbandoned = 3;

/** After this many groups of one item in a row, the next item is committed without waiting for others. */
const singlesBeforeSkipping = 4;
/** At each multiple of this number of single items in a row, the next item waits for others again. */
const singlesBeforeCheck = 64;

/**
 * Commits items that arrive at the same time in one transaction. One commit runs at a time, and items that
 * arrive meanwhile form the next group. A group that fails is retried batch by batch, so that a bad item does
 * not affect the others.
 *
 * An item rejects with `store_unavailable` at its deadline, even if its commit still runs. The result of that
 * commit is then unknown, so recording the item again must be harmless. A commit that runs beyond the
 * deadline is abandoned, and the next group is committed on another connection. While {@link maxAbandoned}
 * commits hang, new items are rejected immediately, so that they do not use up the pool.
 */
export class GroupCommit<Item, Result> {
  readonly #options: GroupCommitOptions<Item, Result>;
  readonly #queue: ItemBatch<Item, Result>[] = [];
  readonly #unsettled: Deadlines<ItemBatch<Item, Result>>;
  readonly #running: Deadlines<RunningCommit>;
  #isBusy = false;
  #abandoned = 0;
  /** The number of groups of one item in a row. */
  #singles = 0;

  constructor(options: GroupCommitOptions<Item, Result>) {
    this.#options = options;
    const { deadlineMs } = options;
    this.#unsettled = new Deadlines(deadlineMs, (batch) =>
      this.#settle(batch)?.reject(new DeadlineError(deadlineMs)),
    );
    this.#running = new Deadlines(deadlineMs, (commit) => {
      commit.isAbandoned = true;
      this.#abandoned += 1;
      commit.resolve();
    });
  }

  /** Resolves after the commit that holds the item. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#enqueue([item], (results, first) => resolve(results[first]!), reject);
    });
  }

  /**
   * Resolves after one commit that holds all items. Rejects if this commit failed, or if its result is not
   * known. The items are never retried one by one, so either all of them are stored or none.
   */
  addAll(items: readonly Item[]): Promise<readonly Result[]> {
    return new Promise((resolve, reject) => {
      const take = (results: readonly Result[], first: number) =>
        resolve(results.slice(first, first + items.length));
      this.#enqueue(items, take, reject);
    });
  }

  /** Returns whether so many commits hang that new items are rejected immediately. */
  isStuck(): boolean {
    return this.#abandoned >= maxAbandoned;
  }

  #enqueue(
    items: readonly Item[],
    resolve: ItemBatch<Item, Result>["resolve"],
    reject: ItemBatch<Item, Result>["reject"],
  ): void {
    if (this.isStuck()) return reject(new DeadlineError(this.#options.deadlineMs));
    const since = performance.now();
    const batch = { items, resolve, reject, since, isSettled: false, older: undefined, newer: undefined };
    this.#queue.push(batch);
    this.#unsettled.add(batch);
    this.#start();
  }

  #start(): void {
    if (this.#isBusy || this.isStuck() || this.#queue.length === 0) return;
    this.#isBusy = true;
    const isSingle = this.#singles >= singlesBeforeSkipping && this.#singles % singlesBeforeCheck !== 0;
    if (isSingle) void this.#drain();
    // More items of one burst may arrive in the rest of this iteration of the event loop.
    else setImmediate(() => void this.#drain());
  }

  async #drain(): Promise<void> {
    const { refillIterations = 0 } = this.#options;
    while (this.#queue.length > 0 && !this.isStuck()) {
      const group = this.#nextGroup();
      this.#singles = group.length === 1 && group[0]!.items.length === 1 ? this.#singles + 1 : 0;
      if (group.length > 0) await this.#endedOrAbandoned(this.#commit(group));
      const isSmaller = () => group.length > 1 && this.#queue.length < group.length;
      for (let waited = 0; waited < refillIterations && isSmaller(); waited++) await nextIteration();
    }
    this.#isBusy = false;
  }

  #nextGroup(): ItemBatch<Item, Result>[] {
    const queue = this.#queue;
    const group: ItemBatch<Item, Result>[] = [];
    let size = 0;
    while (
      queue.length > 0 &&
      (group.length === 0 || size + queue[0]!.items.length <= this.#options.maxGroup)
    ) {
      const batch = queue.shift()!;
      if (batch.isSettled) continue;
      group.push(batch);
      size += batch.items.length;
    }
    return group;
  }

  /** Resolves when the commit has ended, or when it has run beyond the deadline. */
  #endedOrAbandoned(committing: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const since = performance.now();
      const commit = { resolve, since, isAbandoned: false, older: undefined, newer: undefined };
      this.#running.add(commit);
      void this.#awaitEnd(committing, commit);
    });
  }

  async #awaitEnd(committing: Promise<void>, commit: RunningCommit): Promise<void> {
    await committing;
    this.#running.delete(commit);
    if (!commit.isAbandoned) return commit.resolve();
    this.#abandoned -= 1;
    this.#start();
  }

  /** Commits a group. If this fails, commits the group's batches one by one. Never rejects. */
  async #commit(group: readonly ItemBatch<Item, Result>[]): Promise<void> {
    let results: readonly Result[];
    try {
      results = await this.#options.write(group.flatMap(({ items }) => items));
    } catch (error) {
      if (group.length === 1) this.#settle(group[0]!)?.reject(error);
      else for (const batch of group) if (!batch.isSettled) await this.#commit([batch]);
      return;
    }
    let first = 0;
    for (const batch of group) {
      this.#settle(batch)?.resolve(results, first);
      first += batch.items.length;
    }
  }

  /** Marks the batch as settled. Returns `undefined` if it was settled before. */
  #settle(batch: ItemBatch<Item, Result>): ItemBatch<Item, Result> | undefined {
    if (batch.isSettled) return undefined;
    batch.isSettled = true;
    this.#unsettled.delete(batch);
    return batch;
  }
}

/**
 * The error `store_unavailable` for a store that did not commit in time. The item does not cause this error.
 */
export class DeadlineError extends TillkitError {
  constructor(deadlineMs: number) {
    super("store_unavailable", `The store did not commit within ${deadlineMs} ms.`);
  }
}
