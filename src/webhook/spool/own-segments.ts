import { createHash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { failedWith, segmentEnding, type SegmentFile, type SpoolDirectory } from "./spool-directory.js";

/** The segments of this spool, in their order. A heartbeat prevents their adoption by other processes. */
export class OwnSegments {
  readonly #directory: SpoolDirectory;
  readonly #options: { heartbeatMs: number; deadAfterMs: number };
  readonly #random = randomBytes(8).toString("hex");
  #names: readonly string[] = [];
  /** The indexes of the lines that were recorded or set aside, by the name of the segment. */
  readonly #ended = new Map<string, Set<number>>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;

  constructor(directory: SpoolDirectory, options: { heartbeatMs: number; deadAfterMs: number }) {
    this.#directory = directory;
    this.#options = options;
  }

  /** The names of the segments. A change makes a new list, so that a running loop keeps its own. */
  get names(): readonly string[] {
    return this.#names;
  }

  /**
   * Returns a new name: `<host>-<pid>-<random>-<number>.spool`. The random part belongs to this spool. The
   * number keeps its segments in order.
   */
  nextName(): string {
    const number = String(++this.#count).padStart(8, "0");
    return `${hostId()}-${process.pid}-${this.#random}-${number}${segmentEnding}`;
  }

  /** Adds a segment whose file exists, and starts the heartbeat. */
  add(name: string): void {
    this.#names = [...this.#names, name];
    this.#timer ??= setInterval(() => {
      this.#beating ??= this.#beat().finally(() => (this.#beating = undefined));
    }, this.#options.heartbeatMs).unref();
  }

  drop(name: string): void {
    this.#ended.delete(name);
    this.#names = this.#names.filter((each) => each !== name);
    if (this.#names.length === 0) this.#stop();
  }

  /** Notes that a line of a closed segment was recorded or set aside, while other lines wait. */
  noteEnded(name: string, index: number): void {
    const ended = this.#ended.get(name) ?? new Set();
    this.#ended.set(name, ended.add(index));
  }

  /** Returns the indexes of the lines that were recorded or set aside. */
  endedIn(name: string): ReadonlySet<number> {
    return this.#ended.get(name) ?? new Set();
  }

  /**
   * Returns whether the owner is dead, or was paused for too long. A heartbeat too far in the future counts
   * as missing. In this case the clock was set back, and a living owner would have written a new heartbeat
   * since.
   */
  isAbandoned({ name, mtimeMs }: SegmentFile): boolean {
    return Math.abs(Date.now() - mtimeMs) > this.#options.deadAfterMs || isOwnerGone(name);
  }

  /**
   * Takes over an abandoned segment by renaming it. Resolves to its new name, or to `undefined` if another
   * process was first. Only one rename succeeds. If the old owner wakes up, it does not find its file, and
   * writes to a new one.
   */
  async adopt(name: string): Promise<string | undefined> {
    const { fs } = this.#directory;
    const adopted = this.nextName();
    const now = new Date();
    try {
      // The time is set before the rename, so that the new name never has the dead process's heartbeat.
      await fs.utimes(this.#directory.file(name), now, now);
      await fs.rename(this.#directory.file(name), this.#directory.file(adopted));
    } catch (error) {
      if (failedWith(error, "ENOENT")) return undefined;
      throw error;
    }
    this.add(adopted);
    return adopted;
  }

  /** Stops the heartbeat and makes the segments old, so that another process can adopt them immediately. */
  async release(): Promise<void> {
    this.#stop();
    await this.#beating;
    await this.#beat(new Date(0));
    this.#names = [];
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Sets the time of each segment's file. Other processes compare this time with the system's clock. */
  async #beat(time = new Date()): Promise<void> {
    for (const name of this.#names) {
      try {
        await this.#directory.fs.utimes(this.#directory.file(name), time, time);
      } catch (error) {
        // ENOENT means that another process adopted the segment. Any other failure only makes an adoption
        // likelier.
        if (failedWith(error, "ENOENT")) this.drop(name);
      }
    }
  }
}

const namePattern = /^([0-9a-f]{12})-(\d{1,10})-[0-9a-f]{16}-\d{8}\.spool$/;

/** Returns whether the owning process has certainly ended. Otherwise, the heartbeat decides. */
function isOwnerGone(name: string): boolean {
  const [, host, pid] = namePattern.exec(name) ?? [];
  if (host !== hostId()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    // ESRCH means that the process has ended. EPERM means that it lives, under another user.
    return failedWith(error, "ESRCH");
  }
}

let knownHostId: string | undefined;

/** Returns an id of the scope in which process ids are unique: one boot, and one container, of a machine. */
function hostId(): string {
  knownHostId ??= createHash("sha256")
    .update(
      JSON.stringify([
        hostname(),
        readIfPresent(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")),
        readIfPresent(() => readlinkSync("/proc/self/ns/pid")),
      ]),
    )
    .digest("hex")
    .slice(0, 12);
  return knownHostId;
}

/** Returns the content, or `undefined` on a system without this file. Only Linux has the file. */
function readIfPresent(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
