// Two plain compilations, ESM and CommonJS; no bundler stands between the sources and what is published.
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { tsc } from "./tsc.mjs";

rmSync("dist", { recursive: true, force: true });
for (const project of ["tsconfig.esm.json", "tsconfig.cjs.json"]) {
  const status = tsc("-p", project);
  if (status !== 0) process.exit(status);
}
// So that it also runs from a clone; npm sees to it where it installs the package.
chmodSync("dist/esm/cli/main.js", 0o755);
writeFileSync("dist/cjs/package.json", '{"type":"commonjs"}\n');
