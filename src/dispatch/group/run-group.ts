import { type Claim, type RunKey, type RunPart } from "../../store/index.js";
import { withTimeout } from "../../shared/with-timeout.js";
import { idOf, leaseLost } from "../guard-run.js";
import { type AnyHandler } from "../handlers.js";
import {
  idempotencyKeyOf,
  type StartedRun,
  runClaim,
  type RunOptions,
  type RunResult,
  settle,
  settleFailed,
  startRun,
  watch,
} from "../run-claim.js";

/** The maximum number of runs in one transaction. PostgreSQL becomes slow with more than 64 savepoints. */
const maxGroup = 50;

/** The time after which a transaction gets no further run. */
const maxGroupMs = 50;

/** The maximum wait for a group's commit or rollback. After this wait, its runs count as `lost`. */
const maxEndMs = 10_000;

/** The maximum wait until a transaction opens. After this wait, its runs are repeated or released. */
const maxOpeningMs = 10_000;

/** A claim with its handler and the options of its run. */
export interface ClaimedRun<Tx> {
  claim: Claim;
  handler: AnyHandler<Tx>;
  options: RunOptions<Tx>;
}

/** Called with the result of a run. */
type Report = (claim: Claim, result: RunResult) => void;

/** The result of one transaction. Runs in `unfinished` were not called, or the transaction rolled back. */
interface GroupEnd<Tx> {
  ended: [Claim, RunResult][];
  unfinished: ClaimedRun<Tx>[];
  isCommitted: boolean;
}

/**
 * Runs claims of one handler name in their order, as many as possible in one transaction. If this transaction
 * rolls back, its runs that had not failed are repeated, each in its own transaction. Resolves to the size of
 * the next group. Never rejects.
 */
export async function runGroups<Tx>(
  claimed: readonly ClaimedRun<Tx>[],
  size: number,
  closing: AbortSignal,
  report: Report,
): Promise<number> {
  const startedAt = performance.now();
  const { store, leaseMs } = claimed[0]!.options;
  const open = new Set(claimed.map(({ claim }) => claim));
  const alone = new Set<Claim>();
  let nextSize = claimed.length < size ? size : Math.min(maxGroup, size * 2);
  const end: Report = (claim, result) => {
    open.delete(claim);
    report(claim, result);
  };
  // While a claim waits for its run or its commit, no guard renews its lease, so this timer does.
  const renewal = setInterval(() => {
    for (const claim of open) store.renew(idOf(claim), leaseMs).catch(() => {});
  }, leaseMs / 3);
  try {
    for (let left = [...claimed]; left.length > 0;) {
      if (closing.aborted || performance.now() - startedAt > leaseMs) {
        nextSize = Math.max(1, claimed.length - left.length);
        await Promise.all(left.map((run) => release(run, closing)));
        break;
      }
      const until = left.findIndex((run) => alone.has(run.claim) || isSuspect(run));
      const group = left.slice(0, until < 0 ? left.length : Math.max(1, until));
      left = left.slice(group.length);
      if (group.length === 1) {
        const [{ claim, handler, options }] = group as [ClaimedRun<Tx>];
        end(claim, await runClaim(options, claim, handler, closing));
        continue;
      }
      const { ended, unfinished, isCommitted } = await runGroup(group, closing);
      for (const [claim, result] of ended) end(claim, result);
      if (!isCommitted) for (const { claim } of unfinished) alone.add(claim);
      left = [...unfinished, ...left];
      if (unfinished.length > 0) nextSize = isCommitted ? group.length - unfinished.length : 1;
    }
  } finally {
    clearInterval(renewal);
  }
  return nextSize;
}

/** Returns whether an earlier run failed or was lost, so that this run may break a shared transaction. */
function isSuspect<Tx>({ claim, options }: ClaimedRun<Tx>): boolean {
  return claim.attempt > 1 || options.losses.has(idempotencyKeyOf(claim));
}

async function release<Tx>({ options, claim }: ClaimedRun<Tx>, closing: AbortSignal): Promise<void> {
  await withTimeout(settle(options, claim, { state: "released" }, closing), maxEndMs, undefined, {
    unref: true,
  });
}

/** Runs claims in one transaction, at least one, until `maxGroupMs` have passed. */
async function runGroup<Tx>(group: readonly ClaimedRun<Tx>[], closing: AbortSignal): Promise<GroupEnd<Tx>> {
  const { store, onHanging } = group[0]!.options;
  const failed = new Map<ClaimedRun<Tx>, { run: StartedRun<Tx>; error: unknown }>();
  const done: ClaimedRun<Tx>[] = [];
  const endAt = performance.now() + maxGroupMs;
  const runAll = async (part: RunPart<Tx>): Promise<RunKey[]> => {
    for (const [index, each] of group.entries()) {
      // A pause of the process may end this time before the first run. Without a run, the group would repeat,
      // and the next group would have the size 0.
      if (closing.aborted || (index > 0 && performance.now() > endAt)) break;
      const run = startRun(each.options, each.claim, each.handler, closing);
      const running = watch(part(run.call));
      try {
        await Promise.race([running.ended, run.guard.overdue]);
        done.push(each);
      } catch (error) {
        if (run.isCalled()) failed.set(each, { run, error });
        // No further run may use a transaction that is broken, or whose connection does not answer.
        if (!run.isCalled() || running.isOpen()) throw error;
      } finally {
        run.guard.stop();
      }
    }
    return done.map(({ claim }) => idOf(claim));
  };
  let haveRun!: () => void;
  const ran = new Promise<void>((resolve) => (haveRun = resolve));
  let isGivenUp = false;
  const opening = setTimeout(() => {
    isGivenUp = true;
    haveRun();
  }, maxOpeningMs).unref();
  const transaction = store.runShared!(async (part) => {
    clearTimeout(opening);
    // A store that hung may call back after the group was given up.
    return isGivenUp ? [] : runAll(part).finally(haveRun);
  });
  const committed = transaction.then(
    () => true,
    () => false,
  );
  await Promise.race([committed, ran]);
  const isCommitted = isGivenUp
    ? undefined
    : await withTimeout(committed, maxEndMs, undefined, { unref: true });
  if (isCommitted === undefined) onHanging(group[0]!.claim, committed);
  const ended = [...failed].map(async ([{ options, claim }, { run, error }]): Promise<[Claim, RunResult]> => [
    claim,
    await settleFailed(options, claim, run, error, closing),
  ]);
  const results = await Promise.all(ended);
  let unfinished = group.filter((each) => !failed.has(each));
  if (isCommitted !== false) {
    for (const { claim } of done)
      results.push([claim, isCommitted ? { state: "done" } : { state: "lost", error: leaseLost(claim) }]);
    unfinished = unfinished.filter((each) => !done.includes(each));
  }
  return { ended: results, unfinished, isCommitted: isCommitted === true };
}
