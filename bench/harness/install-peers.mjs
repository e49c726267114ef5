import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

const bench = path.dirname(import.meta.dirname);

/** Runs `npm ci` in bench/ if a package of its lockfile is missing or has another version. Runs no install scripts. */
export function installPeers() {
  if (isInstalled()) return;
  console.error("Installing the peers …");
  const args = ["ci", "--no-audit", "--no-fund", "--ignore-scripts"];
  // npm gives its scripts its own path; without that, Windows needs a shell to find npm.cmd.
  const npm = process.env.npm_execpath;
  const [command, given] = npm?.endsWith(".js") ? [process.execPath, [npm, ...args]] : ["npm", args];
  const shell = command === "npm" && process.platform === "win32";
  const { status } = spawnSync(command, given, { cwd: bench, shell, stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new TypeError("The peers could not be installed; --no-peers runs without them.");
}

function isInstalled() {
  const installed = path.join(bench, "node_modules/.package-lock.json");
  if (!existsSync(installed)) return false;
  const wanted = JSON.parse(readFileSync(path.join(bench, "package-lock.json"), "utf8")).packages;
  const present = JSON.parse(readFileSync(installed, "utf8")).packages;
  return Object.entries(wanted).every(
    ([name, { version, optional }]) => name === "" || optional || present[name]?.version === version,
  );
}
