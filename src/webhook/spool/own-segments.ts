import { createHash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { failedWith, segmentEnding, type SegmentFile, type SpoolDirectory } from "./spool-directory.js";

/** The segments that this spool owns, in order, with the heartbeat that keeps other processes from adopting them. */
export class OwnSegments {
  readonly #directory: SpoolDirectory;
  readonly #options: { heartbeatMs: number; deadAfterMs: number };
  readonly #random = randomBytes(8).toString("hex");
  #names: readonly string[] = [];
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;

  constructor(directory: SpoolDirectory, options: { heartbeatMs: number; deadAfterMs: number }) {
    this.#directory = directory;
    this.#options = options;
  }

  /** The names of the segments. A change replaces the list, so that a loop over it is not affected. */
  get names(): readonly string[] {
    return this.#names;
  }

  /**
   * Returns a name that was never used before: `<host>-<pid>-<random>-<number>.spool`. The random part belongs to this
   * spool; the number keeps its segments in order.
   */
  nextName(): string {
    const number = String(++this.#count).padStart(8, "0");
    return `${hostId()}-${process.pid}-${this.#random}-${number}${segmentEnding}`;
  }

  /** Adds a segment that has its name already. */
  add(name: string): void {
    this.#names = [...this.#names, name];
    this.#timer ??= setInterval(() => {
      this.#beating ??= this.#beat().finally(() => (this.#beating = undefined));
    }, this.#options.heartbeatMs).unref();
  }

  drop(name: string): void {
    this.#names = this.#names.filter((each) => each !== name);
    if (this.#names.length === 0) this.#stop();
  }

  /**
   * Returns whether the owner is dead, or stood still for too long. A heartbeat in the future counts as none: the clock was
   * set back, and a living owner would have corrected it.
   */
  isAbandoned({ name, mtimeMs }: SegmentFile): boolean {
    return Math.abs(Date.now() - mtimeMs) > this.#options.deadAfterMs || isOwnerGone(name);
  }

  /**
   * Takes over an abandoned segment. Returns its new name, or `undefined` if another process adopted it first. The rename
   * decides: only one adopter wins, and an owner that wakes up misses its file and writes to a new one.
   */
  async adopt(name: string): Promise<string | undefined> {
    const { fs } = this.#directory;
    const adopted = this.nextName();
    const now = new Date();
    try {
      // Before the rename, so that the new name never has the dead process's heartbeat.
      await fs.utimes(this.#directory.file(name), now, now);
      await fs.rename(this.#directory.file(name), this.#directory.file(adopted));
    } catch (error) {
      if (failedWith(error, "ENOENT")) return undefined;
      throw error;
    }
    this.add(adopted);
    return adopted;
  }

  /** Stops the heartbeat and dates the segments back, so that the next process can adopt them without a delay. */
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

  /** Uses the system's clock, because other processes compare these file times with it. */
  async #beat(time = new Date()): Promise<void> {
    for (const name of this.#names) {
      try {
        await this.#directory.fs.utimes(this.#directory.file(name), time, time);
      } catch (error) {
        // ENOENT: another process adopted it. Other failures only make adoption likelier, which loses nothing.
        if (failedWith(error, "ENOENT")) this.drop(name);
      }
    }
  }
}

const namePattern = /^([0-9a-f]{12})-(\d{1,10})-[0-9a-f]{16}-\d{8}\.spool$/;

/** Returns whether the owning process is known to be gone. If this is unknown, the heartbeat decides. */
function isOwnerGone(name: string): boolean {
  const [, host, pid] = namePattern.exec(name) ?? [];
  if (host !== hostId()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    // EPERM means that it lives, under another user.
    return failedWith(error, "ESRCH");
  }
}

let knownHostId: string | undefined;

/** Returns an id of the scope in which process numbers are unique: one boot of one machine, and one container of it. */
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

/** Returns the content, or `undefined` on a system without this file. Only Linux has it. */
function readIfPresent(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
