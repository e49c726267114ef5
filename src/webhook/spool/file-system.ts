import * as fileSystem from "node:fs/promises";

/** What the spool needs of a file system; tests put a failing one in its place. */
export type FileSystem = Pick<
  typeof fileSystem,
  "mkdir" | "open" | "readdir" | "readFile" | "rename" | "stat" | "unlink" | "utimes"
>;

export const realFileSystem: FileSystem = fileSystem;

/**
 * Whether the system call failed with one of these codes. Not asked with `instanceof`: under jest, the system's errors
 * are of another realm.
 */
export function failedWith(error: unknown, ...codes: string[]): boolean {
  return typeof error === "object" && error !== null && "code" in error && codes.includes(String(error.code));
}
