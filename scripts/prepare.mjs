// Installs and builds what is missing. Imports only Node's own modules, because the packages may not be installed yet.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

const root = path.dirname(import.meta.dirname);
const at = (...parts) => path.join(root, ...parts);

/** Installs and builds what the shop needs to run. Prints its steps on the error stream, and nothing where nothing is missing. */
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

/** Runs `npm ci` where a package of the lockfile is absent or has another version. */
export function install() {
  if (isInstalled()) return;
  // The build needs the development dependencies, whatever NODE_ENV is.
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund"];
  // npm gives its scripts its own path. Without that path, Windows needs a shell to find npm.cmd.
  const npm = process.env.npm_execpath;
  if (npm?.endsWith(".js")) run("Installing the dependencies …", process.execPath, [npm, ...args]);
  else run("Installing the dependencies …", "npm", args, { shell: process.platform === "win32" });
}

function isInstalled() {
  const installed = at("node_modules/.package-lock.json");
  if (!existsSync(installed)) return false;
  const wanted = JSON.parse(readFileSync(at("package-lock.json"), "utf8")).packages;
  const present = JSON.parse(readFileSync(installed, "utf8")).packages;
  // An optional package may be absent, because it is for another system.
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
  // Its output goes to the error stream, because standard output belongs to the caller.
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2], ...options });
  if (status === 0) return;
  console.error(
    error ? error.message : `This step failed, so nothing can run. (${path.basename(command)}: ${status})`,
  );
  process.exit(1);
}
