import { TillkitError } from "../../errors/index.js";
import { spoolClosed } from "./spool-errors.js";
import { readLines, type ReadLine, type SpooledWebhook } from "./record-line.js";
import { type SetAside } from "./set-aside.js";

/** How the drain keeps records, and when it gives one up. */
export interface DrainOptions {
  /**
   * Keeps several records at once, all or none; when it rejects, they are tried one by one.
   *
   * @default one by one
   */
  recordMany?: ((webhooks: readonly SpooledWebhook[]) => Promise<void>) | undefined;
  /**
   * Most records handed to `recordMany` at once.
   *
   * @default 100
   */
  maxGroup?: number | undefined;
  /**
   * Whether this rejection means that this one record can never be kept, however often it is tried. It is then set
   * aside. Any other rejection stops the drain.
   *
   * @default never
   */
  isHopeless?: ((error: unknown) => boolean) | undefined;
}

/** Draining, as one drain was called. */
export interface Draining extends DrainOptions {
  record: (webhook: SpooledWebhook) => Promise<void>;
  setAside: SetAside;
  isClosed: () => boolean;
  /** What was done so far; written here. */
  done: { drained: number; setAside: number };
}

/** What one segment came to. `left`: try it again later, the others may go on. `stopped`: nobody can go on. */
export type SegmentEnd = { end: "drained" } | { end: "left" | "stopped"; because: unknown };

type Kept = Extract<ReadLine, { webhook: SpooledWebhook }>;

/** Hands the records of one segment over, in order, the next only after the one before was kept. */
export async function drainSegment(draining: Draining, segment: Buffer, name: string): Promise<SegmentEnd> {
  const { record, recordMany, isHopeless, isClosed, done, maxGroup = 100 } = draining;
  let failure: { because: unknown } | undefined;

  async function giveUp(line: Buffer, reason: unknown): Promise<void> {
    try {
      await draining.setAside.put(line, isError(reason) ? reason : new Error(String(reason)));
      done.setAside += 1;
    } catch (error) {
      // It stays in its segment, which is then drained again: its neighbours need not wait for that.
      failure ??= { because: error };
    }
  }

  const lines = readLines(segment);
  for (const [index, { line, problem }] of lines.entries())
    if (problem !== undefined) await giveUp(line, unreadable(name, index + 1, problem));

  const readable = lines.filter((line): line is Kept => line.webhook !== undefined);
  for (let at = 0; at < readable.length; at += maxGroup) {
    const group = readable.slice(at, at + maxGroup);
    if (isClosed()) return { end: "stopped", because: spoolClosed() };
    if (recordMany && group.length > 1 && (await succeeds(recordMany, group))) {
      done.drained += group.length;
      continue;
    }
    for (const { line, webhook } of group) {
      if (isClosed()) return { end: "stopped", because: spoolClosed() };
      try {
        await record(webhook);
        done.drained += 1;
      } catch (error) {
        if (!isHopeless?.(error)) return { end: "stopped", because: error };
        await giveUp(line, error);
      }
    }
  }
  return failure ? { end: "left", ...failure } : { end: "drained" };
}

/** The reason for a failure is found one by one: only there is it known which record it belongs to. */
async function succeeds(
  recordMany: NonNullable<DrainOptions["recordMany"]>,
  group: readonly Kept[],
): Promise<boolean> {
  try {
    await recordMany(group.map(({ webhook }) => webhook));
    return true;
  } catch {
    return false;
  }
}

function unreadable(name: string, line: number, problem: string): TillkitError {
  return new TillkitError("spool_record_unreadable", `Line ${line} of ${name} was set aside: ${problem}.`);
}

/** Also one of another realm. */
function isError(value: unknown): value is Error {
  return typeof value === "object" && value !== null && "message" in value;
}
