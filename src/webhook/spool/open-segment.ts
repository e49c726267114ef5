import { type FileHandle } from "node:fs/promises";
import { failedWith } from "./file-system.js";
import { type SpoolDirectory } from "./spool-directory.js";

/** The segment that is being written. */
export class OpenSegment {
  readonly name: string;
  /** Bytes that were tried. */
  size = 0;
  /** Whether anything in it was acknowledged; if not, nobody misses it. */
  acknowledged = false;
  readonly #directory: SpoolDirectory;
  readonly #handle: FileHandle;
  readonly #inode: string;

  private constructor(directory: SpoolDirectory, name: string, handle: FileHandle, inode: string) {
    this.#directory = directory;
    this.name = name;
    this.#handle = handle;
    this.#inode = inode;
  }

  /** Begins an empty segment; its directory entry is on disk when it resolves. */
  static async begin(directory: SpoolDirectory, name: string): Promise<OpenSegment> {
    await directory.make();
    const handle = await directory.fs.open(directory.file(name), "ax", 0o600);
    try {
      const inode = inodeOf(await handle.stat({ bigint: true }));
      await directory.sync();
      return new OpenSegment(directory, name, handle, inode);
    } catch (error) {
      await handle.close().catch(() => {});
      await directory.remove(name).catch(() => {});
      throw error;
    }
  }

  /** Resolves when the bytes are on disk. */
  async write(bytes: Buffer): Promise<void> {
    this.size += bytes.length;
    await this.#handle.appendFile(bytes);
    await this.#handle.datasync();
  }

  /**
   * Whether the file still has its name. Asked after the bytes are on disk and before they are acknowledged: an
   * adopter renames first and reads afterwards, so as long as the name stands, whoever adopts it reads them.
   */
  async isInPlace(): Promise<boolean> {
    try {
      const stats = await this.#directory.fs.stat(this.#directory.file(this.name), { bigint: true });
      return inodeOf(stats) === this.#inode;
    } catch (error) {
      if (failedWith(error, "ENOENT")) return false;
      throw error;
    }
  }

  /** What was acknowledged is on disk already, so a failure to close changes nothing. */
  async close(): Promise<void> {
    await this.#handle.close().catch(() => {});
  }
}

function inodeOf({ dev, ino }: { dev: bigint; ino: bigint }): string {
  return `${dev}:${ino}`;
}
