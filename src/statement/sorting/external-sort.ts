import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { mergeRuns, writeRun } from "./merge-runs.js";

/** The limits of a sort's memory. */
export interface SortLimits {
  /** The number of lines that are held in memory. @default 16_384 */
  runLines?: number;
  /** The number of runs that are merged in one pass. Each run takes an open file and 32 KiB. @default 64 */
  fanIn?: number;
}

/**
 * Sorts any number of lines by their UTF-16 units, in bounded memory. Writes full runs to files, and merges
 * the files at the end.
 */
export class ExternalSort {
  readonly #parent: string;
  readonly #runLines: number;
  readonly #fanIn: number;
  #lines: string[] = [];
  /** The written files, by the number of times that their lines were merged. */
  readonly #levels: string[][] = [];
  #written = 0;
  #folder: string | undefined;

  constructor(temporaryDirectory: string = tmpdir(), { runLines = 16_384, fanIn = 64 }: SortLimits = {}) {
    this.#parent = temporaryDirectory;
    this.#runLines = runLines;
    this.#fanIn = fanIn;
  }

  /** Adds a line. If it returns a promise, the caller must await the promise before the next line. */
  add(line: string): Promise<void> | undefined {
    this.#lines.push(line);
    return this.#lines.length < this.#runLines ? undefined : this.#spill();
  }

  /** Yields all lines in order, a batch at a time. Call this method once, after the last `add`. */
  async *sorted(): AsyncGenerator<string[], void, undefined> {
    if (this.#levels.length === 0) {
      yield sortedLines(this.#lines);
      return;
    }
    if (this.#lines.length > 0) await this.#spill();
    yield* mergeRuns(this.#levels.flat());
  }

  /** Removes every file. Can be called at any time, and repeatedly. */
  async remove(): Promise<void> {
    this.#lines = [];
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  async #spill(): Promise<void> {
    const file = await this.#newFile();
    await writeRun(file, [sortedLines(this.#lines)]);
    this.#lines = [];
    await this.#keep(file, 0);
  }

  /** Adds a file to a level. Merges a full level to a file of the next level, so that few files are open. */
  async #keep(file: string, level: number): Promise<void> {
    const runs = (this.#levels[level] ??= []);
    runs.push(file);
    if (runs.length < this.#fanIn) return;
    const longer = await this.#newFile();
    await writeRun(longer, mergeRuns(runs));
    this.#levels[level] = [];
    await this.#keep(longer, level + 1);
  }

  async #newFile(): Promise<string> {
    this.#folder ??= await mkdtemp(path.join(this.#parent, "tillkit-statement-"));
    return path.join(this.#folder, String(this.#written++));
  }
}

function sortedLines(lines: string[]): string[] {
  // The order is by UTF-16 units and not by a locale, because the merge compares lines in this order.
  return lines.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
