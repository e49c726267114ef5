import { execFileSync } from "node:child_process";
import path from "node:path";
import { pathToFileURL } from "node:url";

const harness = (file: string) => pathToFileURL(path.resolve(__dirname, "../../bench", file)).href;

/** The bench is made of ES modules, which a test under jest cannot import. */
function evaluate(script: string): unknown {
  const args = [
    "--input-type=module",
    "-e",
    `console.log(JSON.stringify(await (async () => { ${script} })()))`,
  ];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

interface Judged {
  to: string;
  ratio: number;
  met: boolean;
  verdict: string;
}

function judged(target: object, rounds: Record<string, number[]>): Judged[] {
  return evaluate(`
    const { checkTargets, verdict } = await import(${JSON.stringify(harness("harness/check-targets.mjs"))});
    const entrants = Object.entries(${JSON.stringify(rounds)})
      .map(([name, all]) => ({ name, rounds: all.map((cpuUs) => ({ cpuUs })) }));
    return checkTargets([${JSON.stringify({ suite: "s", key: "cpuUs", ...target })}], "s", entrants)
      .map((one) => ({ ...one, verdict: verdict(one) }));
  `) as Judged[];
}

describe("a target", () => {
  it("is judged by ratios within a round, so that a machine that is slow for a while is slow for both", () => {
    const rounds = { kit: [100, 200, 400], hand: [200, 400, 800] };
    const [one] = judged({ of: "kit", to: "hand", atMost: 0.5 }, rounds);
    expect(one).toMatchObject({ ratio: 0.5, met: true, verdict: "met" });
  });

  it("that is missed says so, and whether by more than the noise", () => {
    const far = judged({ of: "kit", to: "hand", atMost: 0.5 }, { kit: [9, 9, 9], hand: [10, 10, 10] });
    expect(far[0]).toMatchObject({ met: false, verdict: "missed" });
    const near = judged({ of: "kit", to: "hand", atMost: 0.8 }, { kit: [7, 9, 9], hand: [10, 10, 10] });
    expect(near[0]).toMatchObject({ met: false, verdict: "missed, within the noise" });
  });

  it("that wants more of something is missed from below", () => {
    const rounds = { kit: [20, 20, 20], hand: [10, 10, 10] };
    expect(judged({ of: "kit", to: "hand", atLeast: 2.5 }, rounds)[0]).toMatchObject({
      ratio: 2,
      met: false,
    });
    expect(judged({ of: "kit", to: "hand", atLeast: 2 }, rounds)[0]).toMatchObject({ met: true });
  });

  it("against several is judged by the one that comes nearest to breaking it", () => {
    const rounds = { kit: [10, 10], dear: [50, 50], cheap: [8, 8] };
    const all = judged({ of: "kit", toEach: ["dear", "cheap", "absent"], atMost: 1 }, rounds);
    expect(all).toEqual([expect.objectContaining({ to: "cheap", ratio: 1.25, met: false, ofEach: 2 })]);
  });

  it("whose contenders did not run is left out", () => {
    expect(judged({ of: "kit", to: "hand", atMost: 1 }, { kit: [1] })).toEqual([]);
  });

  it("names contenders that there are", () => {
    const missing = evaluate(`
      const { targets } = await import(${JSON.stringify(harness("targets.mjs"))});
      const { suites } = await import(${JSON.stringify(harness("contenders/index.mjs"))});
      const names = new Set(suites.flatMap(({ name, contenders }) => contenders.map((one) => name + ": " + one.name)));
      return targets.flatMap(({ suite, of, to, toEach = [to] }) => [of, ...toEach].map((name) => suite + ": " + name))
        .filter((name) => !names.has(name));
    `);
    expect(missing).toEqual([]);
  });
});

describe("a build", () => {
  it("that differs from the sources by one file is found", () => {
    const found = evaluate(`
      const { difference } = await import(${JSON.stringify(harness("harness/build.mjs"))});
      const { mkdtempSync, writeFileSync, rmSync } = await import("node:fs");
      const { tmpdir } = await import("node:os");
      const [a, b] = [0, 1].map(() => mkdtempSync(tmpdir() + "/tillkit-build-"));
      const write = (folder, file, text) => writeFileSync(folder + "/" + file, text);
      write(a, "x.js", "1"); write(b, "x.js", "1");
      const found = [difference(a, b) ?? "none"];
      write(b, "y.js", "1"); found.push(difference(a, b));
      rmSync(b + "/y.js"); write(b, "x.js", "2"); found.push(difference(a, b));
      for (const folder of [a, b]) rmSync(folder, { recursive: true });
      return found;
    `);
    expect(found).toEqual(["none", "y.js", "x.js"]);
  });
});
