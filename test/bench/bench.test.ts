import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { buildKit } from "../support/built-kit.js";

// It starts several processes, and the machine may be busy.
jest.setTimeout(300_000);

const program = path.resolve(__dirname, "../../bench/run.mjs");

let kit: string;
beforeAll(() => {
  kit = buildKit();
});
afterAll(() => rmSync(kit, { recursive: true, force: true }));

interface Measured {
  name: string;
  requests: number;
  cpuUs: number;
  perSecond: number;
  p50Ms: number;
  completed?: number;
  copies?: number;
  ratio: { cpuUs: number };
}

interface Suite {
  name: string;
  results: Measured[];
  checks: { suite: string; of: string; to: string; atMost?: number; ratio: number; met: boolean }[];
}

function node(file: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const env = { ...process.env, TILLKIT_BENCH_KIT: kit };
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...args], { env }, (_error, stdout, stderr) =>
      resolve({ stdout, stderr }),
    );
  });
}

describe("the benchmark, with a few webhooks", () => {
  it("measures the kit beside Express by hand, leaves the peers out, because they are not installed for a test", async () => {
    const only = ["bare", "by hand", "tillkit in memory", "on SQLite"].flatMap((name) => ["--only", name]);
    const brief = ["--no-peers", "--rounds", "1", "--seconds", "0.01", "--json", "--quiet"];
    const without = ["--without", "postgres", "--without", "mysql"];
    const { stdout, stderr } = await node(program, ...brief, ...only, ...without);

    expect(stderr).toBe("");
    const { suites } = JSON.parse(stdout) as { suites: Suite[] };
    expect(suites.map(({ name }) => name)).toEqual([
      "memory",
      "sqlite",
      "single-sqlite",
      "memory-8",
      "memory-1",
      "order-sqlite",
      "whole-sqlite",
    ]);
    for (const { results } of suites) {
      for (const one of results) {
        expect(one).toMatchObject({
          requests: expect.any(Number),
          cpuUs: expect.any(Number),
          p50Ms: expect.any(Number),
        });
        expect(one.requests).toBeGreaterThan(0);
        expect(one.cpuUs).toBeGreaterThan(0);
        expect(one.ratio.cpuUs).toBeGreaterThan(0);
      }
    }
    const names = suites.flatMap(({ results }) => results.map(({ name }) => name));
    expect(names).toEqual(
      expect.arrayContaining([
        "node:http, bare",
        "Express by hand",
        "tillkit in memory",
        "tillkit on SQLite, handler",
      ]),
    );
    const kept = suites.flatMap(({ results }) => results).filter(({ name }) => name.startsWith("tillkit"));
    expect(kept.every(({ completed, requests }) => completed! >= requests)).toBe(true);
    expect(kept.every(({ copies }) => copies === 32)).toBe(true);

    const checks = suites.flatMap((suite) => suite.checks);
    expect(checks).toContainEqual(
      expect.objectContaining({
        suite: "memory",
        key: "cpuUs",
        of: "tillkit in memory",
        to: "Express by hand",
        atMost: 0.9,
        ratio: expect.any(Number),
        met: expect.any(Boolean),
      }),
    );
    expect(checks.filter(({ of }) => of.endsWith("handler")).map(({ to, atMost }) => [to, atMost])).toEqual([
      ["tillkit in memory", 2.5],
      ["tillkit on SQLite", 2.5],
      ["SQLite by hand, order's row", undefined],
      ["SQLite by hand, order's row", undefined],
      ["SQLite by hand, order's row", 1],
    ]);
  });

  it("kills the build in a durability test before it measures the build", async () => {
    const brief = [
      "--only",
      "tillkit on SQLite, pre-shaped",
      "--rounds",
      "1",
      "--seconds",
      "0.01",
      "--quick",
    ];
    const without = ["--without", "postgres", "--without", "mysql"];
    const { stdout } = await node(program, "--proof", ...brief, ...without, "--json", "--quiet");

    const { proofs } = JSON.parse(stdout) as { proofs: unknown[] };
    expect(proofs).toEqual([
      expect.objectContaining({ store: "sqlite", kills: 10, lost: 0, unexpected: 0, duplicated: 0 }),
    ]);
  });

  it("refuses to measure a contender that makes several events of one webhook", async () => {
    const { stdout } = await node(path.join(__dirname, "run-suite.mjs"), "forgets-copies.mjs");
    expect(stdout).toContain("forgets-copies.mjs made 32 events of one webhook that was sent 32 times");
  });

  it("refuses to measure a contender that accepts a forged webhook", async () => {
    const { stdout } = await node(path.join(__dirname, "run-suite.mjs"), "gullible.mjs");
    expect(stdout).toContain("gullible.mjs took a forged webhook (200).");
  });

  it("refuses to measure a contender that loses acknowledged webhooks", async () => {
    const { stdout } = await node(path.join(__dirname, "run-suite.mjs"), "forgetful.mjs");
    expect(stdout).toMatch(/^forgetful\.mjs acknowledged \d+ webhooks and recorded 0\.$/m);
  });
});
