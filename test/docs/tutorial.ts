import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { buildKit } from "../support/built-kit.js";

/** A folder of a merchant, in which the built kit can be imported as `tillkit`. */
export interface Tutorial {
  /** Writes a file of the merchant. */
  write: (file: string, text: string) => void;
  /** Runs `tillkit exam` as a page does. */
  exam: (file: string, env?: Record<string, string>) => Promise<{ stdout: string; stderr: string }>;
  /** Runs `node --test` with the merchant's tests, and rejects if a test fails. */
  test: () => Promise<{ stdout: string }>;
  /** Runs a program of the merchant, which prints JSON. */
  run: (file: string, env?: Record<string, string>) => Promise<unknown>;
  remove: () => void;
}

/** Returns the first block of a page in this language. */
export function firstBlock(page: string, language: string): string {
  return new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "ms").exec(page)![1]!;
}

export function makeTutorial(): Tutorial {
  const built = buildKit("esm");
  const exports = { ".": "./index.js", "./testing": "./testing/index.js" };
  writeFileSync(
    path.join(built, "package.json"),
    JSON.stringify({ name: "tillkit", type: "module", exports }),
  );
  const cwd = path.join(built, "tutorial");
  mkdirSync(cwd);
  const node = async (args: string[], env: Record<string, string> = {}) =>
    promisify(execFile)(process.execPath, args, { cwd, env: { ...process.env, ...env } });
  return {
    write: (file, text) => writeFileSync(path.join(cwd, file), text),
    exam: (file, env) =>
      node([path.join(built, "cli/main.js"), "exam", file], env).catch(
        (error: { stdout: string; stderr: string }) => error,
      ),
    test: () => node(["--test"]),
    run: async (file, env) => JSON.parse((await node([file], env)).stdout),
    remove: () => rmSync(built, { recursive: true, force: true }),
  };
}

/** Returns what an exam printed about failures, and its summary. */
export function resultOf(stdout: string): { failures: string[]; summary: string | undefined } {
  const failures = stdout.split("\n").filter((line) => /^(failed|Why:)/.test(line));
  return { failures, summary: /\d+ passed, .*/.exec(stdout)?.[0] };
}
