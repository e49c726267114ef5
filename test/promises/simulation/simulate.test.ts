import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { buildKit } from "../../support/built-kit.js";
import { testSeed } from "../../support/test-seed.js";

jest.setTimeout(120_000);

interface Result {
  ok: boolean;
  webhooks: Record<"sent" | "dropped" | "doubled" | "reordered" | "arrived" | "forged" | "lost", number>;
  stored: { payments: number; equal: number; unequal: number };
  completions: Compared;
  anomalies: Record<string, Compared>;
  problems: string[];
}
interface Compared {
  planned: number;
  raised: number;
  missing: number;
  false: number;
}

describe("the simulation", () => {
  let kit: string;
  beforeAll(() => {
    kit = buildKit();
  });
  afterAll(() => rmSync(kit, { recursive: true, force: true }));

  function simulate(...args: string[]): { status: number | null; result: Result } {
    const script = path.resolve(__dirname, "../../../scripts/simulate.mjs");
    const fixed = ["--kit", kit, "--json", "--quiet", ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...fixed], { encoding: "utf8" });
    if (status === 3 || stdout === "") throw new Error(stderr);
    return { status, result: JSON.parse(stdout) as Result };
  }

  it("ends with stored payments that equal the service's, and with exactly the planned anomalies", () => {
    const seed = String(testSeed());
    process.stderr.write(`simulation: --seed ${seed}\n`);
    const { status, result } = simulate("--payments", "500", "--seed", seed);
    const { stored, completions, anomalies, problems, webhooks } = result;
    expect(problems).toEqual([]);
    expect(stored.unequal).toBe(0);
    expect(stored.equal).toBe(stored.payments);
    expect(stored.payments).toBeGreaterThanOrEqual(500);
    for (const [name, { missing, false: wrong }] of Object.entries({ ...anomalies, completions }))
      expect([name, missing, wrong]).toEqual([name, 0, 0]);
    // The shares of lost, doubled and reordered webhooks are about as planned.
    expect(webhooks.dropped / webhooks.sent).toBeGreaterThan(0.2);
    expect(webhooks.doubled / (webhooks.sent - webhooks.dropped)).toBeGreaterThan(0.1);
    expect(webhooks.reordered / webhooks.arrived).toBeGreaterThan(0.35);
    // Only lookups give back what the restored backup does not have.
    expect(webhooks.lost).toBeGreaterThan(10);
    expect(Object.values(anomalies).filter(({ planned }) => planned > 0).length).toBeGreaterThanOrEqual(4);
    expect([status, result.ok]).toEqual([0, true]);
  });

  it("repeats a run with its seed", () => {
    const [first, second] = [1, 2].map(() => simulate("--payments", "60", "--seed", "5").result);
    const { stored, anomalies, webhooks } = first!;
    expect(second).toMatchObject({ stored, anomalies });
    const { sent, dropped, doubled, reordered, arrived, forged } = webhooks;
    expect(second!.webhooks).toMatchObject({ sent, dropped, doubled, reordered, arrived, forged });
  });

  it("finds that stored payments differ where the service is never asked", () => {
    const { status, result } = simulate("--payments", "120", "--seed", "5", "--without-lookup");
    expect([status, result.ok]).toEqual([1, false]);
    expect(result.stored.unequal).toBeGreaterThan(10);
    expect(result.completions.missing).toBeGreaterThan(10);
    expect(result.anomalies["payment.overdue"]!.false).toBeGreaterThan(10);
  });
});
