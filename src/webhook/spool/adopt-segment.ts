import { failedWith } from "./file-system.js";
import { type OwnSegments } from "./own-segments.js";
import { isOwnerGone } from "./segment-name.js";
import { type SpoolDirectory } from "./spool-directory.js";

/**
 * Takes a segment over from a process that is dead, or that stood still for so long that it seems so. Answers the
 * segment's new name, or nothing where its owner lives or another adopter was faster.
 *
 * The rename is what decides: one adopter wins, and an owner that wakes up finds its name gone and writes elsewhere.
 */
export async function adoptSegment(
  { directory, own, deadAfterMs }: { directory: SpoolDirectory; own: OwnSegments; deadAfterMs: number },
  name: string,
): Promise<string | undefined> {
  const file = await directory.find(name);
  if (!file || !isAbandoned(file, deadAfterMs)) return undefined;
  const adopted = own.nextName();
  const now = new Date();
  try {
    // Before the rename, so that it never stands under this process's name with a dead one's heartbeat.
    await directory.fs.utimes(directory.file(name), now, now);
    await directory.fs.rename(directory.file(name), directory.file(adopted));
  } catch (error) {
    if (failedWith(error, "ENOENT")) return undefined;
    throw error;
  }
  own.add(adopted);
  return adopted;
}

/** A heartbeat from the future counts as none: the clock was set back, and a living owner would have followed. */
function isAbandoned({ name, mtimeMs }: { name: string; mtimeMs: number }, deadAfterMs: number): boolean {
  return Math.abs(Date.now() - mtimeMs) > deadAfterMs || isOwnerGone(name);
}
