import { adoptSegment } from "./adopt-segment.js";
import { drainSegment, type Draining, type SegmentEnd } from "./drain-segment.js";
import { failedWith } from "./file-system.js";
import { type OwnSegments } from "./own-segments.js";
import { type Room } from "./room.js";
import { type SegmentWriter } from "./segment-writer.js";
import { spoolClosed, spoolFailure } from "./spool-errors.js";
import { type SpoolDirectory } from "./spool-directory.js";

/** What one drain did. */
export interface DrainResult {
  /** Records that were kept. */
  drained: number;
  /** Records that were set aside. */
  setAside: number;
  /** Why records were left behind: what the store, or the spool's own disk, said. Missing when none was. */
  leftBecause?: unknown;
}

/** The parts that a drain works on. */
export interface DrainParts {
  directory: SpoolDirectory;
  own: OwnSegments;
  writer: SegmentWriter;
  room: Room;
  deadAfterMs: number;
}

/** Drains what is there: never rejects, but says why something was left. */
export async function drainSpool(parts: DrainParts, draining: Draining): Promise<DrainResult> {
  const left: unknown[] = [];
  try {
    for await (const name of nextSegment(parts, left)) {
      const ended = await drainNamed(parts, draining, name);
      if (ended.end !== "drained") left.push(ended.because);
      if (ended.end === "stopped") break;
    }
  } catch (error) {
    left.push(spoolFailure(error, parts.directory.path));
  }
  return { ...draining.done, ...(left.length > 0 && { leftBecause: left[0] }) };
}

async function drainNamed(parts: DrainParts, draining: Draining, name: string): Promise<SegmentEnd> {
  const { directory, own, room } = parts;
  if (draining.isClosed()) return { end: "stopped", because: spoolClosed() };
  try {
    const ended = await drainSegment(draining, await directory.fs.readFile(directory.file(name)), name);
    if (ended.end !== "drained") return ended;
    await directory.remove(name);
    // Should the entry come back after a power failure, its records are drained once more, which is harmless.
    await directory.sync().catch(() => {});
  } catch (error) {
    // Gone: this process stood still, and another adopted it. Anything else concerns this segment alone.
    if (!failedWith(error, "ENOENT")) return { end: "left", because: spoolFailure(error, directory.path) };
  }
  own.drop(name);
  room.lookAgain();
  return { end: "drained" };
}

/**
 * Own segments first, then those of dead processes, each adopted only when its turn comes. The segment that is being
 * written comes last and is rotated then, so that a store which stays down does not make a file at every try.
 */
async function* nextSegment(parts: DrainParts, left: unknown[]): AsyncGenerator<string> {
  const { directory, own, writer } = parts;
  const seen = new Set<string>();
  function* closed(): Generator<string> {
    for (const name of own.names()) {
      if (name === writer.activeName || seen.has(name)) continue;
      seen.add(name);
      yield name;
    }
  }
  yield* closed();
  for (const { name } of await directory.list()) {
    if (own.has(name)) continue;
    try {
      const adopted = await adoptSegment(parts, name);
      if (adopted === undefined) continue;
      seen.add(adopted);
      yield adopted;
    } catch (error) {
      left.push(spoolFailure(error, directory.path));
    }
  }
  await writer.rotate();
  yield* closed();
}
