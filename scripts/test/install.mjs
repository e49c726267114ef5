import { existsSync, readFileSync } from "node:fs";
import { runStage } from "./stage.mjs";

/** Installs the locked packages where one is absent or has another version, whatever NODE_ENV is. Otherwise returns `undefined`. */
export async function installMissing() {
  const reason = whyToInstall();
  if (reason === undefined) return undefined;
  console.log(`Installing the packages: ${reason}.`);
  return runStage("Install", ["npm", "ci", "--include=dev", "--no-audit", "--no-fund"]);
}

/**
 * Compares the lockfile with npm's note of the installation. File times would install the same packages again after a checkout
 * of another branch and back.
 */
function whyToInstall() {
  if (!existsSync("node_modules/.package-lock.json")) return "nothing is installed yet";
  const locked = packagesIn("package-lock.json");
  const installed = packagesIn("node_modules/.package-lock.json");
  for (const [folder, { version, link, optional }] of Object.entries(locked)) {
    if (folder === "" || link || !folder.includes("node_modules/")) continue;
    const found = installed[folder]?.version;
    // Optional packages may be for other platforms.
    if (found === undefined && optional) continue;
    if (found !== version) return `${folder} is ${found ?? "absent"}, and ${version} is locked`;
    if (!existsSync(folder)) return `${folder} is absent`;
  }
  return undefined;
}

function packagesIn(file) {
  return JSON.parse(readFileSync(file, "utf8")).packages;
}
