import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { buildKit } from "../../support/built-kit.js";

// Each run starts and kills many processes, on a machine that may be busy.
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

/** Runs the harness as `npm run crash` does, over the kit as it was compiled for this file. */
function crash(...args: string[]): Promise<{ exitCode: number; result: Result; said: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, "--kit", kit, "--json", "--quiet", ...args],
      (error, stdout, stderr) => {
        const exitCode = error ? Number(error.code ?? -1) : 0;
        const result = JSON.parse(stdout || "{}") as Result;
        resolve({ exitCode, result, said: stderr });
      },
    );
  });
}

/** Nothing was lost, unexpected or twice, although crashes hit; where it was, the findings say what. */
function expectUnharmed({ exitCode, result, said }: Awaited<ReturnType<typeof crash>>): void {
  expect({ said, findings: result.findings }).toEqual({
    said: "",
    findings: { lost: [], unexpected: [], duplicated: [] },
  });
  expect(result).toMatchObject({ lost: 0, unexpected: 0, duplicated: 0 });
  expect(result.acknowledged).toBeGreaterThan(0);
  expect(exitCode).toBe(0);
}

/** False, and said, where this machine lacks what the run needs. */
function couldRun({ exitCode, said }: Awaited<ReturnType<typeof crash>>, unless: RegExp): boolean {
  if (exitCode !== 3) return true;
  if (!unless.test(said)) throw new Error(said);
  console.info(`A crash test is left out: ${said}`);
  return false;
}

for (const [store, url] of Object.entries({ sqlite: "a file", ...servers })) {
  if (url === undefined || url === "none") {
    console.info(`Crashes over ${store} are left out: its TILLKIT_TEST_ variable names no server.`);
    continue;
  }
  describe(`shops over ${store}`, () => {
    it("lose nothing and do nothing twice while they are killed at random moments", async () => {
      const run = await crash("--store", store, "--cycles", store === "sqlite" ? "30" : "20", "--seed", "7");
      expectUnharmed(run);
      expect(run.result.recovered).toBeGreaterThan(0);
    });

    it("refuse the commit of one that was stopped past its lease and woken", async () => {
      const run = await crash("--store", store, "--mode", "stop", "--cycles", "6", "--seed", "7");
      expectUnharmed(run);
      expect(run.result.takeovers).toBeGreaterThan(0);
      expect(run.result.effects).toBe(6);
    });

    it("turn many copies in any order into one effect each", async () => {
      const flood = ["--mode", "flood", "--events", "300", "--copies", "5", "--processes", "2"];
      const run = await crash("--store", store, ...flood);
      expectUnharmed(run);
      expect(run.result).toMatchObject({ effects: 300, acknowledged: 1500 });
    });
  });
}

describe("a database server that is killed and started again", () => {
  it.each(["postgres", "mysql"])("has every 200 afterwards, and none twice: %s", async (store) => {
    const run = await crash("--store", store, "--mode", "database", "--cycles", "2", "--seed", "7");
    if (!couldRun(run, /No (postgres|mysql) server could be started/)) return;
    expectUnharmed(run);
    expect(run.result.recovered).toBeGreaterThan(0);
  });
});

describe("a disk that fills up", () => {
  it("has every 200 afterwards when SQLite may not grow and the spool takes over", async () => {
    const run = await crash("--mode", "disk", "--disk", "pages", "--cycles", "2", "--seed", "7");
    expectUnharmed(run);
    expect(run.result.spooled).toBeGreaterThan(0);
  });

  it("has every 200 afterwards when the file system itself is full, for the spool too", async () => {
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
  ] as const)("sees the planted defect %s, and says what it saw", async (defect, counter, finding) => {
    const cycles = defect === "no-fence" ? "3" : "25";
    const played = (seed: string) => crash("--defect", defect, "--cycles", cycles, "--seed", seed);
    // One of 25 kills has to fall into the moment that the defect needs, and may not.
    let { exitCode, result } = await played("1");
    if (exitCode === 0) ({ exitCode, result } = await played("2"));
    expect(exitCode).toBe(1);
    expect(result[counter]).toBeGreaterThan(0);
    expect(result.findings[counter]).toContainEqual(expect.stringMatching(finding));
  });

  it("says that a run in which no crash hit anything proves nothing, unless none was meant to", async () => {
    const { href } = pathToFileURL(path.resolve(__dirname, "harness/verdict.mjs"));
    const verdicts = `import { exitCodeOf } from ${JSON.stringify(href)};
      const unharmed = { lost: 0, unexpected: 0, duplicated: 0 };
      console.log(exitCodeOf({ ...unharmed, recovered: 0 }), exitCodeOf({ ...unharmed, recovered: 1 }),
        exitCodeOf({ ...unharmed, recovered: 0, nothingIsHit: true }),
        exitCodeOf({ ...unharmed, lost: 1, recovered: 0 }))`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", verdicts]);
    expect(stdout.trim()).toBe("2 0 0 1");
  });

  it("refuses a store that it does not know", async () => {
    const { exitCode, said } = await crash("--store", "oracle");
    expect(exitCode).toBe(3);
    expect(said).toContain("--store must be one of sqlite, postgres, mysql");
  });
});
