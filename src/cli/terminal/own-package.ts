import { readFileSync, realpathSync } from "node:fs";
import path from "node:path";

/** The fields of tillkit's package.json that are read. */
interface OwnPackage {
  name: string;
  version: string;
  engines: { node: string };
  peerDependencies: { express: string };
  /** The folder of the package.json. */
  folder: string;
}

/** Reads tillkit's package.json: the nearest one above this file or, in ESM, above the running script. */
export function readOwnPackage(): OwnPackage {
  // This file is compiled for ESM, which has no `__filename`, and for CommonJS, which has no `import.meta`.
  let folder = path.dirname(typeof __filename === "string" ? __filename : realpathSync(process.argv[1]!));
  for (;;) {
    const found = readPackage(folder);
    if (found.name === "tillkit") return { ...found, folder } as OwnPackage;
    if (folder === path.dirname(folder)) throw new Error("The package.json of tillkit was not found.");
    folder = path.dirname(folder);
  }
}

/** Returns the package.json of a folder; an empty object if the file is missing or is not JSON. */
export function readPackage(folder: string): Partial<OwnPackage> {
  try {
    return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as OwnPackage;
  } catch {
    return {};
  }
}
