import { link, open, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { hasCode, TillkitError } from "../../../errors/index.js";
import { because } from "../../../shared/because.js";
import { newId } from "../../../shared/new-id.js";
import { loadDriver, openDatabase } from "./database.js";

/**
 * More pages than a file has, so that one step copies all. Between steps, a write would restart the backup.
 */
const allPages = 2 ** 31 - 1;

/**
 * Writes a copy of a SQLite file, as it is at one moment, to a path that does not exist yet. Another thread
 * copies, on a separate connection. With a write-ahead log, nothing waits for the copy. With a rollback
 * journal, commits wait.
 *
 * @throws TillkitError `backup_refused` if the path exists, `backup_failed`, `store_unavailable`,
 * `driver_missing`
 */
export async function backUp(file: string, to: string): Promise<{ bytes: number }> {
  const target = path.resolve(to);
  const refused = () =>
    new TillkitError("backup_refused", `${target} exists already, and a backup never overwrites a file.`);
  if (await stat(target).catch(() => undefined)) throw refused();
  const { DatabaseSync, backup } = await loadDriver();
  const source = openDatabase(DatabaseSync, file, { readOnly: true });
  const partial = `${target}.${newId()}.partial`;
  try {
    const { mode } = await stat(file);
    await writeFile(partial, "", { flag: "wx", mode });
    await backup(source, partial, { rate: allPages });
    await sync(partial);
    // Another backup may have taken the name meanwhile. Unlike a rename, a link never overwrites a file.
    await link(partial, target).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") throw refused();
      // Some file systems have no links.
      return rename(partial, target);
    });
    await rm(partial, { force: true });
    // Windows cannot open a directory, and does not need this call.
    if (process.platform !== "win32") await sync(path.dirname(target));
    return { bytes: (await stat(target)).size };
  } catch (cause) {
    await rm(partial, { force: true }).catch(() => {});
    if (hasCode(cause, "backup_refused")) throw cause;
    throw new TillkitError("backup_failed", `The backup ${target} could not be written${because(cause)}`, {
      cause,
    });
  } finally {
    source.close();
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
