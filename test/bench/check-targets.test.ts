import { execFileSync } from "node:child_process";
import path from "node:path";
import { pathToFileURL } from "node:url";

const harness = (file: string) => pathToFileURL(path.resolve(__dirname, "../../bench", file)).href;

/** Runs a script in a process of its own, because jest cannot import the ES modules of the bench. */
function evaluate(script: string): unknown {
  const args = [
    "--input-type=module",
    "-e",
    `console.log(JSON.stringify(await (async () => { ${script} })()))`,
  ];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

interface CheckedTarget {
  to: string;
  ratio: number;
  met: boolean;
  verdict: string;
}

function checked(target: object, rounds: Record<string, number[]>): CheckedTarget[] {
  return evaluate(`
    const { checkTargets, verdict } = await import(${JSON.stringify(harness("harness/check-targets.mjs"))});
    const entrants = Object.entries(${JSON.stringify(rounds)})
      .map(([name, all]) => ({ name, rounds: all.map((cpuUs) => ({ cpuUs })) }));
    return checkTargets([${JSON.stringify({ suite: "s", key: "cpuUs", ...target })}], "s", entrants)
      .map((one) => ({ ...one, verdict: verdict(one) }));
  `) as CheckedTarget[];
}

describe("a target", () => {
  it("is checked by ratios within a round, so that a slow machine slows both", () => {
    const rounds = { kit: [100, 200, 400], hand: [200, 400, 800] };
    const [one] = checked({ of: "kit", to: "hand", atMost: 0.5 }, rounds);
    expect(one).toMatchObject({ ratio: 0.5, met: true, verdict: "met" });
  });

  it("that is missed has a verdict, which says whether it is within the noise", () => {
    const far = checked({ of: "kit", to: "hand", atMost: 0.5 }, { kit: [9, 9, 9], hand: [10, 10, 10] });
    expect(far[0]).toMatchObject({ met: false, verdict: "missed" });
    const near = checked({ of: "kit", to: "hand", atMost: 0.8 }, { kit: [7, 9, 9], hand: [10, 10, 10] });
    expect(near[0]).toMatchObject({ met: false, verdict: "missed, within the noise" });
  });

  it("with a minimum is missed below it", () => {
    const rounds = { kit: [20, 20, 20], hand: [10, 10, 10] };
    expect(checked({ of: "kit", to: "hand", atLeast: 2.5 }, rounds)[0]).toMatchObject({
      ratio: 2,
      met: false,
    });
    expect(checked({ of: "kit", to: "hand", atLeast: 2 }, rounds)[0]).toMatchObject({ met: true });
  });

  it("against several contenders is checked by the worst ratio", () => {
    const rounds = { kit: [10, 10], dear: [50, 50], cheap: [8, 8] };
    const all = checked({ of: "kit", toEach: ["dear", "cheap", "absent"], atMost: 1 }, rounds);
    expect(all).toEqual([expect.objectContaining({ to: "cheap", ratio: 1.25, met: false, ofEach: 2 })]);
  });

  it("whose contenders did not run is left out", () => {
    expect(checked({ of: "kit", to: "hand", atMost: 1 }, { kit: [1] })).toEqual([]);
  });

  it("names existing contenders", () => {
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
