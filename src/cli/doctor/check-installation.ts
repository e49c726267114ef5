import { existsSync, readdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { type Finding } from "../terminal/finding.js";
import { readPackage, readPackageFacts } from "../terminal/package-facts.js";
import { finding } from "./findings.js";
import { type ProbedSubject } from "./subject.js";

/** Checks the packages that are installed for the app, and the version of Node that runs this, usually the app's too. */
export function checkInstallation(
  { app, outside }: Pick<ProbedSubject, "app" | "outside">,
  nodeVersion = process.versions.node,
): Finding[] {
  if (outside) return [];
  const findings: Finding[] = [];
  const supported = readPackageFacts();
  if (!isInRange(nodeVersion, supported.node))
    findings.push(
      finding("node_unsupported", `This is Node ${nodeVersion}; tillkit supports ${supported.node}.`),
    );
  // A folder without a package.json is not the folder of an app.
  if (!existsSync(path.join(app, "package.json"))) return findings;
  const modules = foldersAbove(app).map((folder) => path.join(folder, "node_modules"));
  const versions = modules.map((folder) => readPackage(path.join(folder, "express")).version);
  const express = versions.find((version) => version !== undefined);
  if (express === undefined) findings.push(finding("express_missing", `Express is not installed in ${app}.`));
  else if (!isInRange(express, supported.express)) {
    const message = `Express ${express} is installed; tillkit supports ${supported.express}.`;
    findings.push(finding("express_unsupported", message));
  }
  const copies = copiesOf("tillkit", modules);
  if (copies.size > 1) {
    const named = [...copies].map(
      ([folder, version]) => `${version} in ${path.relative(app, folder) || "."}`,
    );
    findings.push(
      finding("kit_twice", `${copies.size} copies of tillkit are installed: ${named.join(", ")}.`),
    );
  }
  return findings;
}

function foldersAbove(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersAbove(parent)];
}

/** Returns the versions of all copies of a package by their real paths, also of copies inside other packages. */
function copiesOf(name: string, modules: readonly string[]): Map<string, string> {
  const copies = new Map<string, string>();
  const search = (folder: string): void => {
    const { version } = readPackage(path.join(folder, name));
    if (version !== undefined) copies.set(realpathSync(path.join(folder, name)), version);
    for (const one of packagesIn(folder)) {
      const inner = path.join(folder, one, "node_modules");
      // A link leads to an installation of its own, perhaps back to this one.
      if (existsSync(inner) && realpathSync(path.join(folder, one)) === path.join(folder, one)) search(inner);
    }
  };
  for (const folder of modules) if (existsSync(folder)) search(realpathSync(folder));
  return copies;
}

function packagesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const isGroup = name === ".pnpm" || name.startsWith("@");
    if (isGroup) return readdirSync(path.join(folder, name)).map((one) => path.join(name, one));
    return name.startsWith(".") ? [] : [name];
  });
}

/** Returns whether a version is in a range of package.json: carets and `>=`, joined by `||`. */
export function isInRange(version: string, range: string): boolean {
  return range.split("||").some((one) => {
    const [, operator, min = ""] = /^\s*(\^|>=)\s*([\d.]+)\s*$/.exec(one) ?? [];
    const [own, least] = [version.replace(/[-+].*$/, ""), min].map((text) => text.split(".").map(Number));
    const index = least!.findIndex((part, at) => part !== (own![at] ?? 0));
    const isLower = index >= 0 && (own![index] ?? 0) < least![index]!;
    return !isLower && (operator === ">=" || own![0] === least![0]);
  });
}
