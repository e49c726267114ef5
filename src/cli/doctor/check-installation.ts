import { existsSync, readdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { readOwnPackage, readPackage } from "../terminal/own-package.js";
import { finding, type Findings } from "./findings.js";
import { type ProbedSubject } from "./subject.js";

/** Checks the app's installed packages, and the version of Node that runs this command. */
export function* checkInstallation(
  { app, outside, environment }: Pick<ProbedSubject, "app" | "outside" | "environment">,
  nodeVersion = process.versions.node,
): Findings {
  if (outside) return;
  const { engines, peerDependencies } = readOwnPackage();
  const [node, express] = [engines.node, peerDependencies.express];
  if (!isInRange(nodeVersion, node))
    yield finding("node_unsupported", `This is Node ${nodeVersion}; tillkit supports ${node}.`);
  // A folder without a package.json is not the folder of an app.
  if (!existsSync(path.join(app, "package.json"))) return;
  const modules = foldersAbove(app).map((folder) => path.join(folder, "node_modules"));
  // Like `require`, searches the folders of NODE_PATH last.
  const shared = (environment["NODE_PATH"] ?? "").split(path.delimiter).filter((folder) => folder !== "");
  const searched = [...modules, ...shared.map((folder) => path.resolve(app, folder))];
  const versions = searched.map((folder) => readPackage(path.join(folder, "express")).version);
  const installed = versions.find((version) => version !== undefined);
  if (installed === undefined) yield finding("express_missing", `Express is not installed in ${app}.`);
  else if (!isInRange(installed, express))
    yield finding("express_unsupported", `Express ${installed} is installed; tillkit supports ${express}.`);
  const copies = [...copiesOf("tillkit", modules)].map(
    ([folder, version]) => `${version} in ${path.relative(app, folder) || "."}`,
  );
  if (copies.length > 1)
    yield finding("kit_twice", `${copies.length} copies of tillkit are installed: ${copies.join(", ")}.`);
}

function foldersAbove(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersAbove(parent)];
}

/** Returns a map from each copy's real path to its version. Also finds copies inside other packages. */
function copiesOf(name: string, modules: readonly string[]): Map<string, string> {
  const copies = new Map<string, string>();
  const search = (folder: string): void => {
    const { version } = readPackage(path.join(folder, name));
    if (version !== undefined) copies.set(realpathSync(path.join(folder, name)), version);
    for (const one of packagesIn(folder)) {
      const inner = path.join(folder, one, "node_modules");
      // A linked package is not searched, because its own installation may link back to this folder.
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

/** Returns whether a version is in a range of package.json. The range may use `^`, `>=` and `||`. */
export function isInRange(version: string, range: string): boolean {
  return range.split("||").some((one) => {
    const [, operator, min = ""] = /^\s*(\^|>=)\s*([\d.]+)\s*$/.exec(one) ?? [];
    const [own, least] = [version.split(/[-+]/, 1)[0]!, min].map((text) => text.split(".").map(Number));
    const index = least!.findIndex((part, at) => part !== (own![at] ?? 0));
    const isLower = index >= 0 && (own![index] ?? 0) < least![index]!;
    return !isLower && (operator === ">=" || own![0] === least![0]);
  });
}
