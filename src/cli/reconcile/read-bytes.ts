import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import { TillkitError } from "../../errors/index.js";
import { type Context } from "../terminal/command.js";

/** A file that is read piece by piece, and how far that is. */
export interface CountedBytes {
  bytes: AsyncIterable<Uint8Array>;
  /** How long it is; `undefined` where that is not known. */
  total: number | undefined;
  /** How many bytes were read so far. */
  read: () => number;
}

/**
 * Opens a file, or standard input for `-`, to be read piece by piece.
 *
 * @throws TillkitError `file_unreadable`, now or while it is read
 */
export async function countBytes(
  file: string,
  { cwd, stdin }: Pick<Context, "cwd" | "stdin">,
): Promise<CountedBytes> {
  let count = 0;
  const whole = path.resolve(cwd, file);
  async function* counted(): AsyncGenerator<Uint8Array> {
    const stream = file === "-" ? stdin : createReadStream(whole, { highWaterMark: 256 * 1024 });
    try {
      for await (const piece of stream) {
        count += (piece as Buffer).length;
        yield piece as Buffer;
      }
    } catch (cause) {
      // What a reader of the bytes throws does not come by here: only the stream's own errors.
      throw unreadable(file, cause);
    }
  }
  const total = file === "-" ? undefined : await sizeOf(whole, file);
  return { bytes: counted(), total, read: () => count };
}

async function sizeOf(whole: string, file: string): Promise<number | undefined> {
  try {
    const facts = await stat(whole);
    if (facts.isDirectory()) throw new Error("It is a folder.");
    // Pipes and devices do not know how long they are.
    return facts.isFile() ? facts.size : undefined;
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function unreadable(file: string, cause: unknown): TillkitError {
  return new TillkitError("file_unreadable", `The file ${file} cannot be read.`, { cause });
}
