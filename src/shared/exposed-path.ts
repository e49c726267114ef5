import { type Stats } from "node:fs";
import { TillkitError } from "../errors/index.js";

/**
 * Returns the reason why other users may have written to a file or directory, or `undefined`. `stats` must
 * come from `lstat`, which does not follow a link. On Windows there is no owner or mode, so only the kind is
 * checked.
 */
export function findExposure(stats: Stats, kind: "file" | "directory"): string | undefined {
  if (stats.isSymbolicLink()) return "is a symbolic link";
  if (!(kind === "file" ? stats.isFile() : stats.isDirectory())) return `is not a ${kind}`;
  const user = process.geteuid?.();
  if (user === undefined) return undefined;
  // A container's volume often belongs to root, so root is accepted as the owner.
  if (stats.uid !== user && stats.uid !== 0)
    return `belongs to user ${stats.uid}, and this process runs as user ${user}`;
  const writers = isWritable(stats, "all") ? "all users" : "its group";
  // A user who may write to a directory may also replace its files, so the group may not write to it. Files
  // that the group may write are accepted. The lines of the spool's files are signed.
  const isExposed = isWritable(stats, "all") || (kind === "directory" && isWritable(stats, "group"));
  return isExposed ? `can be written by ${writers} (mode ${(stats.mode & 0o777).toString(8)})` : undefined;
}

/** Returns whether the group, or all users, may write to a file or directory. */
export function isWritable({ mode }: Stats, by: "group" | "all"): boolean {
  return (mode & (by === "group" ? 0o020 : 0o002)) !== 0;
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
