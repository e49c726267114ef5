import { OpenSegment } from "./open-segment.js";
import { type OwnSegments } from "./own-segments.js";
import { type Room } from "./room.js";
import { spoolClosed, spoolFailure, spoolFull } from "./spool-errors.js";
import { type SpoolDirectory } from "./spool-directory.js";

/** What writing segments needs. */
export interface WriterOptions {
  directory: SpoolDirectory;
  own: OwnSegments;
  room: Room;
  maxBytes: number;
  /** When a segment has reached this size, the next is begun. */
  segmentBytes: number;
}

interface Waiting {
  line: Buffer;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** More takeovers in a row than this are no accident: somebody's clock is wrong. */
const maxTakeovers = 3;

/**
 * Writes lines to segments, one write at a time. What arrives while one is under way is written and fsynced together
 * by the next.
 */
export class SegmentWriter {
  readonly #options: WriterOptions;
  readonly #queue: Waiting[] = [];
  #queuedBytes = 0;
  #scheduled = false;
  #closed = false;
  #lastTurn: Promise<void> = Promise.resolve();
  #active: OpenSegment | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** The segment that may still grow. */
  get activeName(): string | undefined {
    return this.#active?.name;
  }

  append(line: Buffer): Promise<void> {
    const { maxBytes } = this.#options;
    if (this.#closed) return Promise.reject(spoolClosed());
    if (this.#queuedBytes + line.length > maxBytes) return Promise.reject(spoolFull(maxBytes));
    return new Promise((resolve, reject) => {
      this.#queue.push({ line, resolve, reject });
      this.#queuedBytes += line.length;
      this.#schedule();
    });
  }

  /** When it resolves, no segment that was there at the call is written any more. */
  rotate(): Promise<void> {
    return this.#inTurn(() => this.#leave());
  }

  /** Resolves after the appends that were called before it. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#inTurn(async () => {
      while (this.#queue.length > 0) await this.#writeGroup();
      await this.#leave();
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#lastTurn.then(work);
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    void this.#inTurn(async () => {
      this.#scheduled = false;
      await this.#writeGroup();
      if (this.#queue.length > 0) this.#schedule();
    });
  }

  /** Never rejects: each append has its own answer. */
  async #writeGroup(): Promise<void> {
    await this.#options.room.look();
    const group = this.#nextGroup();
    if (group.length === 0) return;
    try {
      await this.#keep(Buffer.concat(group.map(({ line }) => line)));
    } catch (error) {
      this.#options.room.lookAgain();
      const failure = spoolFailure(error, this.#options.directory.path);
      for (const { reject } of group) reject(failure);
      return;
    }
    for (const { resolve } of group) resolve();
  }

  #nextGroup(): Waiting[] {
    const { room, maxBytes, segmentBytes } = this.#options;
    const group: Waiting[] = [];
    for (let bytes = 0; bytes < segmentBytes;) {
      const waiting = this.#queue.shift();
      if (!waiting) break;
      const { length } = waiting.line;
      this.#queuedBytes -= length;
      if (!room.take(length)) {
        waiting.reject(spoolFull(maxBytes));
        continue;
      }
      group.push(waiting);
      bytes += length;
    }
    return group;
  }

  /** Tries a new segment once after a failure, and again after each takeover. */
  async #keep(bytes: Buffer): Promise<void> {
    let failures = 0;
    for (let takeovers = 0; takeovers <= maxTakeovers;) {
      try {
        const segment = await this.#segment();
        await segment.write(bytes);
        if (await segment.isInPlace()) {
          segment.acknowledged = true;
          return;
        }
        takeovers += 1;
        this.#options.own.drop(segment.name);
        await this.#leave();
      } catch (error) {
        await this.#leave();
        failures += 1;
        if (failures > 1) throw error;
      }
    }
    throw new Error("Other processes adopted every new segment at once. Do their clocks agree?");
  }

  async #segment(): Promise<OpenSegment> {
    const { directory, own, segmentBytes } = this.#options;
    const active = this.#active;
    if (active && (active.size >= segmentBytes || !own.has(active.name))) await this.#leave();
    if (!this.#active) {
      this.#active = await OpenSegment.begin(directory, own.nextName());
      // Only now: a drain takes own segments that are not the active one for closed.
      own.add(this.#active.name);
    }
    return this.#active;
  }

  /**
   * Never writes to the active segment again: after a failed fsync the system may have dropped its pages, and a later
   * fsync would succeed without them. It stays for the drain, unless nothing in it was acknowledged: a full
   * disk must not leave a file behind for each webhook that it refuses.
   */
  async #leave(): Promise<void> {
    const { directory, own } = this.#options;
    const segment = this.#active;
    if (!segment) return;
    this.#active = undefined;
    await segment.close();
    if (segment.acknowledged) return;
    own.drop(segment.name);
    await directory.remove(segment.name).catch(() => {});
  }
}
