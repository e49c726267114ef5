import { type DrainOptions } from "./drain-segment.js";
import { drainSpool, type DrainResult } from "./drain-spool.js";
import { realFileSystem, type FileSystem } from "./file-system.js";
import { OwnSegments } from "./own-segments.js";
import { encodeLine, type SpooledWebhook } from "./record-line.js";
import { Room } from "./room.js";
import { SegmentWriter } from "./segment-writer.js";
import { refuseMisconfigured } from "./refuse-misconfigured.js";
import { SetAside, type SetAsideListener } from "./set-aside.js";
import { SpoolDirectory } from "./spool-directory.js";
import { spoolClosed, spoolFailure } from "./spool-errors.js";
import { SegmentCounter, type SpoolStats } from "./spool-stats.js";

/** Options of {@link openSpool}. */
export interface SpoolOptions {
  /**
   * Where the segments are; made at the first append, for this user only. Several processes may share it. It must be
   * on a local disk: network file systems answer from caches where the spool relies on the answer.
   */
  directory: string;
  /**
   * Most bytes in all segments together. What other processes write is noticed with some delay, so that several of
   * them may together go a little over it. Records that were set aside do not count.
   *
   * @default 67108864 (64 MiB)
   */
  maxBytes?: number | undefined;
  /** The clock for the notes beside records that were set aside. Heartbeats go by the system's clock. */
  now?: (() => Date) | undefined;
  /** Told of each record that can never be drained: why, and in which file it is now. */
  onSetAside?: SetAsideListener | undefined;
  /**
   * How often, in milliseconds, a process shows that it lives, while it has a segment.
   *
   * @default 2000
   */
  heartbeatMs?: number | undefined;
  /**
   * After how many milliseconds without a heartbeat another process may adopt a segment. A process of the same host
   * that is gone is not waited for.
   *
   * @default 10000
   */
  deadAfterMs?: number | undefined;
  /** The file system, for tests. */
  fs?: FileSystem | undefined;
}

/** A local fsynced file that takes verified webhooks while the store cannot. */
export interface Spool {
  /**
   * Resolves when the webhook is on disk. Appends that arrive together share one fsync.
   *
   * @throws TillkitError `spool_full` over `maxBytes` or on a full disk; `spool_unavailable`, with its cause, when two
   * segments in a row could not be written, and after `close()`. The webhook must then not be answered 200.
   */
  append: (webhook: SpooledWebhook) => Promise<void>;
  /**
   * Hands what is spooled to `record`: first this process's own segments, then those of dead processes; in order
   * within a segment. What is appended meanwhile waits for the next drain. A rejection stops it and leaves the rest,
   * see {@link DrainOptions.isHopeless} for the exception. A record may be handed over again after a crash or a
   * rejection, so recording must be idempotent by `receiptId`. Never rejects. A second drain joins the one under way.
   */
  drain: (record: (webhook: SpooledWebhook) => Promise<void>, options?: DrainOptions) => Promise<DrainResult>;
  /**
   * What waits in the directory, of all processes.
   *
   * @throws TillkitError `spool_unavailable` when the directory cannot be read.
   */
  stats: () => Promise<SpoolStats>;
  /** Waits for appends that are under way, stops a drain after its current record, and leaves the files. */
  close: () => Promise<void>;
}

/** Small enough to be read as a whole, and for a drain that was interrupted to repeat little. */
const segmentBytes = 4 * 1024 * 1024;

/**
 * Opens a spool. Does no I/O before the first call.
 *
 * @throws ConfigurationError `option_invalid`, with every problem at once.
 */
export function openSpool(options: SpoolOptions): Spool {
  const { maxBytes = 64 * 1024 * 1024, heartbeatMs = 2000, deadAfterMs = 10_000 } = options;
  const { now = () => new Date(), fs = realFileSystem, onSetAside } = options;
  refuseMisconfigured({ directory: options.directory, maxBytes, heartbeatMs, deadAfterMs });

  const directory = new SpoolDirectory(options.directory, fs);
  const own = new OwnSegments(directory, heartbeatMs);
  const room = new Room(directory, { maxBytes, freshMs: heartbeatMs });
  const writer = new SegmentWriter({ directory, own, room, maxBytes, segmentBytes });
  const setAside = new SetAside(new SpoolDirectory(directory.file("set-aside"), fs), now, onSetAside);
  const counter = new SegmentCounter(directory);
  let draining: Promise<DrainResult> | undefined;
  let closed = false;

  return {
    append: (webhook) => writer.append(encodeLine(webhook)),

    drain(record, drainOptions) {
      const done = { drained: 0, setAside: 0 };
      if (closed) return Promise.resolve({ ...done, leftBecause: spoolClosed() });
      draining ??= drainSpool(
        { directory, own, writer, room, deadAfterMs },
        { ...drainOptions, record, setAside, isClosed: () => closed, done },
      ).finally(() => (draining = undefined));
      return draining;
    },

    async stats() {
      try {
        return { ...(await counter.count()), setAside: await setAside.count() };
      } catch (error) {
        throw spoolFailure(error, directory.path);
      }
    },

    async close() {
      closed = true;
      await writer.close();
      await draining;
      await own.release();
    },
  };
}
