import { setImmediate as turn } from "node:timers/promises";
import { Deadlines, type Waiting } from "../../shared/deadlines.js";
import { TillkitError } from "../../errors/index.js";

/** How items are grouped. */
export interface GroupCommitOptions<Item, Result> {
  /** Writes a group in one transaction, all or nothing, and answers in the same order. */
  commit: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Most items in one transaction. */
  maxGroup: number;
  /** How long an item may wait for its commit, queueing included. */
  deadlineMs: number;
  /**
   * For how many turns of the event loop, behind a group of several, the next one waits while it is smaller. Who was answered
   * together comes again together, but not all in one turn: the first few were the next group, and the others waited for
   * its commit. On PostgreSQL with 64 connections groups of 59 and 5 in turn became groups of 64, and cost the database a
   * tenth less. Only for commits that cost something.
   * @default 0
   */
  turnsForCompany?: number;
}

/** Items that are committed together or not at all. */
interface Batch<Item, Result> extends Waiting {
  items: readonly Item[];
  /** Takes their results, which stand among those of the group from `first` on. */
  resolve: (results: readonly Result[], first: number) => void;
  reject: (error: unknown) => void;
  /** Whether they have their answer. */
  over: boolean;
}

/** A commit that is under way. */
interface Commitment extends Waiting {
  /** Lets the next one begin. */
  readonly resolve: () => void;
  isAbandoned: boolean;
}

/** Records items in groups. */
export interface GroupCommit<Item, Result> {
  /** Resolves after the commit that holds the item. */
  record: (item: Item) => Promise<Result>;
  /**
   * Resolves after the one commit that holds all of them, and rejects when none of them is known to be held: they are
   * not retried one by one, so a later one is never held without those before it.
   */
  recordTogether: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Whether so many commits hang that new items are rejected at once. */
  isStuck: () => boolean;
}

/** Commits that may hang at the same time, each on a connection of its own, before no more are begun. */
const mostAbandoned = 3;

/** After so many groups of one in a row the next item is taken for a lone one; and every so many it is looked whether it is. */
const loneUntilBelieved = 4;
const loneUntilLookedAt = 64;

/**
 * Commits items that arrive together in one transaction. One commit is under way at a time; what arrives meanwhile
 * forms the next group, so a lone item never waits for company for longer than a turn of the event loop. A group that
 * fails is retried item by item (those given together stay together), so that one bad row never fails its neighbours.
 *
 * An item rejects with `store_unavailable` at its deadline, even while its commit is still under way: whether
 * that commit succeeds is then unknown, and the item must be safe to record again. A commit that hangs beyond the
 * deadline, on a connection that died silently perhaps, is abandoned, and the next group goes ahead on another. While
 * {@link mostAbandoned} of them hang, new items are rejected at once: waiting would only hold the senders and
 * the pool.
 */
export function groupCommit<Item, Result>(
  options: GroupCommitOptions<Item, Result>,
): GroupCommit<Item, Result> {
  const { commit, maxGroup, deadlineMs, turnsForCompany = 0 } = options;
  const queue: Batch<Item, Result>[] = [];
  const unanswered = new Deadlines<Batch<Item, Result>>(deadlineMs, (batch) => {
    finish(batch)?.reject(tooSlow(deadlineMs));
  });
  const underWay = new Deadlines<Commitment>(deadlineMs, (commitment) => {
    commitment.isAbandoned = true;
    abandoned += 1;
    commitment.resolve();
  });
  let busy = false;
  let abandoned = 0;
  /** How many groups of one item there were in a row. */
  let loneGroups = 0;
  const isStuck = () => abandoned >= mostAbandoned;

  function begin(): void {
    if (busy || isStuck() || queue.length === 0) return;
    busy = true;
    if (isAlone()) void drain();
    // The rest of this turn of the event loop may bring more of the same burst.
    else setImmediate(() => void drain());
  }

  async function drain(): Promise<void> {
    while (queue.length > 0 && !isStuck()) {
      const group = nextGroup();
      loneGroups = group.length === 1 && group[0]!.items.length === 1 ? loneGroups + 1 : 0;
      if (group.length > 0) await endedOrAbandoned(commitGroup(group));
      for (let turns = 0; turns < turnsForCompany && isFewer(queue, group); turns++) await turn();
    }
    busy = false;
  }

  /**
   * Whether the turn is likely to bring no other item: those before it had none either. Now and then it is waited for all the
   * same, to see whether that still holds. With one connection each wait cost a webhook in memory a twentieth of its time.
   */
  function isAlone(): boolean {
    return loneGroups >= loneUntilBelieved && loneGroups % loneUntilLookedAt !== 0;
  }

  /** A group of one was a lone item, and the next one may be too. */
  function isFewer({ length }: readonly unknown[], group: readonly unknown[]): boolean {
    return group.length > 1 && length < group.length;
  }

  function nextGroup(): Batch<Item, Result>[] {
    const group: Batch<Item, Result>[] = [];
    let size = 0;
    while (queue.length > 0 && (group.length === 0 || size + queue[0]!.items.length <= maxGroup)) {
      const batch = queue.shift()!;
      if (batch.over) continue;
      group.push(batch);
      size += batch.items.length;
    }
    return group;
  }

  /** Resolves when the commit has ended, or hangs beyond the deadline. */
  function endedOrAbandoned(committing: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const since = performance.now();
      const commitment = { resolve, since, isAbandoned: false, older: undefined, newer: undefined };
      underWay.add(commitment);
      void untilEnded(committing, commitment);
    });
  }

  async function untilEnded(committing: Promise<void>, commitment: Commitment): Promise<void> {
    await committing;
    underWay.delete(commitment);
    if (!commitment.isAbandoned) return commitment.resolve();
    abandoned -= 1;
    begin();
  }

  /** Never rejects. */
  async function commitGroup(group: readonly Batch<Item, Result>[]): Promise<void> {
    let results: readonly Result[];
    try {
      results = await commit(group.flatMap(({ items }) => items));
    } catch (error) {
      if (group.length === 1) finish(group[0]!)?.reject(error);
      else for (const batch of group) if (!batch.over) await commitGroup([batch]);
      return;
    }
    let first = 0;
    for (const batch of group) {
      finish(batch)?.resolve(results, first);
      first += batch.items.length;
    }
  }

  /** Nothing where it has had its answer. */
  function finish(batch: Batch<Item, Result>): Batch<Item, Result> | undefined {
    if (batch.over) return undefined;
    batch.over = true;
    unanswered.delete(batch);
    return batch;
  }

  function wait(
    items: readonly Item[],
    resolve: Batch<Item, Result>["resolve"],
    reject: Batch<Item, Result>["reject"],
  ): void {
    if (isStuck()) return reject(tooSlow(deadlineMs));
    const since = performance.now();
    const batch = { items, resolve, reject, since, over: false, older: undefined, newer: undefined };
    queue.push(batch);
    unanswered.add(batch);
    begin();
  }

  const record = (item: Item): Promise<Result> =>
    new Promise((resolve, reject) => {
      wait([item], (results, first) => resolve(results[first]!), reject);
    });

  const recordTogether = (items: readonly Item[]): Promise<readonly Result[]> =>
    new Promise((resolve, reject) => {
      wait(items, (results, first) => resolve(results.slice(first, first + items.length)), reject);
    });

  return { record, recordTogether, isStuck };
}

function tooSlow(deadlineMs: number): TillkitError {
  return new TillkitError("store_unavailable", `The store did not commit within ${deadlineMs} ms.`);
}
