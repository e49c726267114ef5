import { TillkitError } from "../../errors/index.js";
import { type OwnSegments } from "./own-segments.js";
import { checkSpool } from "./check-spool.js";
import { type Quota } from "./quota.js";
import { noKey, readLines, type ReadLine, type SpooledWebhook } from "./record-line.js";
import { type SegmentWriter } from "./segment-writer.js";
import { type SetAside } from "./set-aside.js";
import { type StoreTie } from "./store-tie.js";
import { keyMissing, readSpoolKey } from "./spool-key.js";
import { failedWith, spoolClosed, type SpoolDirectory, spoolFailure } from "./spool-directory.js";

/** Options of a drain. */
export interface DrainOptions {
  /**
   * Records several webhooks, all or none. If the call rejects, the drain records each of them separately.
   * @default each webhook is recorded separately
   */
  recordMany?: ((webhooks: readonly SpooledWebhook[]) => Promise<void>) | undefined;
  /**
   * The maximum number of webhooks in one call of `recordMany`.
   * @default 100
   */
  maxGroup?: number | undefined;
  /**
   * Returns whether a rejection of `record` means that the webhook can never be recorded. If so, the drain
   * sets the webhook aside.
   * @default never
   */
  isHopeless?: ((error: unknown) => boolean) | undefined;
  /**
   * Returns whether the webhook of this rejection waits for the next drain, while this drain continues. Any
   * other rejection stops the drain.
   * @default never
   */
  isSkipped?: ((error: unknown) => boolean) | undefined;
}

/** The result of one drain. */
export interface DrainResult {
  /** The number of webhooks that were recorded. */
  drained: number;
  /** The number of webhooks that were set aside. */
  setAside: number;
  /** The error of the store, or of the disk, that left webhooks behind. Absent if none was left. */
  leftBecause?: unknown;
}

/** The parts and options of a drain. */
export interface Draining extends DrainOptions {
  directory: SpoolDirectory;
  own: OwnSegments;
  writer: SegmentWriter;
  quota: Quota;
  setAside: SetAside;
  tie: Pick<StoreTie, "require" | "check">;
  record: (webhook: SpooledWebhook) => Promise<void>;
  isClosed: () => boolean;
}

/**
 * The reason why webhooks of a segment were left. The next drain tries them again. With `stops`, this drain
 * can drain no other segment either.
 */
interface Failure {
  because: unknown;
  stops?: true;
}

/** A line, and its index in the segment. */
type IndexedLine = ReadLine & { index: number };
type Readable = Extract<IndexedLine, { webhook: SpooledWebhook }>;

/** Drains all existing segments. Never rejects. If webhooks were left, the result contains the reason. */
export async function drainSpool(draining: Draining): Promise<DrainResult> {
  const done = { drained: 0, setAside: 0 };
  const left: unknown[] = [];
  try {
    await draining.tie.require();
  } catch (error) {
    return { ...done, leftBecause: error };
  }
  try {
    await checkSpool(draining.directory, draining.tie, draining.writer);
    await draining.directory.removeOldDrafts();
  } catch (error) {
    left.push(spoolFailure(error, draining.directory.path));
  }
  try {
    for await (const name of nextSegment(draining, left, done)) {
      const failure = await drainFile(draining, done, name);
      if (failure) left.push(failure.because);
      if (failure?.stops) break;
    }
  } catch (error) {
    left.push(spoolFailure(error, draining.directory.path));
  }
  return { ...done, ...(left.length > 0 && { leftBecause: left[0] }) };
}

/**
 * Yields this process's own segments first. Then adopts and yields the segments of dead processes, one by
 * one. The active segment is rotated only at the end, so that a failing store does not cause a new file at
 * each drain.
 */
