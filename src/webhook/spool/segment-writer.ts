import { type KeyObject } from "node:crypto";
import { type FileHandle } from "node:fs/promises";
import { TillkitError } from "../../errors/index.js";
import { type OwnSegments } from "./own-segments.js";
import { type Quota } from "./quota.js";
import { encodeLine, lineOverhead } from "./record-line.js";
import { readOrMakeKey } from "./spool-key.js";
import { ifFound, spoolClosed, type SpoolDirectory, spoolFailure } from "./spool-directory.js";

/** The size at which a segment is closed. The size is small, so that an interrupted drain repeats little. */
const segmentBytes = 4 * 1024 * 1024;

/** The segment that is being written. */
interface OpenSegment {
  readonly name: string;
  readonly handle: FileHandle;
  /** The key that signs the lines. */
  readonly key: KeyObject;
  readonly dev: bigint;
  readonly ino: bigint;
  /** The number of bytes of all writes, including failed ones. */
  size: number;
  /** Whether an append to this segment was acknowledged. Otherwise, the file is not needed. */
  acknowledged: boolean;
}

interface PendingAppend {
  content: Buffer;
  /** The maximum number of bytes of the line. */
  length: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** The maximum number of adoptions in a row. If there are more, the clock of a process must be wrong. */
const maxTakeovers = 3;

/** The time, in milliseconds, after which a write that has not ended means that the disk hangs. */
const maxWriteMs = 5000;

/** Writes lines to segments. Lines that arrive during a write share the next write and its fsync. */
export class SegmentWriter {
  readonly #directory: SpoolDirectory;
  readonly #own: OwnSegments;
  readonly #quota: Quota;
  readonly #queue: PendingAppend[] = [];
  #queuedBytes = 0;
  #scheduled = false;
  #closed = false;
  #lastTask: Promise<void> = Promise.resolve();
  /** The start of the running task, by `performance.now()`. `undefined` if none runs. */
  #runningSince: number | undefined;
  #active: OpenSegment | undefined;

  constructor(directory: SpoolDirectory, own: OwnSegments, quota: Quota) {
    this.#directory = directory;
    this.#own = own;
    this.#quota = quota;
  }

  /** The name of the segment to which this writer writes, if there is one. */
  get activeName(): string | undefined {
    return this.#active?.name;
  }

