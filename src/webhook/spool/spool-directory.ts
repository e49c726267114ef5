import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import * as fileSystem from "node:fs/promises";
import path from "node:path";
import { hasCode, TillkitError } from "../../errors/index.js";
import { because } from "../../shared/because.js";
import { findExposure, isWritable, refuseExposed } from "../../shared/exposed-path.js";

/** The part of the file system that the spool uses. Tests replace it by a file system that fails. */
export type FileSystem = Pick<
  typeof fileSystem,
  | "access"
  | "chmod"
  | "link"
  | "lstat"
  | "mkdir"
  | "open"
  | "readdir"
  | "readFile"
  | "rename"
  | "stat"
  | "unlink"
  | "utimes"
>;

export const realFileSystem: FileSystem = fileSystem;

/** The ending of every segment's name. */
export const segmentEnding = ".spool";

/** The form of a draft's name. A draft is a file that is still being written. */
const draftPattern = /^\.[0-9a-f]{16}\.tmp$/;

/** The maximum age of a draft. An older one is not being written any more. */
const maxDraftMs = 60 * 60 * 1000;

/** A segment in a directory listing. */
export interface SegmentFile {
  name: string;
  size: number;
  mtimeMs: number;
  /** The reason why other users may have written to the segment. Such a segment is not read. */
  exposure?: string | undefined;
}

/** A directory of segments, with operations that change it durably. */
export class SpoolDirectory {
  readonly path: string;
  readonly fs: FileSystem;
  /** The topmost directory that `make` created and whose entry is not on disk yet. */
  #firstMade: string | undefined;

  constructor(directory: string, fs: FileSystem) {
    this.path = path.resolve(directory);
    this.fs = fs;
  }

  file(name: string): string {
    return path.join(this.path, name);
  }

  /**
   * Creates the directory if it is missing. Resolves when the new entries are on disk.
   *
   * @throws TillkitError `path_exposed`
   */
  async make(): Promise<void> {
    // The check comes first, because `mkdir` would follow a link.
    if (!(await this.#refuseExposed())) {
      const made = await this.fs.mkdir(this.path, { recursive: true, mode: 0o700 });
      this.#firstMade ??= made;
    }
    const first = this.#firstMade;
    if (first === undefined) return;
    for (let made = this.path; ; made = path.dirname(made)) {
      await this.#syncDirectory(path.dirname(made));
      if (made === path.resolve(first) || made === path.dirname(made)) break;
    }
    this.#firstMade = undefined;
  }

  /**
   * Returns every segment, sorted by name, so that the segments of one spool are in their order.
   *
   * @throws TillkitError `path_exposed`
   */
  async list(): Promise<SegmentFile[]> {
    await this.#refuseExposed();
    const files: SegmentFile[] = [];
    const names = (await ifFound(this.fs.readdir(this.path))) ?? [];
    for (const name of names.toSorted()) {
      const file = name.endsWith(segmentEnding) ? await this.find(name) : undefined;
      if (file) files.push(file);
    }
    return files;
  }

  async find(name: string): Promise<SegmentFile | undefined> {
    const stats = await ifFound(this.fs.lstat(this.file(name)));
    if (!stats) return undefined;
    return { name, size: stats.size, mtimeMs: stats.mtimeMs, exposure: findExposure(stats, "file") };
  }

  /**
   * Reads a file.
   *
   * @throws TillkitError `path_exposed`
   */
  async read(name: string): Promise<Buffer> {
    const file = this.file(name);
    refuseExposed(file, await this.fs.lstat(file), "file");
    return this.fs.readFile(file);
  }

  /**
   * Writes a file through a draft, so that a crash leaves no incomplete file under this name. If the file
   * exists, `rename` replaces it, and `link` fails with EEXIST. The entry is on disk after the next `sync`.
   */
  async write(name: string, content: Buffer | string, place: "rename" | "link"): Promise<void> {
    const draft = this.file(`.${randomBytes(8).toString("hex")}.tmp`);
    try {
      const handle = await this.fs.open(draft, "wx", 0o600);
      try {
        await handle.writeFile(content);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await this.fs[place](draft, this.file(name));
      if (place === "link") await this.fs.unlink(draft);
    } catch (error) {
      await this.fs.unlink(draft).catch(() => {});
      throw error;
    }
  }

  /** Removes drafts that a crash has left. */
  async removeOldDrafts(): Promise<void> {
    for (const name of (await ifFound(this.fs.readdir(this.path))) ?? []) {
      const stats = draftPattern.test(name) && (await ifFound(this.fs.lstat(this.file(name))));
      if (stats && Date.now() - stats.mtimeMs > maxDraftMs) await this.remove(name);
    }
  }

  /** Removes a file. A missing file is not an error. */
  async remove(name: string): Promise<void> {
    await ifFound(this.fs.unlink(this.file(name)));
  }

  /** Writes the directory to disk, with its new, renamed and removed entries. */
  sync(): Promise<void> {
    return this.#syncDirectory(this.path);
  }

  /** Throws if this process cannot write to the directory, or cannot create it. */
  async requireWritable(directory = this.path): Promise<void> {
    const parent = path.dirname(directory);
    const rights = this.fs.access(directory, constants.W_OK | constants.X_OK).then(() => true);
    if (!(await ifFound(rights)) && parent !== directory) await this.requireWritable(parent);
  }

  /** Returns whether the directory exists. Throws `path_exposed` if other users could write to it. */
  async #refuseExposed(): Promise<boolean> {
    const found = await ifFound(this.fs.lstat(this.path));
    if (!found) return false;
    refuseExposed(this.path, await this.#withoutGroup(found), "directory");
    return true;
  }

  /**
   * Removes the group's write permission from a directory that this process owns. Kubernetes gives a volume's
   * group this permission at each start of a container. A directory of another user, such as root, stays
   * unchanged, because it may have other uses.
   */
  async #withoutGroup(found: Stats): Promise<Stats> {
    const isOwn = found.isDirectory() && found.uid === process.geteuid?.();
    if (!isOwn || isWritable(found, "all") || !isWritable(found, "group")) return found;
    await this.fs.chmod(this.path, found.mode & 0o755);
    return this.fs.lstat(this.path);
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

/** Returns whether the system call failed with one of these codes. Does not use `instanceof`. */
export function failedWith(error: unknown, ...codes: string[]): boolean {
  return codes.includes(String((error as { code?: unknown } | null | undefined)?.code));
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
  if (hasCode(cause, "path_exposed") || hasCode(cause, "spool_unavailable")) return cause;
  return failedWith(cause, "ENOSPC", "EDQUOT")
    ? new TillkitError("spool_full", `The disk of the spool is full: ${directory}.`, { cause })
    : new TillkitError("spool_unavailable", `The spool ${directory} cannot be used${because(cause)}`, {
        cause,
      });
}
