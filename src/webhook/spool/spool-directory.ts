import path from "node:path";
import { failedWith, type FileSystem } from "./file-system.js";
import { segmentEnding } from "./segment-name.js";

/** A segment as the directory shows it. */
export interface SegmentFile {
  name: string;
  size: number;
  mtimeMs: number;
}

/** A directory of segments, and the durable ways to change it. */
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

  /** Makes the directory where it is missing; the entries of what was made are on disk when it resolves. */
  async make(): Promise<void> {
    const first = await this.fs.mkdir(this.path, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    for (let made = this.path; ; made = path.dirname(made)) {
      await this.#syncDirectory(path.dirname(made));
      if (made === path.resolve(first) || made === path.dirname(made)) return;
    }
  }

  /** Every segment, by name: those of one spool stand together, in order. */
  async list(): Promise<SegmentFile[]> {
    const files: SegmentFile[] = [];
    for (const name of (await this.#names()).toSorted()) {
      const file = name.endsWith(segmentEnding) ? await this.find(name) : undefined;
      if (file) files.push(file);
    }
    return files;
  }

  async find(name: string): Promise<SegmentFile | undefined> {
    try {
      const { size, mtimeMs } = await this.fs.stat(this.file(name));
      return { name, size, mtimeMs };
    } catch (error) {
      if (failedWith(error, "ENOENT")) return undefined;
      throw error;
    }
  }

  /** Removes a file; one that is gone already is as good. */
  async remove(name: string): Promise<void> {
    try {
      await this.fs.unlink(this.file(name));
    } catch (error) {
      if (!failedWith(error, "ENOENT")) throw error;
    }
  }

  /** Puts new, renamed and removed entries on disk. */
  sync(): Promise<void> {
    return this.#syncDirectory(this.path);
  }

  async #names(): Promise<string[]> {
    try {
      return await this.fs.readdir(this.path);
    } catch (error) {
      if (failedWith(error, "ENOENT")) return [];
      throw error;
    }
  }

  async #syncDirectory(directory: string): Promise<void> {
    // Windows cannot open a directory, and needs no such call.
    if (process.platform === "win32") return;
    const handle = await this.fs.open(directory, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}
