import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { buildKit } from "../../support/built-kit.js";
import { testSeed } from "../../support/test-seed.js";

jest.setTimeout(300_000);

interface Problem {
  invariant: string;
  text: string;
}
interface Explored {
  ok: boolean;
  runs: number;
  struck: number;
  failed: { seed: number; problems: Problem[] }[];
  first?: { seed: number; plan: object[]; problems: Problem[]; trace: string[] };
}
interface Found {
  name: string;
  runs?: number;
  seed: number;
  problem: Problem;
  faults: { what: string }[];
}

describe("the explorer", () => {
  let kit: string;
  beforeAll(() => {
    kit = buildKit();
  });
  afterAll(() => rmSync(kit, { recursive: true, force: true }));

  function explore(...args: string[]): { status: number | null; result: unknown } {
    const script = path.resolve(__dirname, "../../../scripts/explore.mjs");
    const fixed = ["--kit", kit, "--json", "--quiet", ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...fixed], {
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
    if (status === 3 || stdout === "") throw new Error(stderr);
    return { status, result: JSON.parse(stdout) };
  }

  const exploreSeeds = (...args: string[]) => explore(...args) as { status: number | null; result: Explored };
  const findPlanted = (...args: string[]) =>
    explore("--planted", ...args) as { status: number | null; result: Found[] };

  it("violates nothing in 2,000 runs, or in as many as 10 seconds allow", () => {
    const seed = String(testSeed());
    const { status, result } = exploreSeeds("--runs", "2000", "--max-ms", "10000", "--seed", seed);
    process.stderr.write(`explorer: ${result.runs} runs from --seed ${seed}, ${result.struck} faults\n`);
    expect(result.failed).toEqual([]);
    expect([status, result.ok]).toEqual([0, true]);
  });

  it("repeats every step of a seed, in one process and in another one", () => {
    const { result } = exploreSeeds("--twice", "--runs", "20", "--seed", "5");
    expect(result.failed).toEqual([]);
    const traces = [1, 2].map(
      () => exploreSeeds("--trace", "--runs", "1", "--seed", "5").result.first!.trace,
    );
    expect(traces[0]!.length).toBeGreaterThan(50);
    expect(traces[1]).toEqual(traces[0]);
  });

  it("finds a webhook that is answered 200 before it is on disk, and needs few faults for it", () => {
    const args = ["--only", "200 before the sync", "--runs", "500", "--seed", "100"];
    const { status, result } = findPlanted(...args);
    expect(result).toEqual([
      expect.objectContaining({ problem: expect.objectContaining({ invariant: "A" }) }),
    ]);
    expect(result[0]!.faults.length).toBeLessThanOrEqual(3);
    expect(status).toBe(0);
  });

  it("says that a planted fault was not found, with exit code 1, and that each one still fits the kit", () => {
    const { status, result } = findPlanted("--only", "renewed after", "--runs", "0");
    expect([status, result[0]!.runs]).toEqual([1, undefined]);
  });
});
