import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { mergeRuns } from "./merge-runs.js";
import { writeLongRun, writeRun } from "./run-file.js";

/** What bounds the memory of a sort. */
export interface SortLimits {
  /**
   * Lines that are held and sorted at once.
   *
   * @default 16_384
   */
  runLines?: number;
  /**
   * Runs that are merged at once; each costs one open file and a buffer of 32 KiB.
   *
   * @default 64
   */
  fanIn?: number;
}

/**
 * Sorts any number of lines in bounded memory: full runs go to files of a temporary folder, and are merged at the end.
 * What fits into one run never touches the disk. Lines must not hold line breaks; their order is that of their UTF-16 units.
 */
export class ExternalSort {
  readonly #parent: string;
  readonly #runLines: number;
  readonly #fanIn: number;
  #lines: string[] = [];
  /** Files by how often their lines were merged. */
  readonly #levels: string[][] = [];
  #written = 0;
  #folder: string | undefined;

  constructor(temporaryDirectory: string = tmpdir(), { runLines = 16_384, fanIn = 64 }: SortLimits = {}) {
    this.#parent = temporaryDirectory;
    this.#runLines = runLines;
    this.#fanIn = fanIn;
  }

  /** Adds a line. Where it answers a promise, await it before the next line. */
  add(line: string): Promise<void> | undefined {
    this.#lines.push(line);
    return this.#lines.length < this.#runLines ? undefined : this.#spill();
  }

  /** All lines in order, a batch at a time. Call it once, after the last `add`. */
  async *sorted(): AsyncGenerator<string[], void, undefined> {
    if (this.#levels.length === 0) {
      yield sortedLines(this.#lines);
      return;
    }
    if (this.#lines.length > 0) await this.#spill();
    yield* mergeRuns(this.#levels.flat());
  }

  /** Removes every file. Safe to call at any time, and again. */
  async remove(): Promise<void> {
    this.#lines = [];
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  async #spill(): Promise<void> {
    const file = await this.#newFile();
    await writeRun(file, sortedLines(this.#lines));
    this.#lines = [];
    await this.#keep(file, 0);
  }

  /** A level that is full becomes one run of the next, so that few files are ever open, however many lines come. */
  async #keep(file: string, level: number): Promise<void> {
    const runs = (this.#levels[level] ??= []);
    runs.push(file);
    if (runs.length < this.#fanIn) return;
    const longer = await this.#newFile();
    await writeLongRun(longer, mergeRuns(runs));
    this.#levels[level] = [];
    await this.#keep(longer, level + 1);
  }

  async #newFile(): Promise<string> {
    this.#folder ??= await mkdtemp(path.join(this.#parent, "tillkit-statement-"));
    return path.join(this.#folder, String(this.#written++));
  }
}

function sortedLines(lines: string[]): string[] {
  // By units, never by a locale: the merge compares them so.
  return lines.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
