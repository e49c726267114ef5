import { createHash, randomBytes } from "node:crypto";
import { segmentEnding, type SpoolDirectory } from "./spool-directory.js";

/** Gets each webhook that was set aside: the reason, and the file that contains it now. */
export type SetAsideListener = (reason: Error, file: string) => void;

/**
 * Puts a line of a segment that can never be drained into a file of its own, beside a text file with the reason. Resolves
 * when both are on disk. Move the file back into the spool's directory to try the webhook again.
 */
export type SetAside = (line: Buffer, reason: Error) => Promise<void>;

/** Returns a {@link SetAside} that writes to this directory. */
export function createSetAside(
  directory: SpoolDirectory,
  { now, onSetAside }: { now: () => Date; onSetAside: SetAsideListener | undefined },
): SetAside {
  return async (line, reason) => {
    // Named by its content, so that a second drain does not duplicate it.
    const digest = createHash("sha256").update(line).digest("hex").slice(0, 32);
    const name = digest + segmentEnding;
    await directory.make();
    if (await directory.find(name)) return directory.sync();
    await writeFile(directory, `${digest}.txt`, `${now().toISOString()} ${printReason(reason)}\n`);
    await writeFile(directory, name, Buffer.concat([line, Buffer.from("\n")]));
    await directory.sync();
    try {
      onSetAside?.(reason, directory.file(name));
    } catch {
      // The line is on disk, and the drain must go on.
    }
  };
}

/** Writes a temporary file and renames it, so that a crash leaves no incomplete file under this name. */
async function writeFile(directory: SpoolDirectory, name: string, content: Buffer | string): Promise<void> {
  const { fs } = directory;
  const draft = directory.file(`.${randomBytes(8).toString("hex")}.tmp`);
  try {
    const handle = await fs.open(draft, "wx", 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await fs.rename(draft, directory.file(name));
  } catch (error) {
    await fs.unlink(draft).catch(() => {});
    throw error;
  }
}

/** Returns the error's code and message in one line. */
function printReason(reason: Error): string {
  const code = "code" in reason ? `${String(reason.code)}: ` : "";
  return `${code}${reason.message}`.replace(/\s+/g, " ").slice(0, 1000);
}
