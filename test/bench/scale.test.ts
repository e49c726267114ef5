import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { buildKit } from "../support/built-kit.js";

// It starts several processes, and the machine may be busy.
jest.setTimeout(300_000);

const program = path.resolve(__dirname, "../../bench/scale.mjs");

let kit: string;
beforeAll(() => {
  kit = buildKit();
});
afterAll(() => rmSync(kit, { recursive: true, force: true }));

interface Part {
  heads: string[];
  rows: (string | number)[][];
  checks: string[];
  notes: string[];
}

function scale(...args: string[]): Promise<{ parts: Record<string, Part>; stderr: string }> {
  const env = { ...process.env, TILLKIT_BENCH_KIT: kit };
  const all = [program, ...args, "--store", "sqlite", "--json", "--quiet"];
  return new Promise((resolve) => {
    execFile(process.execPath, all, { env }, (_error, stdout, stderr) =>
      resolve({ parts: stdout === "" ? {} : (JSON.parse(stdout) as Record<string, Part>), stderr }),
    );
  });
}

describe("the scale measurement, with few payments", () => {
  it("measures every size and the smallest size alternately", async () => {
    const { parts, stderr } = await scale("stored", "--sizes", "1000,2000", "--rounds", "1");

    expect(stderr).toBe("");
    expect(parts.stored!.rows.map((row) => row.slice(0, 3))).toEqual([
      ["sqlite", "1,000", "new"],
      ["sqlite", "2,000", "new"],
      ["sqlite", "1,000", "scattered"],
      ["sqlite", "2,000", "scattered"],
    ]);
    for (const row of parts.stored!.rows) {
      expect(row).toHaveLength(parts.stored!.heads.length);
      expect(Number(row[3])).toBeGreaterThan(0);
      expect(Number(row[4])).toBeGreaterThan(0);
    }
  });

  it("dispatches a backlog in a new process, and counts the written bytes", async () => {
    const { parts, stderr } = await scale("backlog", "bytes", "--backlog", "1000", "--webhooks", "400");

    expect(stderr).toBe("");
    const [waiting] = parts.backlog!.rows;
    expect(waiting!.slice(0, 2)).toEqual(["sqlite", "1,000"]);
    expect(Number(waiting![3])).toBeGreaterThanOrEqual(Number(waiting![2]));
    expect(parts.bytes!.rows.map(([, name]) => name)).toEqual([
      "by hand",
      "tillkit, held back",
      "tillkit, held back, one connection",
      "tillkit, one handler",
    ]);
  });

  it("creates payments, and prunes all final webhooks and events", async () => {
    const { parts, stderr } = await scale("creation", "upkeep", "--webhooks", "400");

    expect(stderr).toBe("");
    expect(parts.creation!.rows.map(([store]) => store)).toEqual(["sqlite"]);
    expect(Number(String(parts.creation!.rows[0]![1]).replace(",", ""))).toBeGreaterThan(0);
    // The part ends with an error where a row is left.
    expect(parts.upkeep!.rows[0]![0]).toBe("sqlite: prune");
  });

  it("weighs a shop after its first orders, beside code by hand", async () => {
    const { parts, stderr } = await scale("memory", "--rounds", "1");

    expect(stderr).toBe("");
    const after = parts.memory!.rows.map(([, ...columns]) => columns.map(Number));
    expect(after.length).toBe(2);
    expect(after.flat().every((each) => each > 20)).toBe(true);
  });

  it("measures the targets beside the least that they could be met with", async () => {
    const { parts, stderr } = await scale("limits", "--rounds", "1", "--seconds", "0.05");

    expect(stderr).toBe("");
    expect(parts.limits!.rows.map(([where, who]) => [String(where).split(",").at(-1)!.trim(), who])).toEqual([
      ["64 connections", "Express by hand"],
      ["64 connections", "SQLite by hand"],
      ["64 connections", "tillkit on SQLite, pre-shaped"],
      ["64 connections", "the least"],
      ["one connection", "SQLite by hand"],
      ["one connection", "tillkit on SQLite"],
      ["one connection", "the least"],
    ]);
    expect(parts.limits!.checks).toEqual([
      expect.stringMatching(
        /webhooks\/s to SQLite by hand: target ≥ 5; the least \d+\.\d\d, tillkit on SQLite/,
      ),
      expect.stringMatching(/server CPU to Express by hand: target ≤ 0\.45; the least \d+\.\d\d, tillkit on/),
      expect.stringMatching(/p50 to SQLite by hand: target ≤ 1\.15; the least \d+\.\d\d, tillkit on SQLite/),
    ]);
  });

  it("ends at its time limit, and reports what is missing", async () => {
    const { parts } = await scale("stored", "--sizes", "1000,50000", "--minutes", "0.0001");
    expect(parts.stored!.notes).toEqual([expect.stringMatching(/^There was no time to store/)]);
  });
});
