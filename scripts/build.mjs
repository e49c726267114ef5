// Compiles the sources to ESM and to CommonJS. No bundler is used.
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { tsc } from "./tsc.mjs";

rmSync("dist", { recursive: true, force: true });
for (const project of ["tsconfig.esm.json", "tsconfig.cjs.json"]) {
  const status = tsc("-p", project);
  if (status !== 0) process.exit(status);
}
// npm makes the command executable where it installs the package; this does so in a clone.
chmodSync("dist/esm/cli/main.js", 0o755);
writeFileSync("dist/cjs/package.json", '{"type":"commonjs"}\n');
