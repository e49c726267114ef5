import { requireKey } from "./spool-key.js";
import { type SpoolDirectory } from "./spool-directory.js";

/**
 * Throws what keeps the spool from taking webhooks or from giving back those that wait. Creates nothing.
 *
 * @throws TillkitError `path_exposed`; otherwise the error of the file system
 */
export async function checkSpool(directory: SpoolDirectory): Promise<void> {
  const segments = await directory.list();
  await directory.requireWritable();
  await requireKey(directory, segments);
}