async function* nextSegment(draining: Draining, left: unknown[], done: DrainResult): AsyncGenerator<string> {
  const { directory, own, writer, setAside, isClosed } = draining;
  const seen = new Set<string>();
  function* closedSegments(): Generator<string> {
    for (const name of own.names) {
      if (name === writer.activeName || seen.has(name)) continue;
      seen.add(name);
      yield name;
    }
  }
  yield* closedSegments();
  for (const { name } of await directory.list()) {
    if (own.names.includes(name)) continue;
    try {
      // The owner of the segment may have written a heartbeat since the list was read.
      const found = await directory.find(name);
      if (!found || !own.isAbandoned(found)) continue;
      if (isClosed()) return;
      if (found.exposure !== undefined) {
        const file = directory.file(name);
        await setAside(
          file,
          new TillkitError("path_exposed", `${file} ${found.exposure}. It was set aside.`),
        );
        done.setAside += 1;
        continue;
      }
      if (await own.adopt(name)) yield* closedSegments();
    } catch (error) {
      left.push(spoolFailure(error, directory.path));
    }
  }
  await writer.rotate();
  yield* closedSegments();
}

async function drainFile(draining: Draining, done: DrainResult, name: string): Promise<Failure | undefined> {
  const { directory, own, quota } = draining;
  try {
    const failure = await drainSegment(draining, done, name);
    if (failure) return failure;
    await directory.remove(name);
    // If a power failure restores the entry, its webhooks are drained again, which is harmless.
    await directory.sync().catch(() => {});
  } catch (error) {
    // ENOENT means that this process was paused, and another process adopted the segment.
    if (!failedWith(error, "ENOENT")) return { because: spoolFailure(error, directory.path) };
  }
  own.drop(name);
  quota.invalidate();
  return undefined;
}

/**
 * Records the webhooks of one segment in their order. Each group or webhook waits for the one before. Records
 * those of an earlier drain again, because a store that failed meanwhile may have lost them.
 */
async function drainSegment(
  draining: Draining,
  done: DrainResult,
  name: string,
): Promise<Failure | undefined> {
  const { directory, own, setAside, record, recordMany, maxGroup = 100 } = draining;
  const { isHopeless, isSkipped, isClosed } = draining;
  let failure: Failure | undefined;

  function noteDrained(...recorded: Readable[]): void {
    done.drained += recorded.length;
    for (const { index } of recorded) own.noteEnded(name, index);
  }

  async function giveUp({ line, index }: IndexedLine, reason: unknown): Promise<void> {
    try {
      await setAside(line, isError(reason) ? reason : new Error(String(reason)));
      own.noteEnded(name, index);
      done.setAside += 1;
    } catch (error) {
      // The webhook stays in its segment, which the next drain reads again. This drain continues.
      failure ??= { because: error };
    }
  }

  const lines = readLines(await directory.read(name), await readSpoolKey(directory));
  if (lines.some(({ problem }) => problem === noKey)) throw keyMissing(directory);
  const indexed = lines.map((line, index) => ({ ...line, index }));
  for (const line of indexed)
    if (line.problem !== undefined) {
      const message = `Line ${line.index + 1} of ${name} was set aside: ${line.problem}.`;
      await giveUp(line, new TillkitError("spool_record_unreadable", message));
    }

  const readable = indexed.filter((line): line is Readable => line.webhook !== undefined);
  for (let at = 0; at < readable.length; at += maxGroup) {
    const group = readable.slice(at, at + maxGroup);
    if (recordMany && group.length > 1 && !isClosed()) {
      try {
        await recordMany(group.map(({ webhook }) => webhook));
        noteDrained(...group);
        continue;
      } catch {
        // The webhooks are recorded one by one below, which shows the one that causes the error.
      }
    }
    for (const line of group) {
      if (isClosed()) return { because: spoolClosed(), stops: true };
      try {
        await record(line.webhook);
        noteDrained(line);
      } catch (error) {
        if (isHopeless?.(error)) await giveUp(line, error);
        else if (isSkipped?.(error)) failure ??= { because: error };
        else return { because: error, stops: true };
      }
    }
  }
  return failure;
}

/** Returns whether the value is an error. `instanceof` does not recognise errors of another realm. */
function isError(value: unknown): value is Error {
  return (value as Error | null | undefined)?.message !== undefined;
}
