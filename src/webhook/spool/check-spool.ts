import { requireKey } from "./spool-key.js";
import { type SegmentWriter } from "./segment-writer.js";
import { type StoreTie } from "./store-tie.js";
import { type SpoolDirectory } from "./spool-directory.js";

/**
 * Throws the problem because of which the spool cannot accept webhooks, or cannot return webhooks that wait.
 * Creates nothing.
 *
 * @throws TillkitError `path_exposed`; `spool_unavailable` for the directory of another store; otherwise the
 * error of the file system, or an error for a missing or damaged file, or for a disk that hangs
 */
export async function checkSpool(
  directory: SpoolDirectory,
  tie: Pick<StoreTie, "check">,
  writer: Pick<SegmentWriter, "requireProgress">,
): Promise<void> {
  await tie.check();
  writer.requireProgress();
  const segments = await directory.list();
  await directory.requireWritable();
  await requireKey(directory, segments);
}