  /** Throws an error if a write has not ended for so long that the disk hangs. */
  requireProgress(): void {
    const runningMs = Math.round(performance.now() - (this.#runningSince ?? Infinity));
    if (runningMs > maxWriteMs) throw new Error(`The disk has not ended a write for ${runningMs} ms.`);
  }

  append(content: Buffer): Promise<void> {
    const { maxBytes } = this.#quota;
    const length = content.length + lineOverhead;
    if (this.#closed) return Promise.reject(spoolClosed());
    if (this.#queuedBytes + length > maxBytes) return Promise.reject(spoolFull(maxBytes));
    return new Promise((resolve, reject) => {
      this.#queue.push({ content, length, resolve, reject });
      this.#queuedBytes += length;
      this.#schedule();
    });
  }

  /** Closes the active segment, so that no existing segment changes any more. */
  rotate(): Promise<void> {
    return this.#inSequence(() => this.#closeActive());
  }

  /** Writes the appends that wait, closes the active segment, and refuses later appends. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#inSequence(async () => {
      while (this.#queue.length > 0) await this.#writeGroup();
      await this.#closeActive();
    });
  }

  #inSequence(task: () => Promise<void>): Promise<void> {
    const running = this.#lastTask
      .then(() => {
        this.#runningSince = performance.now();
        return task();
      })
      .finally(() => (this.#runningSince = undefined));
    this.#lastTask = running.catch(() => {});
    return running;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    void this.#inSequence(async () => {
      this.#scheduled = false;
      await this.#writeGroup();
      if (this.#queue.length > 0) this.#schedule();
    });
  }

  /** Writes the next group of lines. Never rejects, because each append gets its own result. */
  async #writeGroup(): Promise<void> {
    await this.#quota.refresh();
    const group = this.#nextGroup();
    if (group.length === 0) return;
    try {
      await this.#writeDurably(group);
    } catch (error) {
      this.#quota.invalidate();
      const failure = spoolFailure(error, this.#directory.path);
      for (const { reject } of group) reject(failure);
      return;
    }
    for (const { resolve } of group) resolve();
  }

  #nextGroup(): PendingAppend[] {
    const group: PendingAppend[] = [];
    for (let bytes = 0; bytes < segmentBytes;) {
      const append = this.#queue.shift();
      if (!append) break;
      const { length } = append;
      this.#queuedBytes -= length;
      if (!this.#quota.take(length)) {
        append.reject(spoolFull(this.#quota.maxBytes));
        continue;
      }
      group.push(append);
      bytes += length;
    }
    return group;
  }

  /** Writes a group. Tries a new segment once after a failure, and after each adoption by another process. */
  async #writeDurably(group: readonly PendingAppend[]): Promise<void> {
    let failures = 0;
    for (let takeovers = 0; takeovers <= maxTakeovers;) {
      try {
        const segment = await this.#openActive();
        const bytes = Buffer.concat(group.map(({ content }) => encodeLine(content, segment.key)));
        segment.size += bytes.length;
        await segment.handle.appendFile(bytes);
        await segment.handle.datasync();
        if (await this.#isInPlace(segment)) {
          segment.acknowledged = true;
          return;
        }
        takeovers += 1;
        this.#own.drop(segment.name);
        await this.#closeActive();
      } catch (error) {
        await this.#closeActive();
        failures += 1;
        if (failures > 1) throw error;
      }
    }
    throw new Error("Other processes adopted every new segment immediately. Do their clocks agree?");
  }

  /**
   * Returns whether the file still has its name. Called between the fsync and the acknowledgement. Another
   * process renames a file before it reads the file. So if the name is unchanged, a later reader will find
   * these bytes.
   */
  async #isInPlace({ name, dev, ino }: OpenSegment): Promise<boolean> {
    const stats = await ifFound(this.#directory.fs.stat(this.#directory.file(name), { bigint: true }));
    return stats?.dev === dev && stats.ino === ino;
  }

  async #openActive(): Promise<OpenSegment> {
    const active = this.#active;
    if (active && (active.size >= segmentBytes || !this.#own.names.includes(active.name)))
      await this.#closeActive();
    if (!this.#active) {
      this.#active = await createSegment(this.#directory, this.#own.nextName());
      // The segment is added last, because a drain treats every own segment as closed, except the active one.
      this.#own.add(this.#active.name);
    }
    return this.#active;
  }

  /**
   * Closes the active segment, which is never written again. After a failed fsync, the system may have
   * dropped its pages, and a later fsync would succeed without them. The file stays for the drain if a line
   * in it was acknowledged. Otherwise it is removed, so that a full disk does not get a file for each refused
   * webhook.
   */
  async #closeActive(): Promise<void> {
    const segment = this.#active;
    if (!segment) return;
    this.#active = undefined;
    // A failed close does not matter, because all acknowledged lines are on disk.
    await segment.handle.close().catch(() => {});
    if (segment.acknowledged) return;
    this.#own.drop(segment.name);
    await this.#directory.remove(segment.name).catch(() => {});
  }
}

/** Creates an empty segment. Resolves when the directory entries of the segment and the key are on disk. */
async function createSegment(directory: SpoolDirectory, name: string): Promise<OpenSegment> {
  await directory.make();
  const key = await readOrMakeKey(directory);
  const handle = await directory.fs.open(directory.file(name), "ax", 0o600);
  try {
    const { dev, ino } = await handle.stat({ bigint: true });
    await directory.sync();
    return { name, handle, key, dev, ino, size: 0, acknowledged: false };
  } catch (error) {
    await handle.close().catch(() => {});
    await directory.remove(name).catch(() => {});
    throw error;
  }
}

function spoolFull(maxBytes: number): TillkitError {
  return new TillkitError("spool_full", `The spool has reached its limit of ${maxBytes} bytes.`);
}
