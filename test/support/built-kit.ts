import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

const root = path.resolve(__dirname, "../..");

/**
 * Returns a folder with the compiled kit for processes outside of jest, which replaces `dist/cjs`, or `dist/esm`. The caller may
 * change it, and removes it. It is inside of the checkout, so that dependencies are found.
 */
export function buildKit(format: "cjs" | "esm" = "cjs"): string {
  const folder = newFolder();
  cpSync(builtOnce(format), folder, { recursive: true });
  const type = format === "cjs" ? "commonjs" : "module";
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type }));
  return folder;
}

/** Compiles the sources one time for each run of jest. Returns the folder, which all test files share. */
function builtOnce(format: "cjs" | "esm"): string {
  // global-setup.cjs names the folder, and global-teardown.cjs removes it.
  const shared = path.join(process.env["TILLKIT_TEST_BUILT"]!, format);
  if (existsSync(shared)) return shared;
  const folder = newFolder();
  const project = path.join(root, `tsconfig.${format}.json`);
  const tsc = [path.join(root, "scripts", "tsc.mjs"), "-p", project, "--outDir", folder];
  const { status, stdout } = spawnSync(process.execPath, tsc, { encoding: "utf8" });
  if (status !== 0) throw new Error(`The sources do not compile:\n${stdout}`);
  try {
    renameSync(folder, shared);
  } catch (error) {
    // Another worker was faster.
    if (!existsSync(shared)) throw error;
    rmSync(folder, { recursive: true });
  }
  return shared;
}

function newFolder(): string {
  return mkdtempSync(path.join(root, "node_modules", ".tillkit-built-"));
}
