import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { until } from "./fixtures.js";

const root = path.join(__dirname, "../../..");

/** Compiles the sources for a process without jest. */
export function compiledModules() {
  const directory = mkdtempSync(path.join(tmpdir(), "tillkit-spool-build-"));
  beforeAll(() => {
    // The whole tree is compiled. Type errors elsewhere in it are ignored here.
    spawnSync(
      process.execPath,
      ["scripts/tsc.mjs", "-p", "tsconfig.cjs.json", "--outDir", directory, "--declaration", "false"],
      { cwd: root, stdio: "ignore" },
    );
    writeFileSync(path.join(directory, "package.json"), '{"type":"commonjs"}');
  }, 60_000);
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Starts a process that owns a segment of the directory. */
export function startOwner(modules: string, directory: string) {
  const child = fork(path.join(__dirname, "owner.cjs"), [modules, directory], { execArgv: [] });
  const acknowledged: string[] = [];
  const refused: unknown[] = [];
  child.on("message", (message: { acknowledged?: string }) => {
    if (message.acknowledged === undefined) refused.push(message);
    else acknowledged.push(message.acknowledged);
  });
  return {
    acknowledged,
    refused,
    tell: (message: { append: string; stopAfterSync?: boolean }) => void child.send(message),
    async append(id: string) {
      child.send({ append: id });
      await until(() => acknowledged.includes(id) || refused.length > 0);
    },
    stop: () => child.kill("SIGSTOP"),
    wake: () => child.kill("SIGCONT"),
    /** Reads the process state of Linux. */
    isStopped: () => / T /.test(readFileSync(`/proc/${child.pid}/stat`, "latin1")),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}
