import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import { type StatementProgress } from "../../statement/index.js";
import { textBar, type Output } from "../terminal/output.js";
import { type FileContext, unreadableFile } from "../terminal/read-file.js";
import { grouped } from "./print-summary.js";

/** The chunks of a file, with a counter of the bytes that were read. */
export interface CountedBytes {
  bytes: AsyncIterable<Uint8Array>;
  /** The length of the file in bytes; `undefined` if it is not known. */
  total: number | undefined;
  /** Returns the number of bytes that were read so far. */
  read: () => number;
}

/**
 * Returns the bytes of a file, or of standard input for `-`. Throws `file_unreadable` if the file cannot be
 * found or is a folder. Reading the bytes can also throw this error.
 */
export async function countBytes(file: string, { cwd, stdin }: FileContext): Promise<CountedBytes> {
  let count = 0;
  const absolute = path.resolve(cwd, file);
  async function* counted(): AsyncGenerator<Uint8Array> {
    const stream = file === "-" ? stdin : createReadStream(absolute, { highWaterMark: 256 * 1024 });
    try {
      for await (const chunk of stream) {
        count += (chunk as Buffer).length;
        yield chunk as Buffer;
      }
    } catch (cause) {
      // Only errors of the stream arrive here, because an error of the consumer ends the generator at its
      // `yield`.
      throw unreadableFile(file, cause);
    }
  }
  const total = file === "-" ? undefined : await fileSize(absolute, file);
  return { bytes: counted(), total, read: () => count };
}

async function fileSize(absolute: string, file: string): Promise<number | undefined> {
  try {
    const stats = await stat(absolute);
    if (stats.isDirectory()) throw new Error("It is a folder.");
    // Pipes and devices have no known length.
    return stats.isFile() ? stats.size : undefined;
  } catch (cause) {
    throw unreadableFile(file, cause);
  }
}

const drawEveryMs = 100;

/** Returns a function that draws the progress of a run: a bar for the bytes of the file, then counts. */
export function progressBar(
  output: Output,
  { total, read }: CountedBytes,
): (progress: StatementProgress) => void {
  let drawnAt = -Infinity;
  let lastPhase = "";
  return ({ phase, rows, payments }) => {
    const now = performance.now();
    if (phase === lastPhase && now - drawnAt < drawEveryMs) return;
    drawnAt = now;
    lastPhase = phase;
    if (phase === "stored") output.draw(`${textBar(1)} reading stored payments: ${grouped(payments)}`);
    else if (phase === "sides") output.draw(`${textBar(1)} comparing rows and payments`);
    else if (total === undefined) output.draw(`${grouped(rows)} rows, ${megabytes(read())}`);
    else {
      const share = total === 0 ? 1 : Math.min(1, read() / total);
      const percent = `${Math.floor(100 * share)}%`.padStart(4);
      const bytes = `${megabytes(read())} of ${megabytes(total)}`;
      output.draw(`${textBar(share)}${percent}  ${bytes}, ${grouped(rows)} rows`);
    }
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
