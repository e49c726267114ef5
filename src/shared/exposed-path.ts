import { type Stats } from "node:fs";
import { TillkitError } from "../errors/index.js";

/**
 * Returns why other users could have written to a file or directory, or `undefined`. Give it the result of `lstat`, which does
 * not follow a link. Windows has no owner and no mode here: only the kind is checked.
 */
export function findExposure(stats: Stats, kind: "file" | "directory"): string | undefined {
  if (stats.isSymbolicLink()) return "is a symbolic link";
  if (!(kind === "file" ? stats.isFile() : stats.isDirectory())) return `is not a ${kind}`;
  const user = process.geteuid?.();
  if (user === undefined) return undefined;
  // The volumes of containers often belong to root, and to a group of the process.
  if (stats.uid !== user && stats.uid !== 0)
    return `belongs to user ${stats.uid}, and this process runs as user ${user}`;
  return stats.mode & 0o002
    ? `can be written by all users (mode ${(stats.mode & 0o777).toString(8)})`
    : undefined;
}

/**
 * Throws if other users could have written to a file or directory.
 *
 * @throws TillkitError `path_exposed`
 */
export function refuseExposed(path: string, stats: Stats, kind: "file" | "directory"): void {
  const exposure = findExposure(stats, kind);
  if (exposure !== undefined) throw new TillkitError("path_exposed", `${path} ${exposure}.`);
}
