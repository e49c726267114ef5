// Packs the built package like `npm publish`, and unpacks the tarball into .tmp/package, for TILLKIT_TEST_TARGET=packed.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";

process.chdir(path.resolve(import.meta.dirname, ".."));
mkdirSync(".tmp", { recursive: true });
rmSync(".tmp/package", { recursive: true, force: true });
const npm = ["pack", "--json", "--ignore-scripts", "--pack-destination", ".tmp"];
const report = execFileSync("npm", npm, { encoding: "utf8", shell: process.platform === "win32" });
const [{ filename, entryCount }] = JSON.parse(report);
execFileSync("tar", ["-xzf", filename], { cwd: ".tmp", stdio: "inherit" });
console.log(`Unpacked the ${entryCount} files of ${filename}.`);
