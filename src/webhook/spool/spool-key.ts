import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { failedWith, ifFound, type SpoolDirectory } from "./spool-directory.js";

/** The file with the key, in the directory of the segments. */
const keyFile = "key";
const keyBytes = 32;

/**
 * Returns the key with which this directory's lines are signed, or `undefined` if there is none yet. It belongs to the
 * directory and not to the webhook's secret, which may change while lines wait.
 */
export async function readKey(directory: SpoolDirectory): Promise<KeyObject | undefined> {
  const bytes = await ifFound(directory.read(keyFile));
  if (bytes && bytes.length !== keyBytes)
    throw new Error(`The file ${directory.file(keyFile)} does not have its ${keyBytes} bytes.`);
  return bytes && createSecretKey(bytes);
}

/** Returns the key, and makes it if there is none. It is durable after the next sync of the directory. */
export async function readOrMakeKey(directory: SpoolDirectory): Promise<KeyObject> {
  const known = await readKey(directory);
  if (known) return known;
  try {
    await directory.write(keyFile, randomBytes(keyBytes), "link");
  } catch (error) {
    // EEXIST: another process was faster, and its key counts.
    if (!failedWith(error, "EEXIST")) throw error;
  }
  return (await readKey(directory))!;
}
