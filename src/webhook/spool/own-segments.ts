import { randomBytes } from "node:crypto";
import { failedWith } from "./file-system.js";
import { segmentName } from "./segment-name.js";
import { type SpoolDirectory } from "./spool-directory.js";

/** The segments that this spool answers for, in order, and the heartbeat that keeps others away from them. */
export class OwnSegments {
  readonly #directory: SpoolDirectory;
  readonly #heartbeatMs: number;
  readonly #random = randomBytes(8).toString("hex");
  readonly #names = new Set<string>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;

  constructor(directory: SpoolDirectory, heartbeatMs: number) {
    this.#directory = directory;
    this.#heartbeatMs = heartbeatMs;
  }

  /** A name that was never used before. */
  nextName(): string {
    return segmentName(this.#random, ++this.#count);
  }

  /** Takes a segment on, once it has its name. */
  add(name: string): void {
    this.#names.add(name);
    this.#timer ??= setInterval(() => {
      this.#beating ??= this.#beat().finally(() => (this.#beating = undefined));
    }, this.#heartbeatMs).unref();
  }

  drop(name: string): void {
    this.#names.delete(name);
    if (this.#names.size === 0) this.#stop();
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  names(): string[] {
    return [...this.#names];
  }

  /** Ends the heartbeat and dates the segments back, so that the next process need not wait to adopt them. */
  async release(): Promise<void> {
    this.#stop();
    await this.#beating;
    await this.#beat(new Date(0));
    this.#names.clear();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** The real clock: file times are compared with those of other processes. */
  async #beat(time = new Date()): Promise<void> {
    for (const name of this.names()) {
      try {
        await this.#directory.fs.utimes(this.#directory.file(name), time, time);
      } catch (error) {
        // Another process adopted it. Any other failure only makes that likelier, and adoption loses nothing.
        if (failedWith(error, "ENOENT")) this.drop(name);
      }
    }
  }
}
