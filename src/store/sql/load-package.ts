import { TillkitError } from "../../errors/index.js";

/** Loads a database driver at its first use: none of them is a dependency. */
export async function loadPackage<Module>(
  name: string,
  neededBy: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const message = `${neededBy} needs the package ${name}; run "npm install ${name}".`;
    throw new TillkitError("driver_missing", message, { cause });
  }
}
