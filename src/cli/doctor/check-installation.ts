import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { type Finding } from "../terminal/finding.js";
import { packageFacts } from "../terminal/package-facts.js";
import { found } from "./findings.js";
import { isInRange } from "./version-range.js";

/** What is installed for the app in a folder. `nodeVersion` is that of the process which looks, mostly the app's too. */
export function checkInstallation(folder: string, nodeVersion = process.versions.node): Finding[] {
  const findings: Finding[] = [];
  if (!isInRange(nodeVersion, packageFacts.node))
    findings.push(
      found("node_unsupported", `This is Node ${nodeVersion}; tillkit supports ${packageFacts.node}.`),
    );
  // Without it this is no folder of an app, and says nothing about one.
  if (!existsSync(path.join(folder, "package.json"))) return findings;
  const modules = foldersAbove(folder).map((one) => path.join(one, "node_modules"));
  const express = modules
    .map((one) => versionOf(path.join(one, "express")))
    .find((version) => version !== undefined);
  if (express === undefined)
    findings.push(found("express_missing", `Express is not installed in ${folder}.`));
  else if (!isInRange(express, packageFacts.express))
    findings.push(
      found(
        "express_unsupported",
        `Express ${express} is installed; tillkit supports ${packageFacts.express}.`,
      ),
    );
  const copies = copiesOf("tillkit", modules);
  if (copies.size > 1) {
    const named = [...copies].map(
      ([where, version]) => `${version} in ${path.relative(folder, where) || "."}`,
    );
    findings.push(found("kit_twice", `${copies.size} copies of tillkit are installed: ${named.join(", ")}.`));
  }
  return findings;
}

function foldersAbove(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersAbove(parent)];
}

/** Where the package lies, by its real path, with its version; also inside of other packages. */
function copiesOf(name: string, modules: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const look = (folder: string): void => {
    const version = versionOf(path.join(folder, name));
    if (version !== undefined) found.set(realpathSync(path.join(folder, name)), version);
    for (const one of packagesIn(folder)) {
      const inner = path.join(folder, one, "node_modules");
      // A link leads to a folder with an installation of its own, back to this one perhaps.
      if (existsSync(inner) && realpathSync(path.join(folder, one)) === path.join(folder, one)) look(inner);
    }
  };
  for (const folder of modules) if (existsSync(folder)) look(realpathSync(folder));
  return found;
}

function packagesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    if (name === ".pnpm") return readdirSync(path.join(folder, name)).map((one) => path.join(name, one));
    if (name.startsWith(".")) return [];
    return name.startsWith("@")
      ? readdirSync(path.join(folder, name)).map((one) => path.join(name, one))
      : [name];
  });
}

function versionOf(folder: string): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as {
      version?: string;
    };
    return version;
  } catch {
    return undefined;
  }
}
