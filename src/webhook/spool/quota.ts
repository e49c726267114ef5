import { type SpoolDirectory } from "./spool-directory.js";

/** The limit of the bytes in all segments of the directory, including segments of other processes. */
export type Quota = ReturnType<typeof createQuota>;

/** Returns a quota that notices the bytes of other processes after at most `maxAgeMs`. */
export function createQuota(
  directory: SpoolDirectory,
  { maxBytes, maxAgeMs }: { maxBytes: number; maxAgeMs: number },
) {
  let used = 0;
  let countedAt = -Infinity;
  return {
    maxBytes,
    /** Counts the bytes in the directory again if the last count is too old. */
    async refresh(): Promise<void> {
      if (performance.now() - countedAt < maxAgeMs) return;
      try {
        used = (await directory.list()).reduce((sum, { size }) => sum + size, 0);
        countedAt = performance.now();
      } catch {
        // The last count stays in use. If the disk has a problem, the write reports it.
      }
    },
    /** Reserves the bytes, or returns false if they exceed the quota. */
    take(bytes: number): boolean {
      if (used + bytes > maxBytes) return false;
      used += bytes;
      return true;
    },
    /** Makes the next `refresh` count again. Must be called after a segment was removed or a write failed. */
    invalidate(): void {
      countedAt = -Infinity;
    },
  };
}
