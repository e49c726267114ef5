import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { run } from "../../../src/cli/run.js";

/** The result of a run of the command line. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

interface Options {
  stdin?: string | Buffer;
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** Whether both output streams are a terminal. */
  terminal?: boolean;
  now?: () => Date;
  /** For commands that run until they are stopped. */
  signal?: AbortSignal;
}

/** Runs the command line in this process, and collects its output. */
export async function runCli(argv: readonly string[], options: Options = {}): Promise<Ran> {
  const { stdin = "", env = {}, cwd = tmpdir(), terminal = false, now, signal } = options;
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = [text(stdout), text(stderr)];
  const code = await run(argv, {
    stdin: Readable.from([Buffer.from(stdin as string)]),
    stdout: Object.assign(stdout, { isTTY: terminal }),
    stderr: Object.assign(stderr, { isTTY: terminal }),
    env,
    cwd,
    ...(now && { now }),
    ...(signal && { signal }),
  });
  stdout.end();
  stderr.end();
  const [out = "", err = ""] = await Promise.all(printed);
  return { code, stdout: out, stderr: err };
}

/** Returns the document that a run with `--json` printed; throws if there is not exactly one. */
export function documentOf({ stdout }: Ran) {
  const lines = stdout.split("\n");
  if (lines.length !== 2 || lines[1] !== "") throw new Error(`This is not one document:\n${stdout}`);
  return JSON.parse(lines[0]!);
}

/** Creates a folder for the tests of a file, which is removed after them. */
export function temporaryFolder(): { path: string; write(name: string, content: string | Buffer): string } {
  const folder = mkdtempSync(path.join(tmpdir(), "tillkit-cli-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    path: folder,
    write(name, content) {
      const file = path.join(folder, name);
      writeFileSync(file, content);
      return file;
    },
  };
}
