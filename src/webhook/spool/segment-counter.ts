import { readLines } from "./record-line.js";
import { ifFound, type SpoolDirectory } from "./spool-directory.js";

/** What the spool's directory contains, of all processes. */
export interface SpoolStats {
  /** The number of webhooks that wait for a drain. */
  records: number;
  bytes: number;
  segments: number;
  /** The number of webhooks that can never be drained. Somebody must look at them. */
  setAside: number;
  /** When the oldest waiting webhook arrived: ISO 8601 UTC. */
  oldestAt?: string;
}

interface SegmentCount {
  size: number;
  records: number;
  oldestAt: string | undefined;
}

/** Returns a function that counts the webhooks in the segments. It reads only new segments and those that have grown. */
export function createSegmentCounter(directory: SpoolDirectory): () => Promise<Omit<SpoolStats, "setAside">> {
  let known = new Map<string, SegmentCount>();

  async function read(name: string, last: SegmentCount | undefined): Promise<SegmentCount> {
    const bytes = await ifFound(directory.fs.readFile(directory.file(name)));
    // Drained or adopted after it was listed.
    if (!bytes) return { size: 0, records: 0, oldestAt: undefined };
    let records = 0;
    for (let end = bytes.indexOf("\n"); end !== -1; end = bytes.indexOf("\n", end + 1)) records += 1;
    const oldestAt = last?.oldestAt ?? readLines(bytes).find(({ webhook }) => webhook)?.webhook?.receivedAt;
    return { size: bytes.length, records, oldestAt };
  }

  return async () => {
    const counted = new Map<string, SegmentCount>();
    for (const file of await directory.list()) {
      const last = known.get(file.name);
      counted.set(file.name, last?.size === file.size ? last : await read(file.name, last));
    }
    known = counted;
    const all = [...counted.values()];
    const oldestAt = all.flatMap(({ oldestAt }) => oldestAt ?? []).toSorted()[0];
    return {
      records: all.reduce((sum, { records }) => sum + records, 0),
      bytes: all.reduce((sum, { size }) => sum + size, 0),
      segments: all.length,
      ...(oldestAt !== undefined && { oldestAt }),
    };
  };
}
