import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fc } from "../../support/property.js";
import { ExternalSort, type SortLimits } from "../../../src/statement/sorting/external-sort.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tillkit-sort-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function sorted(lines: readonly string[], limits: SortLimits): Promise<string[]> {
  const sort = new ExternalSort(folder, limits);
  try {
    for (const line of lines) await sort.add(line);
    const all: string[] = [];
    for await (const batch of sort.sorted()) all.push(...batch);
    return all;
  } finally {
    await sort.remove();
  }
}

describe("the external sort", () => {
  it("sorts any lines, with any limits", async () => {
    const line = fc.string({ unit: "binary", maxLength: 12 }).map((text) => JSON.stringify([text]));
    const limits = fc.record({
      runLines: fc.integer({ min: 1, max: 20 }),
      fanIn: fc.integer({ min: 2, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 120 }), limits, async (lines, given) => {
        const expected = lines.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
        expect(await sorted(lines, given)).toEqual(expected);
        expect(readdirSync(folder)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it("sorts more than its buffers hold, with lines longer than a buffer", async () => {
    const lines = Array.from(
      { length: 5000 },
      (_, index) => `${(index * 7919) % 5000}`.padStart(5, "0") + "é🧾",
    );
    lines.push("x".repeat(100_000), "y".repeat(100_000));
    expect(await sorted(lines, { runLines: 300, fanIn: 3 })).toEqual(lines.toSorted());
  });

  it("writes no file where all lines fit in memory", async () => {
    const sort = new ExternalSort(path.join(folder, "is not there"), { runLines: 10 });
    for (const line of ["b", "a"]) await sort.add(line);
    for await (const batch of sort.sorted()) expect(batch).toEqual(["a", "b"]);
    await sort.remove();
  });

  it("leaves no file behind when the caller stops early", async () => {
    const sort = new ExternalSort(folder, { runLines: 2 });
    for (const line of ["d", "c", "b", "a", "e"]) await sort.add(line);
    const [own, ...others] = readdirSync(folder);
    expect(others).toEqual([]);
    const files = readdirSync(path.join(folder, own!));
    const modes = files.map((name) => statSync(path.join(folder, own!, name)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600]);
    for await (const batch of sort.sorted()) {
      expect(batch.length).toBeGreaterThan(0);
      break;
    }
    await sort.remove();
    await sort.remove();
    expect(readdirSync(folder)).toEqual([]);
  });
});
