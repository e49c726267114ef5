// Compiles the sources to ESM and, all but the command line, to CommonJS. No bundler is used.
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { codeOnly, tsc } from "./tsc.mjs";

rmSync("dist", { recursive: true, force: true });
for (const project of ["tsconfig.esm.json", "tsconfig.cjs.json"]) {
  for (const part of [codeOnly, ["--emitDeclarationOnly"]]) {
    const status = tsc("-p", project, ...part);
    if (status !== 0) process.exit(status);
  }
}
// The command is an ES module: no entry point of CommonJS leads to it.
rmSync("dist/cjs/cli", { recursive: true });
for (const format of ["esm", "cjs"]) removeInternalTypes(path.resolve("dist", format));
requireInsideTry(path.resolve("dist/cjs"));
// npm makes the command executable where it installs the package; this does so in a clone.
chmodSync("dist/esm/cli/main.js", 0o755);
writeFileSync("dist/cjs/package.json", '{"type":"commonjs"}\n');

/** Removes the types that no entry point leads to: nobody can import them, and they are most of the files. */
function removeInternalTypes(folder) {
  const reached = new Set();
  const follow = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const [, target] of readFileSync(file, "utf8").matchAll(/"(\.{1,2}\/[^"]+)\.js"/g))
      follow(path.resolve(path.dirname(file), `${target}.d.ts`));
  };
  for (const entry of ["index", "store/sql/index", "statement/index", "sandbox/index", "testing/index"])
    follow(path.join(folder, `${entry}.d.ts`));
  for (const name of readdirSync(folder, { recursive: true }))
    if (name.endsWith(".d.ts") && !reached.has(path.join(folder, name))) rmSync(path.join(folder, name));
}

/**
 * Moves each require of another package back into the try around its import. A bundler accepts that a package
 * is missing only if its require is inside of a try. TypeScript writes the require into a function of its
 * own, which is outside.
 */
function requireInsideTry(folder) {
  const moved = /Promise\.resolve\(\)\.then\(\(\) => (__importStar\(require\("[^."][^"]*"\)\))\)/g;
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = path.join(folder, name);
    if (!name.endsWith(".js")) continue;
    const code = readFileSync(file, "utf8");
    if (moved.test(code)) writeFileSync(file, code.replace(moved, "$1"));
  }
}
