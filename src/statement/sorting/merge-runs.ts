import { RunReader } from "./run-file.js";

const linesPerBatch = 1000;

/** The lines of several sorted runs in one order, a batch at a time. Removes each run when it is through. */
export async function* mergeRuns(files: readonly string[]): AsyncGenerator<string[], void, undefined> {
  const heap: RunReader[] = [];
  for (const file of files) {
    const reader = await RunReader.open(file);
    if (reader.current === undefined) await reader.remove();
    else push(heap, reader);
  }
  try {
    let batch: string[] = [];
    while (heap.length > 0) {
      const first = heap[0]!;
      batch.push(first.current!);
      if (!first.advance()) await first.refill();
      if (first.current === undefined) {
        await first.remove();
        const last = heap.pop()!;
        if (heap.length > 0) heap[0] = last;
      }
      sink(heap);
      if (batch.length < linesPerBatch) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  } finally {
    // Only what was not read to its end: whoever listens may stop early.
    for (const reader of heap) await reader.remove();
  }
}

/** A binary heap: the reader with the smallest line stands first. */
function push(heap: RunReader[], reader: RunReader): void {
  heap.push(reader);
  for (let index = heap.length - 1; index > 0;) {
    const parent = (index - 1) >> 1;
    if (!isBefore(heap[index]!, heap[parent]!)) return;
    index = swap(heap, index, parent);
  }
}

function sink(heap: RunReader[]): void {
  for (let index = 0; ;) {
    let least = index;
    for (const child of [2 * index + 1, 2 * index + 2])
      if (child < heap.length && isBefore(heap[child]!, heap[least]!)) least = child;
    if (least === index) return;
    index = swap(heap, index, least);
  }
}

function isBefore(a: RunReader, b: RunReader): boolean {
  return a.current! < b.current!;
}

function swap(heap: RunReader[], from: number, to: number): number {
  [heap[from], heap[to]] = [heap[to]!, heap[from]!];
  return to;
}
