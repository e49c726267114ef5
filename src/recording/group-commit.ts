import { TillkitError } from "../errors/index.js";

/** How items are grouped. */
export interface GroupCommitOptions<Item, Result> {
  /** Writes a group in one transaction, all or nothing, and answers in the same order. */
  commit: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Most items in one transaction. */
  maxGroup: number;
  /** How long an item may wait for its commit, queueing included. */
  deadlineMs: number;
}

/** Items that are committed together or not at all. */
interface Waiting<Item, Result> {
  items: readonly Item[];
  /** Takes their results, which stand among those of the group from `first` on. */
  resolve: (results: readonly Result[], first: number) => void;
  reject: (error: unknown) => void;
  /** In milliseconds, by the steady clock. */
  arrivedAt: number;
  over: boolean;
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

/**
 * Commits items that arrive together in one transaction. One commit is under way at a time; what arrives meanwhile
 * forms the next group, so a lone item never waits for company. A group that fails is retried item by item (those
 * given together stay together), so that one bad row never fails its neighbours.
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
  const { commit, maxGroup, deadlineMs } = options;
  const queue: Waiting<Item, Result>[] = [];
  /** Those without an answer, oldest first. All have the same time, so one timer, for the oldest, does for all. */
  const unanswered = new Set<Waiting<Item, Result>>();
  let timer: NodeJS.Timeout | undefined;
  let busy = false;
  let abandoned = 0;
  const isStuck = () => abandoned >= mostAbandoned;

  function begin(): void {
    if (busy || isStuck() || queue.length === 0) return;
    busy = true;
    // The rest of this turn of the event loop may bring more of the same burst.
    setImmediate(() => void drain());
  }

  async function drain(): Promise<void> {
    while (queue.length > 0 && !isStuck()) {
      const group = nextGroup();
      if (group.length > 0) await endedOrAbandoned(commitGroup(group));
    }
    busy = false;
  }

  function nextGroup(): Waiting<Item, Result>[] {
    const group: Waiting<Item, Result>[] = [];
    let size = 0;
    while (queue.length > 0 && (group.length === 0 || size + queue[0]!.items.length <= maxGroup)) {
      const waiting = queue.shift()!;
      if (waiting.over) continue;
      group.push(waiting);
      size += waiting.items.length;
    }
    return group;
  }

  async function endedOrAbandoned(committing: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const hangs = new Promise<true>((resolve) => {
      timer = setTimeout(() => resolve(true), deadlineMs);
    });
    const hanging = await Promise.race([committing, hangs]);
    clearTimeout(timer);
    if (hanging !== true) return;
    abandoned += 1;
    void untilEnded(committing);
  }

  async function untilEnded(committing: Promise<void>): Promise<void> {
    await committing;
    abandoned -= 1;
    begin();
  }

  /** Never rejects. */
  async function commitGroup(group: readonly Waiting<Item, Result>[]): Promise<void> {
    let results: readonly Result[];
    try {
      results = await commit(group.flatMap(({ items }) => items));
    } catch (error) {
      if (group.length === 1) finish(group[0]!)?.reject(error);
      else for (const waiting of group) if (!waiting.over) await commitGroup([waiting]);
      return;
    }
    let first = 0;
    for (const waiting of group) {
      finish(waiting)?.resolve(results, first);
      first += waiting.items.length;
    }
  }

  /** Nothing where it has had its answer. */
  function finish(waiting: Waiting<Item, Result>): Waiting<Item, Result> | undefined {
    if (waiting.over) return undefined;
    waiting.over = true;
    unanswered.delete(waiting);
    if (unanswered.size === 0) {
      clearTimeout(timer);
      timer = undefined;
    }
    return waiting;
  }

  function watchOldest(): void {
    const [oldest] = unanswered;
    if (timer || !oldest) return;
    // Whole milliseconds: Node keeps a list for each duration that there is.
    timer = setTimeout(rejectLate, Math.ceil(oldest.arrivedAt + deadlineMs - performance.now()));
  }

  function rejectLate(): void {
    timer = undefined;
    const latest = performance.now() - deadlineMs;
    for (const waiting of unanswered) {
      if (waiting.arrivedAt > latest) break;
      finish(waiting)?.reject(tooSlow(deadlineMs));
    }
    watchOldest();
  }

  function wait(
    items: readonly Item[],
    { resolve, reject }: Pick<Waiting<Item, Result>, "resolve" | "reject">,
  ) {
    if (isStuck()) return reject(tooSlow(deadlineMs));
    const waiting = { items, resolve, reject, arrivedAt: performance.now(), over: false };
    queue.push(waiting);
    unanswered.add(waiting);
    watchOldest();
    begin();
  }

  const record = (item: Item): Promise<Result> =>
    new Promise((resolve, reject) => {
      wait([item], { resolve: (results, first) => resolve(results[first]!), reject });
    });

  const recordTogether = (items: readonly Item[]): Promise<readonly Result[]> =>
    new Promise((resolve, reject) => {
      wait(items, {
        resolve: (results, first) => resolve(results.slice(first, first + items.length)),
        reject,
      });
    });

  return { record, recordTogether, isStuck };
}

function tooSlow(deadlineMs: number): TillkitError {
  return new TillkitError("store_unavailable", `The store did not commit within ${deadlineMs} ms.`);
}
