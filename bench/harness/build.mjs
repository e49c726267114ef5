// Which build is measured, and that it is what the sources say.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");
const built = path.join(root, "dist/esm");

/**
 * Compiles the sources once more, beside `dist`, and compares every file: whatever was changed on either side, after the build
 * or by hand, the run does not begin. Answers what the report says of the build.
 */
export function checkedBuild() {
  const fresh = freshFolder("bench-build-");
  try {
    const tsc = [path.join(root, "scripts/tsc.mjs"), "-p", path.join(root, "tsconfig.esm.json")];
    const { status, stdout } = spawnSync(process.execPath, [...tsc, "--outDir", fresh], {
      cwd: root,
      encoding: "utf8",
    });
    if (status !== 0) throw new TypeError(`The sources do not compile:\n${stdout}`);
    const differing = difference(built, fresh);
    if (differing !== undefined)
      throw new TypeError(`dist is not what the sources say (${differing}). Run npm run build first.`);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return { build: hashOf(built).slice(0, 16), ...commit() };
}

/** The built kit: `dist`, or the folder that TILLKIT_BENCH_KIT names. */
export function kitFolder() {
  return path.resolve(process.env.TILLKIT_BENCH_KIT ?? built);
}

/** Inside of the project, where a build finds the packages that it needs. */
export function freshFolder(prefix) {
  mkdirSync(path.join(root, ".tmp"), { recursive: true });
  return mkdtempSync(path.join(root, ".tmp", prefix));
}

/** The first file that only one of them has, or that differs; `undefined` where there is none. */
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
    .toSorted();
}

function contentOf(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** `clean`: nothing of what is measured differs from the commit. Neither is known outside of a checkout. */
function commit() {
  const git = (...args) => {
    const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
    return status === 0 ? stdout.trim() : undefined;
  };
  const head = git("rev-parse", "--short=12", "HEAD");
  if (head === undefined) return {};
  return { commit: head, clean: git("status", "--porcelain", "--", "src", "bench", "package.json") === "" };
}
