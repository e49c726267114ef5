// Runs the native TypeScript compiler. The `tsc` on the PATH is an older one, for tools that need its API.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";

const home = path.dirname(createRequire(import.meta.url).resolve("@typescript/native/package.json"));

/** The options with which only code is written. The doc comments are only in the types, so that the package stays small. */
export const codeOnly = ["--declaration", "false", "--removeComments"];

export function tsc(...args) {
  return (
    spawnSync(process.execPath, [path.join(home, "bin", "tsc"), ...args], { stdio: "inherit" }).status ?? 1
  );
}

if (process.argv[1] === import.meta.filename) process.exit(tsc(...process.argv.slice(2)));
