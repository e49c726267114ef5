import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { CannotRun } from "./options.mjs";

const root = path.resolve(import.meta.dirname, "../../../..");

/** Compiles the sources into a folder of this run. The folder is inside of the checkout, so that dependencies are found. */
export function compileKit() {
  const folder = mkdtempSync(path.join(root, "node_modules", ".tillkit-crash-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const tsc = [path.join(root, "scripts", "tsc.mjs"), "-p", path.join(root, "tsconfig.cjs.json")];
  const { status, stdout } = spawnSync(process.execPath, [...tsc, "--outDir", folder], { encoding: "utf8" });
  if (status !== 0) {
    remove();
    throw new CannotRun(`The sources do not compile:\n${stdout}`);
  }
  writeFileSync(path.join(folder, "package.json"), '{"type":"commonjs"}');
  return { folder, remove };
}
