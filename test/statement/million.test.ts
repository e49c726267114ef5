import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { buildKit } from "../support/built-kit.js";

// It fills a database first, and the machine may be busy.
jest.setTimeout(240_000);

const program = path.resolve(__dirname, "../../scripts/statement-million.mjs");

let kit: string;
beforeAll(() => {
  kit = buildKit();
});
afterAll(() => rmSync(kit, { recursive: true, force: true }));

interface Result {
  rows: number;
  planted: number;
  found: number;
  missed: string[];
  invented: string[];
  repeated: string[];
  sums: string[];
  counts: Record<string, number>;
}

function run(...args: string[]): Promise<{ exitCode: number; results: Result[] }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, "--kit", kit, "--json", "--quiet", "--once", ...args],
      (error, stdout) => {
        resolve({
          exitCode: error ? Number(error.code ?? -1) : 0,
          results: JSON.parse(stdout || "[]") as Result[],
        });
      },
    );
  });
}

describe("a generated statement with planted differences", () => {
  it("of 20,000 rows gives exactly the planted findings, in a heap of 48 MiB", async () => {
    const { exitCode, results } = await run("--rows", "20000", "--seed", "7", "--heap", "48");
    const [result] = results;
    expect(result).toMatchObject({ missed: [], invented: [], repeated: [], sums: [] });
    expect(result!.found).toBe(result!.planted);
    expect(result!.planted).toBeGreaterThan(500);
    // Every kind was planted. The run has no edgeMs, so there is no finding at an edge.
    const { at_edge, accepted_here, ...counts } = result!.counts;
    expect([at_edge, accepted_here]).toEqual([0, 0]);
    expect(Object.entries(counts).filter(([, count]) => count < 10)).toEqual([]);
    expect(exitCode).toBe(0);
  });
});
