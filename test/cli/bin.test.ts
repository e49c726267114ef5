import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { hmacSignature } from "tillkit";
import { buildKit } from "../support/built-kit.js";
import { secret } from "../support/kit.js";

const built = buildKit("esm");
afterAll(() => rmSync(built, { recursive: true, force: true }));

/** Runs the built command in a process of its own. */
function tillkit(argv: readonly string[], { input = "", env = {} } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(built, "cli/main.js"), ...argv], {
    input,
    env: { PATH: process.env["PATH"], ...env },
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

/** Writes the address of each module that is loaded to standard error. */
const hooks = `import { writeSync } from "node:fs";
export async function load(url, context, next) { writeSync(2, url + "\\n"); return next(url, context); }`;
const dataUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
const printModules = dataUrl(
  `import { register } from "node:module"; register(${JSON.stringify(dataUrl(hooks))});`,
);

/** Returns the kit's own modules that a run of the command loads. */
function modulesOf(argv: readonly string[], env = {}): string[] {
  const file = path.join(built, "cli/main.js");
  const { stderr } = spawnSync(process.execPath, ["--import", printModules, file, ...argv], {
    input: "{}",
    env: { PATH: process.env["PATH"], ...env },
    encoding: "utf8",
  });
  const own = `${pathToFileURL(built).href}/`;
  const loaded = stderr.split("\n").flatMap((url) => (url.startsWith(own) ? [url.slice(own.length)] : []));
  // Node.js loads modules in parallel, so their order is not always the same.
  return loaded.toSorted();
}

describe("the built command", () => {
  it("loads a command when it is called, with what it imports, and no other", () => {
    const always = modulesOf(["--version"]);
    expect(always).toContain("cli/main.js");
    expect(always.length).toBeLessThan(20);
    expect(modulesOf(["--help"])).toEqual(always);
    const ofSign = modulesOf(["sign", "-"], { TILLKIT_WEBHOOK_SECRET: secret });
    expect(ofSign).toContain("cli/sign/command.js");
    expect(ofSign.length).toBeLessThan(50);
  });

  it("reads standard input and its own environment, and exits with the code", () => {
    const signature = hmacSignature({ secret }).sign(Buffer.from("{}"));
    const env = { TILLKIT_WEBHOOK_SECRET: secret };
    expect(tillkit(["sign", "-"], { input: "{}", env })).toEqual({
      status: 0,
      stdout: `${signature}\n`,
      stderr: "",
    });
    const verify = ["verify", "-", "--signature", signature];
    expect(tillkit(verify, { input: "{}", env }).status).toBe(0);
    expect(tillkit(verify, { input: "{ }", env })).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("body_reserialised"),
    });
    expect(tillkit(["sing"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("command_unknown"),
    });
    expect(tillkit(["sign", "nowhere"], { env })).toMatchObject({ status: 3 });
  });

  it("ends without an error if its output is not read to the end", () => {
    const command = `"${process.execPath}" "${path.join(built, "cli/main.js")}" help verify | head -n 1`;
    const { stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
    expect(stdout).toMatch(/^tillkit verify: .*\n$/);
    expect(stderr).toBe("");
  });

  it.each([
    // `true` ends before the command writes.
    ["whose reader has stopped", "| true", "0", /^$/],
    ["on a full disk", "> /dev/full", "3", /^error file_unwritable: .*ENOSPC.* with the exit code 0\.\n$/],
  ])("writes every file, with a standard output %s", (_, output, code, errors) => {
    const folder = mkdtempSync(path.join(tmpdir(), "tillkit-bin-"));
    const init = `"${process.execPath}" "${path.join(built, "cli/main.js")}" init "${folder}" --yes`;
    const run = `exec 3>&1; { ${init}; echo $? >&3; } ${output}`;
    const { stdout, stderr } = spawnSync("sh", ["-c", run], { encoding: "utf8" });
    const written = readdirSync(folder);
    rmSync(folder, { recursive: true });
    expect(stdout).toBe(`${code}\n`);
    expect(stderr).toMatch(errors);
    // The command writes this file last.
    expect(written).toContain(".gitignore");
  });

  it("stops the sandbox if nobody reads its output", async () => {
    const argv = [path.join(built, "cli/main.js"), "sandbox", "--port", "0"];
    const sandbox = spawn(process.execPath, argv, { timeout: 60_000, killSignal: "SIGKILL" });
    sandbox.stdout.destroy();
    expect(await once(sandbox, "exit")).toEqual([0, null]);
  });

  it("keeps its result and its exit code if nobody reads the text on standard error", () => {
    // `true` ends before the command writes.
    const run = `exec 3>&1; { "${process.execPath}" "${path.join(built, "cli/main.js")}" nope --json 1>&3; echo $? >&3; } 2>&1 | true`;
    const { stdout } = spawnSync("sh", ["-c", run], { encoding: "utf8" });
    const [document = "", code] = stdout.trim().split("\n");
    expect(JSON.parse(document)).toMatchObject({ error: { code: "command_unknown" } });
    expect(code).toBe("2");
  });
});
