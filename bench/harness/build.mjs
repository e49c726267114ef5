// Finds the build that is measured, and checks that it was made from the sources.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { bundle } from "../../scripts/bundle.mjs";

const root = path.resolve(import.meta.dirname, "../..");
const built = path.join(root, "dist/cjs");

/**
 * Builds the code again, beside `dist`, and compares every file of it. Throws where one differs, so that a stale or edited
 * build is never measured. Returns what the report says about the build.
 */
export async function checkedBuild() {
  const fresh = freshFolder("bench-build-");
  try {
    await bundle(fresh);
    const differing = difference(built, fresh);
    if (differing !== undefined)
      throw new TypeError(`dist is not what the sources say (${differing}). Run npm run build first.`);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return { build: hashOf(built).slice(0, 16), ...commit() };
}

/** Builds another commit in a clone outside of the project, which shares its packages. Returns the folder of the code. */
export function buildCommit(name) {
  const run = (cwd, command, ...args) => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
    if (status !== 0)
      throw new TypeError(`${name} cannot be built: ${command} ${args[0]}\n${stdout}${stderr}`);
    return stdout.trim();
  };
  const commit = run(root, "git", "rev-parse", "--verify", "--end-of-options", `${name}^{commit}`);
  const clone = mkdtempSync(path.join(tmpdir(), "tillkit-against-"));
  process.on("exit", () => rmSync(clone, { recursive: true, force: true }));
  run(clone, "git", "clone", "--quiet", "--shared", "--no-checkout", root, ".");
  run(clone, "git", "checkout", "--quiet", "--detach", commit);
  symlinkSync(path.join(root, "node_modules"), path.join(clone, "node_modules"));
  run(clone, process.execPath, "scripts/build.mjs");
  return path.join(clone, "dist/cjs");
}

/** Makes an empty folder inside of the project, where a build finds the packages that it needs. */
export function freshFolder(prefix) {
  mkdirSync(path.join(root, ".tmp"), { recursive: true });
  return mkdtempSync(path.join(root, ".tmp", prefix));
}

/** Returns the first file that differs or that only one folder has, or `undefined`. */
export function difference(one, other) {
  const files = new Set([...filesIn(one), ...filesIn(other)]);
  return [...files].find((file) => {
    const [a, b] = [one, other].map((folder) => contentOf(path.join(folder, file)));
    return a === undefined || b === undefined || !a.equals(b);
  });
}

function hashOf(folder) {
  const hash = createHash("sha256");
  for (const file of filesIn(folder)) hash.update(`${file}\0`).update(contentOf(path.join(folder, file)));
  return hash.digest("hex");
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter((file) => !file.endsWith(".d.ts"))
    .toSorted();
}

function contentOf(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Returns the commit, and whether the measured files are unchanged since; nothing outside of a checkout. */
function commit() {
  const git = (...args) => {
    const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
    return status === 0 ? stdout.trim() : undefined;
  };
  const head = git("rev-parse", "--short=12", "HEAD");
  if (head === undefined) return {};
  return { commit: head, clean: git("status", "--porcelain", "--", "src", "bench", "package.json") === "" };
}
