import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { noKey, readLines } from "./record-line.js";
import { failedWith, ifFound, type SegmentFile, type SpoolDirectory } from "./spool-directory.js";

/** The file with the key, in the directory of the segments. */
const keyFile = "key";
const keyBytes = 32;

/**
 * Returns the key that signs the lines of this directory, or `undefined` if there is none yet. The webhook's
 * secret is not used for this, because it may change while lines wait.
 */
export async function readSpoolKey(directory: SpoolDirectory): Promise<KeyObject | undefined> {
  const bytes = await ifFound(directory.read(keyFile));
  if (bytes && bytes.length !== keyBytes)
    throw new Error(`The file ${directory.file(keyFile)} does not have its ${keyBytes} bytes.`);
  return bytes && createSecretKey(bytes);
}

/** Returns the error for lines that only a missing key can verify. These lines stay in their segments. */
export function keyMissing(directory: SpoolDirectory): Error {
  return new Error(
    `The file ${directory.file(keyFile)} is missing, and webhooks wait that only it can verify. Put it back.`,
  );
}

/** Throws if the key cannot be used, or if it is missing although segments contain lines that it signed. */
export async function requireKey(directory: SpoolDirectory, segments: readonly SegmentFile[]): Promise<void> {
  if (await readSpoolKey(directory)) return;
  for (const { name, exposure } of segments) {
    const content = exposure === undefined ? await ifFound(directory.read(name)) : undefined;
    if (!content || readLines(content, undefined).every(({ problem }) => problem !== noKey)) continue;
    // Another process may have made the key and the segment after the first read of the key.
    if (!(await readSpoolKey(directory))) throw keyMissing(directory);
  }
}

/**
 * Returns the key. If there is no key, makes one, unless the directory has lines that another key signed. The
 * key is durable after the next `sync` of the directory.
 */
export async function readOrMakeKey(directory: SpoolDirectory): Promise<KeyObject> {
  const known = await readSpoolKey(directory);
  if (known) return known;
  await requireKey(directory, await directory.list());
  try {
    await directory.write(keyFile, randomBytes(keyBytes), "link");
  } catch (error) {
    // EEXIST means that another process was faster. The key of that process is used.
    if (!failedWith(error, "EEXIST")) throw error;
  }
  return (await readSpoolKey(directory))!;
}
