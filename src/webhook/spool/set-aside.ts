import { createHash, randomBytes } from "node:crypto";
import { segmentEnding } from "./segment-name.js";
import { type SpoolDirectory } from "./spool-directory.js";

/** Told of each record that was set aside: why, and in which file it is now. */
export type SetAsideListener = (reason: Error, file: string) => void;

/**
 * The place for what can never be drained: one file per record, as it stood in its segment, and beside it a text that
 * says why. Moving the file back into the spool directory tries it again.
 */
export class SetAside {
  readonly #directory: SpoolDirectory;
  readonly #now: () => Date;
  readonly #listener: SetAsideListener | undefined;

  constructor(directory: SpoolDirectory, now: () => Date, listener: SetAsideListener | undefined) {
    this.#directory = directory;
    this.#now = now;
    this.#listener = listener;
  }

  /** Resolves when the record is on disk. Named by its content, so that a second drain does not keep it twice. */
  async put(line: Buffer, reason: Error): Promise<void> {
    const directory = this.#directory;
    const digest = createHash("sha256").update(line).digest("hex").slice(0, 32);
    const name = digest + segmentEnding;
    await directory.make();
    if (await directory.find(name)) return directory.sync();
    await this.#write(`${digest}.txt`, `${this.#now().toISOString()} ${describe(reason)}\n`);
    await this.#write(name, Buffer.concat([line, Buffer.from("\n")]));
    await directory.sync();
    try {
      this.#listener?.(reason, directory.file(name));
    } catch {
      // The record is safe, and the drain must go on.
    }
  }

  async count(): Promise<number> {
    return (await this.#directory.list()).length;
  }

  /** Under another name first, so that a crash leaves no half of a record under the right one. */
  async #write(name: string, content: Buffer | string): Promise<void> {
    const { fs } = this.#directory;
    const draft = this.#directory.file(`.${randomBytes(8).toString("hex")}.tmp`);
    try {
      const handle = await fs.open(draft, "wx", 0o600);
      try {
        await handle.writeFile(content);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await fs.rename(draft, this.#directory.file(name));
    } catch (error) {
      await fs.unlink(draft).catch(() => {});
      throw error;
    }
  }
}

function describe(reason: Error): string {
  const code = "code" in reason ? `${String(reason.code)}: ` : "";
  return `${code}${reason.message}`.replace(/\s+/g, " ").slice(0, 1000);
}
