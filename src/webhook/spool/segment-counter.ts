import { type OwnSegments } from "./own-segments.js";
import { readLines } from "./record-line.js";
import { readSpoolKey } from "./spool-key.js";
import { ifFound, type SegmentFile, type SpoolDirectory } from "./spool-directory.js";

/** The content of the spool's directory, including the segments of other processes. */
export interface SpoolStats {
  /** The number of webhooks that wait for a drain. */
  records: number;
  bytes: number;
  segments: number;
  /** The number of webhooks that were set aside. A person must look at them. */
  setAside: number;
  /** The time at which the oldest waiting webhook arrived: ISO 8601 UTC. */
  oldestAt?: string;
}

interface SegmentCount {
  /** The number of bytes that were read and counted. */
  size: number;
  /** The number of lines that were recorded or set aside, and are not counted. */
  ended: number;
  records: number;
  oldestAt: string | undefined;
}

const uncounted: SegmentCount = { size: 0, ended: 0, records: 0, oldestAt: undefined };

/** Returns a function that counts the waiting webhooks. The function usually reads only new bytes. */
export function createSegmentCounter(
  directory: SpoolDirectory,
  own: Pick<OwnSegments, "endedIn">,
): () => Promise<Omit<SpoolStats, "setAside">> {
  let known = new Map<string, SegmentCount>();

  async function count(
    { name, size, exposure }: SegmentFile,
    last: SegmentCount | undefined,
  ): Promise<SegmentCount> {
    if (exposure !== undefined) return uncounted;
    // A copy, because a drain may record more webhooks during the count.
    const ended = new Set(own.endedIn(name));
    const from = ended.size > 0 || last?.oldestAt === undefined ? uncounted : last;
    const added = await ifFound(readRange(name, from.size, size));
    // The segment was drained or adopted after the directory was listed.
    if (!added) return uncounted;
    let { records } = from;
    for (let end = added.indexOf("\n"); end !== -1; end = added.indexOf("\n", end + 1)) records += 1;
    records -= ended.size;
    const oldestAt = from.oldestAt ?? (await findOldest(added, ended));
    return { size: from.size + added.length, ended: ended.size, records, oldestAt };
  }

  async function readRange(name: string, from: number, to: number): Promise<Buffer> {
    const handle = await directory.fs.open(directory.file(name), "r");
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(to - from), 0, to - from, from);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  }

  async function findOldest(added: Buffer, ended: ReadonlySet<number>): Promise<string | undefined> {
    const lines = readLines(added, await readSpoolKey(directory));
    return lines.find(({ webhook }, index) => webhook && !ended.has(index))?.webhook?.receivedAt;
  }

  return async () => {
    const counted = new Map<string, SegmentCount>();
    for (const file of await directory.list()) {
      const last = known.get(file.name);
      const isKnown = last?.size === file.size && last.ended === own.endedIn(file.name).size;
      counted.set(file.name, isKnown ? last : await count(file, last));
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
