import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { buildKit } from "../../support/built-kit.js";

// Each run starts and kills many processes, and the machine may be busy.
jest.setTimeout(120_000);

const program = path.resolve(__dirname, "../../../scripts/crash.mjs");
const servers = {
  postgres: process.env["TILLKIT_TEST_POSTGRES_URL"],
  mysql: process.env["TILLKIT_TEST_MYSQL_URL"],
};

let kit: string;
beforeAll(() => {
  kit = buildKit();
});
afterAll(() => rmSync(kit, { recursive: true, force: true }));

interface Counters {
  lost: number;
  unexpected: number;
  duplicated: number;
  recovered: number;
}
interface Result extends Counters {
  acknowledged: number;
  spooled: number;
  effects: number;
  takeovers?: number;
  findings: Record<string, string[]>;
}

/** Runs the harness like `npm run crash`, with the kit that was compiled for this file. */
function crash(...args: string[]): Promise<{ exitCode: number; result: Result; stderr: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, "--kit", kit, "--json", "--quiet", ...args],
      (error, stdout, stderr) => {
        const exitCode = error ? Number(error.code ?? -1) : 0;
        const result = JSON.parse(stdout || "{}") as Result;
        resolve({ exitCode, result, stderr });
      },
    );
  });
}

/** Expects a run in which nothing was lost, unexpected or duplicated. */
function expectUnharmed({ exitCode, result, stderr }: Awaited<ReturnType<typeof crash>>): void {
  expect({ stderr, findings: result.findings }).toEqual({
    stderr: "",
    findings: { lost: [], unexpected: [], duplicated: [] },
  });
  expect(result).toMatchObject({ lost: 0, unexpected: 0, duplicated: 0 });
  expect(result.acknowledged).toBeGreaterThan(0);
  expect(exitCode).toBe(0);
}

/** Returns `false`, and logs why, where this machine cannot run the mode. */
function couldRun({ exitCode, stderr }: Awaited<ReturnType<typeof crash>>, unless: RegExp): boolean {
  if (exitCode !== 3) return true;
  if (!unless.test(stderr)) throw new Error(stderr);
  console.info(`A crash test is left out: ${stderr}`);
  return false;
}

for (const [store, url] of Object.entries({ sqlite: "a file", ...servers })) {
  if (url === undefined || url === "none") {
    console.info(`Crashes with ${store} are left out: its TILLKIT_TEST_ variable names no server.`);
    continue;
  }
  describe(`shops with ${store}`, () => {
    it("lose nothing and duplicate nothing when they are killed at random moments", async () => {
      const run = await crash("--store", store, "--cycles", store === "sqlite" ? "30" : "20", "--seed", "7");
      expectUnharmed(run);
      expect(run.result.recovered).toBeGreaterThan(0);
    });

    it("refuse the commit of a process that was stopped until its lease ended, and continued", async () => {
      const run = await crash("--store", store, "--mode", "stop", "--cycles", "6", "--seed", "7");
      expectUnharmed(run);
      expect(run.result.takeovers).toBeGreaterThan(0);
      expect(run.result.effects).toBe(6);
    });

    it("make one effect of many copies in any order", async () => {
      const flood = ["--mode", "flood", "--events", "300", "--copies", "5", "--processes", "2"];
      const run = await crash("--store", store, ...flood);
      expectUnharmed(run);
      expect(run.result).toMatchObject({ effects: 300, acknowledged: 1500 });
    });
  });
}

describe("a database server that is killed and restarted", () => {
  it.each(["postgres", "mysql"])(
    "loses no webhook that was answered 200, and duplicates none: %s",
    async (store) => {
      const run = await crash(
        "--store",
        store,
        "--mode",
        "database",
        "--cycles",
        "3",
        "--outage-ms",
        "600",
        "--seed",
        "7",
      );
      if (!couldRun(run, /No (postgres|mysql) server could be started/)) return;
      expectUnharmed(run);
      expect(run.result.recovered).toBeGreaterThan(0);
    },
  );
});

describe("a disk that fills up", () => {
  it("loses no webhook that was answered 200, when SQLite cannot grow and the spool is used", async () => {
    const run = await crash("--mode", "disk", "--disk", "pages", "--cycles", "2", "--seed", "7");
    expectUnharmed(run);
    expect(run.result.spooled).toBeGreaterThan(0);
  });

  it("loses no webhook that was answered 200, when the file system is full, also for the spool", async () => {
    const run = await crash("--mode", "disk", "--disk", "mount", "--cycles", "2", "--seed", "7");
    if (!couldRun(run, /Mounting a small file system is not possible/)) return;
    expectUnharmed(run);
    expect(run.result.recovered).toBeGreaterThan(0);
  });
});

describe("the harness", () => {
  it.each([
    ["ack-before-record", "lost", /answered 200/],
    ["done-outside-tx", "lost", /completed and has no ledger row/],
    ["lost-events", "lost", /completed and has no ledger row/],
    ["no-dedupe", "duplicated", /ledger rows/],
    ["no-fence", "duplicated", /ledger rows/],
  ] as const)("finds the planted defect %s, and reports it", async (defect, counter, finding) => {
    const cycles = defect === "no-fence" ? "3" : "25";
    const runWith = (seed: string) => crash("--defect", defect, "--cycles", cycles, "--seed", seed);
    // The defect needs a kill at a certain moment, and 25 kills may all miss it.
    let { exitCode, result } = await runWith("1");
    if (exitCode === 0) ({ exitCode, result } = await runWith("2"));
    expect(exitCode).toBe(1);
    expect(result[counter]).toBeGreaterThan(0);
    expect(result.findings[counter]).toContainEqual(expect.stringMatching(finding));
  });

  it("fails a run in which no crash hit anything, unless the mode has no crashes", async () => {
    const { href } = pathToFileURL(path.resolve(__dirname, "harness/verdict.mjs"));
    const verdicts = `import { exitCodeOf } from ${JSON.stringify(href)};
      const unharmed = { lost: 0, unexpected: 0, duplicated: 0 };
      console.log(exitCodeOf({ ...unharmed, recovered: 0 }), exitCodeOf({ ...unharmed, recovered: 1 }),
        exitCodeOf({ ...unharmed, recovered: 0, nothingIsHit: true }),
        exitCodeOf({ ...unharmed, lost: 1, recovered: 0 }))`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", verdicts]);
    expect(stdout.trim()).toBe("2 0 0 1");
  });

  it("refuses an unknown store", async () => {
    const { exitCode, stderr } = await crash("--store", "oracle");
    expect(exitCode).toBe(3);
    expect(stderr).toContain("--store must be one of sqlite, postgres, mysql");
  });
});
