import { joinCalls } from "../../shared/join-calls.js";
import { checkSpool } from "./check-spool.js";
import { type DrainOptions, type DrainResult, drainSpool } from "./drain-spool.js";
import { OwnSegments } from "./own-segments.js";
import { createQuota } from "./quota.js";
import { encodeContent, type SpooledWebhook } from "./record-line.js";
import { createSegmentCounter, type SpoolStats } from "./segment-counter.js";
import { SegmentWriter } from "./segment-writer.js";
import { createSetAside, type SetAsideListener } from "./set-aside.js";
import { StoreTie } from "./store-tie.js";
import {
  type FileSystem,
  realFileSystem,
  spoolClosed,
  SpoolDirectory,
  spoolFailure,
} from "./spool-directory.js";

/** Options of {@link openSpool}. */
export interface SpoolOptions {
  /**
   * The directory of the segments. The first append creates it, for this user only. Several processes may
   * share it. The directory must be on a local disk, because network file systems may return cached results.
   */
  directory: string;
  /**
   * The maximum number of bytes in all segments. Several processes may exceed it slightly, because each
   * process notices the writes of the others with a delay. Webhooks that were set aside do not count.
   */
  maxBytes: number;
  /** The clock for the time in the reason files of webhooks that were set aside. */
  now?: (() => Date) | undefined;
  /**
   * Returns the identity of the store for which the webhooks wait. The directory belongs to the first store
   * that uses it.
   * @default the directory belongs to no store
   */
  identify?: (() => Promise<string>) | undefined;
  /** Called for each webhook or file that was set aside. */
  onSetAside?: SetAsideListener | undefined;
  /**
   * The interval of the heartbeat, in milliseconds, by which a process with a segment shows that it lives.
   * @default 2000
   */
  heartbeatMs?: number | undefined;
  /**
   * The time without a heartbeat, in milliseconds, after which another process may adopt a segment. If the
   * owner ran on the same host and has ended, the segment is adopted without this delay.
   * @default 10000
   */
  deadAfterMs?: number | undefined;
  /** The file system, for tests. */
  fs?: FileSystem | undefined;
}

/** A spool, which keeps verified webhooks in local, fsynced files while the store cannot record them. */
export type Spool = ReturnType<typeof openSpool>;

/** Returns a spool. There is no I/O before the first call of a method. */
export function openSpool(options: SpoolOptions) {
  const { maxBytes, heartbeatMs = 2000, deadAfterMs = 10_000 } = options;
  const { now = () => new Date(), fs = realFileSystem, onSetAside } = options;

  const directory = new SpoolDirectory(options.directory, fs);
  const own = new OwnSegments(directory, { heartbeatMs, deadAfterMs });
  const quota = createQuota(directory, { maxBytes, maxAgeMs: heartbeatMs });
  const writer = new SegmentWriter(directory, own, quota);
  const setAsideDirectory = new SpoolDirectory(directory.file("set-aside"), fs);
  const setAside = createSetAside(setAsideDirectory, { now, onSetAside });
  const countSegments = createSegmentCounter(directory, own);
  const tie = new StoreTie(directory, options.identify);
  const fail = (error: unknown): never => {
    throw spoolFailure(error, directory.path);
  };
  let draining: Promise<DrainResult> | undefined;
  let closed = false;

  return {
    /**
     * Resolves if the spool can accept webhooks, and return the webhooks that wait. Creates nothing.
     *
     * @throws TillkitError `spool_unavailable`, with its cause, also for a disk that hangs; `path_exposed`
     */
    check: () => checkSpool(directory, tie, writer).catch(fail),

    /** The store to which the directory belongs. */
    tie,

    /**
     * Resolves when the webhook is on disk. Simultaneous appends share one fsync. If the call rejects, the
     * webhook must not be answered 200.
     *
     * @throws TillkitError `spool_full` over `maxBytes` or on a full disk; `spool_unavailable` for the
     * directory of another store, if two segments in a row could not be written, and after `close()`;
     * `path_exposed`
     */
    append: (webhook: SpooledWebhook): Promise<void> =>
      tie.problem ? Promise.reject(tie.problem) : writer.append(encodeContent(webhook)),

    /**
     * Calls `record` for the spooled webhooks: first for this process's own segments, then for the segments
     * of dead processes. Within a segment, the order is kept. Webhooks that are appended meanwhile may have
     * to wait for the next drain. A rejection stops the drain, unless an option handles the rejection. After
     * a crash or a rejection, a webhook may be recorded again, so `record` must be idempotent by `receiptId`.
     * Never rejects. A second call joins the running drain.
     */
    drain(
      record: (webhook: SpooledWebhook) => Promise<void>,
      drainOptions?: DrainOptions,
    ): Promise<DrainResult> {
      if (closed) return Promise.resolve({ drained: 0, setAside: 0, leftBecause: spoolClosed() });
      const parts = { directory, own, writer, quota, setAside, tie, isClosed: () => closed };
      draining ??= drainSpool({ ...drainOptions, ...parts, record }).finally(() => (draining = undefined));
      return draining;
    },

    /**
     * Returns the content of the directory, including the segments of other processes. Joins calls, because
     * each call that hangs occupies one of the few threads of Node.
     *
     * @throws TillkitError as `check`, and `spool_unavailable` if a file cannot be read.
     */
    stats: joinCalls(async (): Promise<SpoolStats> => {
      await checkSpool(directory, tie, writer).catch(fail);
      const counts = await countSegments().catch(fail);
      return { ...counts, setAside: (await setAsideDirectory.list().catch(fail)).length };
    }),

    /** Waits for running appends, stops a drain after its current webhook, and keeps the files. */
    async close(): Promise<void> {
      closed = true;
      await writer.close();
      await draining;
      await own.release();
    },
  };
}
