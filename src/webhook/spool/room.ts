import { type SpoolDirectory } from "./spool-directory.js";

/** How much room is left under the bound, over all segments of the directory that this process can see. */
export class Room {
  readonly #directory: SpoolDirectory;
  readonly #maxBytes: number;
  readonly #freshMs: number;
  #used = 0;
  #lookedAt = -Infinity;

  /** What other processes write meanwhile is seen `freshMs` later at most. */
  constructor(directory: SpoolDirectory, { maxBytes, freshMs }: { maxBytes: number; freshMs: number }) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
    this.#freshMs = freshMs;
  }

  /** Looks at the directory again where that is due. */
  async look(): Promise<void> {
    if (performance.now() - this.#lookedAt < this.#freshMs) return;
    try {
      this.#used = (await this.#directory.list()).reduce((sum, { size }) => sum + size, 0);
      this.#lookedAt = performance.now();
    } catch {
      // The last figure must do; where the disk is in trouble, the write says so.
    }
  }

  /** Takes the room for so many bytes, or answers false. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.#maxBytes) return false;
    this.#used += bytes;
    return true;
  }

  /** To be called after a segment was removed, or a write failed. */
  lookAgain(): void {
    this.#lookedAt = -Infinity;
  }
}
