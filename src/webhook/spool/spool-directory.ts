import * as fileSystem from "node:fs/promises";
import path from "node:path";
import { TillkitError } from "../../errors/index.js";

/** The part of the file system that the spool uses. Tests replace it by one that fails. */
export type FileSystem = Pick<
  typeof fileSystem,
  "mkdir" | "open" | "readdir" | "readFile" | "rename" | "stat" | "unlink" | "utimes"
>;

export const realFileSystem: FileSystem = fileSystem;

/** The ending of every segment's name. */
export const segmentEnding = ".spool";

/** A segment in a directory listing. */
export interface SegmentFile {
  name: string;
  size: number;
  mtimeMs: number;
}

/** A directory of segments, with durable operations to change it. */
export class SpoolDirectory {
  readonly path: string;
  readonly fs: FileSystem;

  constructor(directory: string, fs: FileSystem) {
    this.path = path.resolve(directory);
    this.fs = fs;
  }

  file(name: string): string {
    return path.join(this.path, name);
  }

  /** Creates the directory if it is missing. Resolves when the new entries are on disk. */
  async make(): Promise<void> {
    const first = await this.fs.mkdir(this.path, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    for (let made = this.path; ; made = path.dirname(made)) {
      await this.#syncDirectory(path.dirname(made));
      if (made === path.resolve(first) || made === path.dirname(made)) return;
    }
  }

  /** Returns every segment, sorted by name. The segments of one spool follow each other in their order. */
  async list(): Promise<SegmentFile[]> {
    const files: SegmentFile[] = [];
    const names = (await ifFound(this.fs.readdir(this.path))) ?? [];
    for (const name of names.toSorted()) {
      const file = name.endsWith(segmentEnding) ? await this.find(name) : undefined;
      if (file) files.push(file);
    }
    return files;
  }

  async find(name: string): Promise<SegmentFile | undefined> {
    const stats = await ifFound(this.fs.stat(this.file(name)));
    return stats && { name, size: stats.size, mtimeMs: stats.mtimeMs };
  }

  /** Removes a file. A missing file is no error. */
  async remove(name: string): Promise<void> {
    await ifFound(this.fs.unlink(this.file(name)));
  }

  /** Writes new, renamed and removed entries to disk. */
  sync(): Promise<void> {
    return this.#syncDirectory(this.path);
  }

  async #syncDirectory(directory: string): Promise<void> {
    // Windows cannot open a directory, and does not need this call.
    if (process.platform === "win32") return;
    const handle = await this.fs.open(directory, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

/** Returns whether the system call failed with one of these codes. Errors may be of another realm, as under jest. */
export function failedWith(error: unknown, ...codes: string[]): boolean {
  return typeof error === "object" && error !== null && "code" in error && codes.includes(String(error.code));
}

/** Resolves with the result of the system call, or with `undefined` if the file is missing. */
export async function ifFound<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (failedWith(error, "ENOENT")) return undefined;
    throw error;
  }
}

export function spoolClosed(): TillkitError {
  return new TillkitError("spool_unavailable", "The spool was closed.");
}

/** Returns the error for a failed write or read of the spool's files. */
export function spoolFailure(cause: unknown, directory: string): TillkitError {
  return failedWith(cause, "ENOSPC", "EDQUOT")
    ? new TillkitError("spool_full", `The disk of the spool is full: ${directory}.`, { cause })
    : new TillkitError("spool_unavailable", `The spool cannot be used: ${directory}.`, { cause });
}
