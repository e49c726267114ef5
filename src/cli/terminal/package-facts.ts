import { readFileSync, realpathSync } from "node:fs";
import path from "node:path";

/** What package.json says about tillkit. */
export interface PackageFacts {
  version: string;
  /** The supported versions of Node, as a range. */
  node: string;
  /** The supported versions of Express, as a range. */
  express: string;
}

/** Reads tillkit's own package.json: the nearest one of this name above this file, or, in ESM, above the script that runs. */
export function readPackageFacts(): PackageFacts {
  // One source is compiled twice: `import.meta` does not compile for CommonJS, and ESM has no `__filename`.
  let folder = path.dirname(typeof __filename === "string" ? __filename : realpathSync(process.argv[1]!));
  for (;;) {
    const { name, version, engines, peerDependencies } = readPackage(folder);
    if (name === "tillkit")
      return { version: version!, node: engines!.node, express: peerDependencies!.express };
    if (folder === path.dirname(folder)) throw new Error("The package.json of tillkit was not found.");
    folder = path.dirname(folder);
  }
}

interface Package {
  name?: string;
  version?: string;
  engines?: { node: string };
  peerDependencies?: { express: string };
}

/** Returns the package.json of a folder; an empty object if there is none. */
export function readPackage(folder: string): Package {
  try {
    return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Package;
  } catch {
    return {};
  }
}
