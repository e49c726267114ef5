import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import path from "node:path";

const root = path.resolve(__dirname, "../..");

/**
 * Compiles the sources for processes outside of jest, one time for each test file. Returns the folder, which replaces
 * `dist/cjs`, or `dist/esm`. It is inside of the checkout, so that dependencies are found.
 */
export function buildKit(format: "cjs" | "esm" = "cjs"): string {
  const folder = mkdtempSync(path.join(root, "node_modules", ".tillkit-built-"));
  const tsc = [
    path.join(root, "scripts", "tsc.mjs"),
    "-p",
    path.join(root, `tsconfig.${format}.json`),
    "--outDir",
    folder,
  ];
  const { status, stdout } = spawnSync(process.execPath, [...tsc], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`The sources do not compile:\n${stdout}`);
  const type = format === "cjs" ? "commonjs" : "module";
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type }));
  return folder;
}
