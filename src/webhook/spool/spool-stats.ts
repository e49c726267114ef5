import { failedWith } from "./file-system.js";
import { readLines } from "./record-line.js";
import { type SegmentFile, type SpoolDirectory } from "./spool-directory.js";

/** What the spool's directory holds, of all processes. */
export interface SpoolStats {
  /** Records that wait to be drained. */
  records: number;
  bytes: number;
  segments: number;
  /** Records that can never be drained, and wait for somebody to look at them. */
  setAside: number;
  /** When the oldest waiting record arrived: ISO 8601 UTC. */
  oldestAt?: string;
}

interface Counted {
  size: number;
  records: number;
  oldestAt?: string;
}

/** Counts records. A segment only grows, so what was counted once is not read again. */
export class SegmentCounter {
  readonly #directory: SpoolDirectory;
  #known = new Map<string, Counted>();

  constructor(directory: SpoolDirectory) {
    this.#directory = directory;
  }

  async count(): Promise<Omit<SpoolStats, "setAside">> {
    const counted = new Map<string, Counted>();
    for (const file of await this.#directory.list()) {
      const known = this.#known.get(file.name);
      counted.set(file.name, known?.size === file.size ? known : await this.#read(file, known));
    }
    this.#known = counted;
    const all = [...counted.values()];
    const oldestAt = all.flatMap(({ oldestAt }) => oldestAt ?? []).toSorted()[0];
    return {
      records: all.reduce((sum, { records }) => sum + records, 0),
      bytes: all.reduce((sum, { size }) => sum + size, 0),
      segments: all.length,
      ...(oldestAt !== undefined && { oldestAt }),
    };
  }

  async #read({ name, size }: SegmentFile, known: Counted | undefined): Promise<Counted> {
    const from = known?.oldestAt === undefined ? { size: 0, records: 0 } : known;
    const added = await this.#readRange(name, from.size, size);
    const records = from.records + added.reduce((sum, byte) => sum + (byte === 0x0a ? 1 : 0), 0);
    const oldestAt = known?.oldestAt ?? readLines(added).find(({ webhook }) => webhook)?.webhook?.receivedAt;
    // As far as it was read: the rest is read the next time.
    return { size: from.size + added.length, records, ...(oldestAt !== undefined && { oldestAt }) };
  }

  async #readRange(name: string, from: number, to: number): Promise<Buffer> {
    try {
      const handle = await this.#directory.fs.open(this.#directory.file(name), "r");
      try {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(to - from), 0, to - from, from);
        return buffer.subarray(0, bytesRead);
      } finally {
        await handle.close();
      }
    } catch (error) {
      // Drained or adopted since it was listed.
      if (failedWith(error, "ENOENT")) return Buffer.alloc(0);
      throw error;
    }
  }
}
