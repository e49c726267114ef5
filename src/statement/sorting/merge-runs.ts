import { createReadStream } from "node:fs";
import { rm, writeFile } from "node:fs/promises";

const chunkBytes = 32 * 1024;
const linesPerBatch = 1000;

type Batches = Iterable<readonly string[]> | AsyncIterable<readonly string[]>;

/** Writes batches of sorted lines as one run, without holding them all in memory. */
export async function writeRun(file: string, batches: Batches): Promise<void> {
  await writeFile(file, joinLines(batches), { flag: "wx", mode: 0o600 });
}

async function* joinLines(batches: Batches): AsyncGenerator<string, void, undefined> {
  for await (const lines of batches) yield `${lines.join("\n")}\n`;
}

/** Merges sorted runs. Yields their lines in order, in batches, and removes each run after its last line. */
export async function* mergeRuns(files: readonly string[]): AsyncGenerator<string[], void, undefined> {
  /** The runs that have lines left, in the order of their current lines. */
  const runs: RunReader[] = [];
  try {
    for (const file of files) {
      const run = new RunReader(file);
      await run.refill();
      insert(runs, run);
    }
    let batch: string[] = [];
    while (runs.length > 0) {
      const first = runs[0]!;
      batch.push(first.current!);
      if (!first.advance()) await first.refill();
      runs.shift();
      if (first.current === undefined) await first.remove();
      else insert(runs, first);
      if (batch.length < linesPerBatch) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  } finally {
    // If the caller stops early, some runs are not read to their end.
    for (const run of runs) await run.remove();
  }
}

function insert(runs: RunReader[], run: RunReader): void {
  let [low, high] = [0, runs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (runs[middle]!.current! < run.current!) low = middle + 1;
    else high = middle;
  }
  runs.splice(low, 0, run);
}

/** Reads the lines of one run from the first to the last. */
class RunReader {
  /** The next line, or `undefined` at the end. */
  current: string | undefined;
  readonly #file: string;
  readonly #batches: AsyncGenerator<string[], void, undefined>;
  #lines: string[] = [];
  #next = 0;

  constructor(file: string) {
    this.#file = file;
    this.#batches = readBatches(file);
  }

  /**
   * Goes to the next line. Returns `false` if the batch has no more lines, so that {@link refill} is needed.
   */
  advance(): boolean {
    if (this.#next === this.#lines.length) return false;
    this.current = this.#lines[this.#next++];
    return true;
  }

  /** Reads the next batch of lines, and goes to its first line. */
  async refill(): Promise<void> {
    const { value } = await this.#batches.next();
    this.#lines = value ?? [];
    this.current = this.#lines[0];
    this.#next = 1;
  }

  async remove(): Promise<void> {
    await this.#batches.return();
    await rm(this.#file, { force: true });
  }
}

/** Yields the lines of a file, a small piece of the file at a time. Every line must end in a line break. */
async function* readBatches(file: string): AsyncGenerator<string[], void, undefined> {
  let rest = "";
  for await (const chunk of createReadStream(file, { encoding: "utf8", highWaterMark: chunkBytes })) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop()!;
    if (lines.length > 0) yield lines;
  }
}
