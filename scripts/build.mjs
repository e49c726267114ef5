// Builds the package in dist: one CommonJS build, ES modules that export what it exports, and the types.
// With one build for both module systems, no process has two kits.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { bundle, entries, indentByTabs } from "./bundle.mjs";
import { inside } from "./inside.mjs";
import { tsc } from "./tsc.mjs";

process.chdir(path.resolve(import.meta.dirname, ".."));
rmSync("dist", { recursive: true, force: true });
await bundle(path.resolve("dist/cjs"));
// npm makes the command executable where it installs the package; this does so in a clone.
chmodSync("dist/cjs/cli/main.js", 0o755);
if (tsc("-p", "tsconfig.cjs.json", "--emitDeclarationOnly") !== 0)
  throw new TypeError("The types do not compile.");
removeInternalTypes(path.resolve("dist/cjs"));
refuseTypesOf(inside, "dist/cjs");
indentTypesByTabs("dist/cjs");
for (const entry of entries) exportFromModule(entry);

/** Removes the types that no entry point leads to: nobody can import them, and they are most of the files. */
function removeInternalTypes(folder) {
  const reached = new Set();
  const follow = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const [, target] of readFileSync(file, "utf8").matchAll(/"(\.{1,2}\/[^"]+)\.js"/g))
      follow(path.resolve(path.dirname(file), `${target}.d.ts`));
  };
  for (const entry of entries) follow(path.join(folder, `${entry}.d.ts`));
  for (const name of readdirSync(folder, { recursive: true }))
    if (name.endsWith(".d.ts") && !reached.has(path.join(folder, name))) rmSync(path.join(folder, name));
}

/** Indents types by tabs, which is 17 KB less than by spaces. */
function indentTypesByTabs(folder) {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const file = path.join(folder, name);
    if (name.endsWith(".d.ts")) writeFileSync(file, indentByTabs(readFileSync(file, "utf8")));
  }
}

/** Throws if a type names a package that is not installed with this one. */
function refuseTypesOf(name, folder) {
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" }))
    if (file.endsWith(".d.ts") && readFileSync(path.join(folder, file), "utf8").includes(`from "${name}"`))
      throw new TypeError(`${file} has types of ${name}, which is part of the build and is not installed.`);
}

/**
 * Writes the ES module of an entry point. It names each export, because bundlers do not see those of CommonJS.
 * Node reads the code of what an ES module imports once more, to find its exports. So it imports one line.
 */
function exportFromModule(entry) {
  const names = Object.keys(createRequire(import.meta.url)(path.resolve("dist/cjs", `${entry}.js`)));
  const file = `dist/esm/${entry}`;
  const code = path.posix.relative(path.posix.dirname(file), `dist/cjs/${entry}.js`);
  const between = `${path.posix.basename(entry)}.cjs`;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.cjs`, `exports.kit = require("${code}");\n`);
  writeFileSync(
    `${file}.js`,
    `import { kit } from "./${between}";\nexport const { ${names.join(", ")} } = kit;\n`,
  );
  writeFileSync(`${file}.d.ts`, `export * from "${code}";\n`);
}
