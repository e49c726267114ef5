import { open, rm, writeFile, type FileHandle } from "node:fs/promises";

const chunkBytes = 32 * 1024;

/** Writes sorted lines as one run. */
export async function writeRun(file: string, lines: readonly string[]): Promise<void> {
  await writeFile(file, lines.join("\n") + "\n", { mode: 0o600 });
}

/** Appends to a run that is too long to be held, a batch at a time. */
export async function writeLongRun(file: string, batches: AsyncIterable<readonly string[]>): Promise<void> {
  const handle = await open(file, "wx", 0o600);
  try {
    for await (const lines of batches) await handle.write(lines.join("\n") + "\n");
  } finally {
    await handle.close();
  }
}

/** The lines of one run from the first to the last, a small piece of the file at a time. */
export class RunReader {
  /** The line that is next, or `undefined` at the end. */
  current: string | undefined;
  readonly #file: string;
  readonly #handle: FileHandle;
  #lines: string[] = [];
  #next = 0;
  #rest: Buffer = Buffer.alloc(0);

  private constructor(file: string, handle: FileHandle) {
    this.#file = file;
    this.#handle = handle;
  }

  static async open(file: string): Promise<RunReader> {
    const reader = new RunReader(file, await open(file, "r"));
    await reader.refill();
    return reader;
  }

  /** Goes to the next line; `false` where that needs {@link refill} first. */
  advance(): boolean {
    if (this.#next === this.#lines.length) return false;
    this.current = this.#lines[this.#next++];
    return true;
  }

  /** Reads the next piece, and goes to its first line. */
  async refill(): Promise<void> {
    this.current = undefined;
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const { bytesRead } = await this.#handle.read(chunk, 0, chunkBytes);
      if (bytesRead === 0) return;
      const bytes = Buffer.concat([this.#rest, chunk.subarray(0, bytesRead)]);
      const end = bytes.lastIndexOf(0x0a);
      this.#rest = bytes.subarray(end + 1);
      if (end < 0) continue;
      this.#lines = bytes.toString("utf8", 0, end).split("\n");
      this.current = this.#lines[0];
      this.#next = 1;
      return;
    }
  }

  /** Closes and removes the file. */
  async remove(): Promise<void> {
    await this.#handle.close();
    await rm(this.#file, { force: true });
  }
}
