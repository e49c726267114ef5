// Runs the native TypeScript compiler. The `tsc` on the PATH is an older one, for tools that need its API.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";

const home = path.dirname(createRequire(import.meta.url).resolve("@typescript/native/package.json"));

export function tsc(...args) {
  return (
    spawnSync(process.execPath, [path.join(home, "bin", "tsc"), ...args], { stdio: "inherit" }).status ?? 1
  );
}

if (process.argv[1] === import.meta.filename) process.exit(tsc(...process.argv.slice(2)));
