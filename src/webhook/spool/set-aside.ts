import { createHash, randomUUID } from "node:crypto";
import { segmentEnding, type SpoolDirectory } from "./spool-directory.js";

/** Called for each webhook that was set aside, with the reason and the file that now contains the webhook. */
export type SetAsideListener = (reason: Error, file: string) => void;

/**
 * Moves a line that can never be drained into a file of its own, beside a text file with the reason. Resolves
 * when both files are on disk. With a path instead of a line, moves that file unchanged. To try the webhook
 * again, move the file back into the spool's directory.
 */
export type SetAside = (lineOrPath: Buffer | string, reason: Error) => Promise<void>;

/** Returns a {@link SetAside} that writes to this directory. */
export function createSetAside(
  directory: SpoolDirectory,
  { now, onSetAside }: { now: () => Date; onSetAside: SetAsideListener | undefined },
): SetAside {
  return async (given, reason) => {
    const isPath = typeof given === "string";
    // The name of a line is a hash of its content, so that a second drain makes no second file.
    const id = isPath ? randomUUID() : createHash("sha256").update(given).digest("hex").slice(0, 32);
    const name = id + segmentEnding;
    await directory.make();
    await directory.removeOldDrafts();
    if (await directory.find(name)) return directory.sync();
    const text = `${id}.txt`;
    await directory.write(text, `${now().toISOString()} ${printReason(reason)}\n`, "rename");
    if (isPath)
      await directory.fs.rename(given, directory.file(name)).catch(async (error: unknown) => {
        // The next drain uses another name, so this text would stay without its file.
        await directory.remove(text);
        throw error;
      });
    else await directory.write(name, Buffer.concat([given, Buffer.from("\n")]), "rename");
    // The listener is called before the sync. If the sync fails, the next drain finds the file and calls no
    // listener.
    try {
      onSetAside?.(reason, directory.file(name));
    } catch {
      // The file has the line, and the drain must continue.
    }
    await directory.sync();
  };
}

/** Returns the error's code and message in one line. */
function printReason(reason: Error): string {
  const code = "code" in reason ? `${String(reason.code)}: ` : "";
  return `${code}${reason.message}`.replace(/\s+/g, " ").slice(0, 1000);
}
