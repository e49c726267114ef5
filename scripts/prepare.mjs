// Installs and builds what is missing. Node's own modules only: nothing may be installed yet when this runs.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

const root = path.dirname(import.meta.dirname);
const at = (...parts) => path.join(root, ...parts);

/** Brings a fresh clone to where the shop can run. Says what it does on the error stream, and nothing otherwise. */
export function prepare() {
  install();
  const compile = (what, ...args) => run(`Building ${what} …`, process.execPath, args);
  const kit = ["src", "package.json", "tsconfig.json", "tsconfig.esm.json", "tsconfig.cjs.json"];
  if (isOlder("dist/cjs/package.json", kit)) compile("tillkit", at("scripts/build.mjs"));
  const shop = ["examples/express-shop/src", "examples/express-shop/tsconfig.json", "dist/cjs/package.json"];
  if (isOlder("examples/express-shop/dist/server.js", shop)) {
    compile("the example shop", at("scripts/tsc.mjs"), "-p", "examples/express-shop");
  }
}

/** `npm ci`, where a package of the lockfile is absent or of another version. */
export function install() {
  if (isInstalled()) return;
  // Whatever NODE_ENV says: the build needs the development dependencies.
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund"];
  // npm tells its scripts where it is; without it, a Windows shell is needed to find npm.cmd.
  const npm = process.env.npm_execpath;
  if (npm?.endsWith(".js")) run("Installing the dependencies …", process.execPath, [npm, ...args]);
  else run("Installing the dependencies …", "npm", args, { shell: process.platform === "win32" });
}

function isInstalled() {
  const installed = at("node_modules/.package-lock.json");
  if (!existsSync(installed)) return false;
  const wanted = JSON.parse(readFileSync(at("package-lock.json"), "utf8")).packages;
  const present = JSON.parse(readFileSync(installed, "utf8")).packages;
  // An optional package may rightly be absent: it is for another system.
  return Object.entries(wanted).every(([name, { version, optional, devOptional, peer, link }]) => {
    if (!name.includes("node_modules/") || link || optional || devOptional || peer) return true;
    return present[name]?.version === version;
  });
}

function isOlder(target, sources) {
  if (!existsSync(at(target))) return true;
  const built = statSync(at(target)).mtimeMs;
  return sources.some((source) => newest(at(source)) > built);
}

function newest(file) {
  const status = statSync(file);
  if (!status.isDirectory()) return status.mtimeMs;
  return Math.max(status.mtimeMs, ...readdirSync(file).map((name) => newest(path.join(file, name))));
}

function run(what, command, args, options = {}) {
  console.error(what);
  // Its output goes to the error stream, so that what the caller prints stays clean.
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2], ...options });
  if (status === 0) return;
  console.error(
    error ? error.message : `That failed, so there is nothing to run. (${path.basename(command)}: ${status})`,
  );
  process.exit(1);
}
