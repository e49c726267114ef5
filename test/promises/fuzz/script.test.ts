import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { buildKit } from "../../support/built-kit.js";

const program = path.resolve(__dirname, "../../../scripts/fuzz.mjs");
/** For a machine that is many times slower than usual. */
const limitMs = 240_000;
jest.setTimeout(limitMs);
let kit: string;

beforeAll(() => {
  kit = buildKit();
});
afterAll(() => rmSync(kit, { recursive: true, force: true }));

interface Finding {
  case: number;
  what: string;
  scheme: string;
}
interface Result {
  seed: number;
  cases: number;
  accepted: number;
  refused: number;
  untouched: number;
  http: number;
  answered200: number;
  perSecond: number;
  findings: Finding[];
}
interface Run {
  exitCode: number;
  result: Result;
  said: string;
}

/** Runs the program like `npm run fuzz`, with a kit that was compiled for this file. */
function fuzz(...args: string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, "--json", ...args],
      { timeout: limitMs },
      (error, stdout, stderr) => {
        const exitCode = error ? Number(error.code ?? -1) : 0;
        resolve({ exitCode, result: JSON.parse(stdout || "{}") as Result, said: stderr });
      },
    );
  });
}

/** Writes a kit with one defect. Its other exports are those of the kit. */
function defective(name: string, source: string): string {
  const folder = path.join(kit, name);
  mkdirSync(folder);
  writeFileSync(path.join(folder, "index.js"), `const kit = require(${JSON.stringify(kit)});\n${source}`);
  return folder;
}

describe("npm run fuzz", () => {
  it("finds no accepted message that was not signed, and no refused message that was signed", async () => {
    const { exitCode, result, said } = await fuzz("--kit", kit, "--count", "100000", "--seed", "7");
    expect({ findings: result.findings, exitCode }).toEqual({ findings: [], exitCode: 0 });
    expect(said).toMatch(/^seed 7\n/);
    expect(result.cases).toBe(100_000);
    expect(result.accepted + result.refused).toBe(result.cases);
    // It would also find nothing if every message was refused, or if no message reached the router.
    expect(result.untouched).toBeGreaterThan(result.cases / 100);
    expect(result.refused).toBeGreaterThan(result.cases / 2);
    expect(result.answered200).toBeGreaterThan(0);
    expect(result.http).toBeGreaterThan(result.answered200);
  });

  it.each([
    [
      "accepts a signature when the check throws",
      `exports.hmacSignature = (options) => {
        const scheme = kit.hmacSignature(options);
        return { ...scheme, verify(input) { try { return scheme.verify(input); } catch { return true; } } };
      };`,
    ],
    [
      "checks only the start of a signature",
      `exports.hmacSignature = (options) => {
        const scheme = kit.hmacSignature(options);
        const verify = ({ rawBody, headers }) =>
          String(headers["service-signature"]).slice(0, 16) === scheme.sign(rawBody).slice(0, 16);
        return { ...scheme, verify };
      };`,
    ],
    [
      "reads fields without a check for duplicate keys",
      `exports.fieldsSignature = (options) => {
        const scheme = kit.fieldsSignature(options);
        const once = (rawBody) => Buffer.from(JSON.stringify(JSON.parse(rawBody)));
        const verify = ({ rawBody, headers }) => scheme.verify({ rawBody: once(rawBody), headers });
        return { ...scheme, verify };
      };`,
    ],
    [
      "refuses upper case",
      `exports.hmacSignature = (options) => {
        const scheme = kit.hmacSignature(options);
        return { ...scheme, verify: (input) => !/[A-F]/.test(input.headers["service-signature"]) && scheme.verify(input) };
      };`,
    ],
  ])("finds a kit that %s, and prints how to repeat the case", async (name, source) => {
    const folder = defective(
      name,
      `module.exports = { ...kit };\n${source.replaceAll("exports.", "module.exports.")}`,
    );
    const args = ["--kit", folder, "--seed", "11"];
    const found = await fuzz(...args, "--count", "30000", "--http", "0", "--quiet");
    expect(found.exitCode).toBe(1);
    const again = await fuzz(...args, "--case", String(found.result.findings[0]!.case));
    expect(again.exitCode).toBe(1);
    expect(again.result.findings[0]!.scheme).toBe(found.result.findings[0]!.scheme);
  });

  it("reports an invalid option, and that it could not run", async () => {
    expect(await fuzz("--kit", kit, "--count", "many")).toMatchObject({
      exitCode: 3,
      said: expect.stringContaining("--count must be") as string,
    });
    expect(await fuzz("--kit", path.join(kit, "nowhere"))).toMatchObject({ exitCode: 3 });
  });
});
