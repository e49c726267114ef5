import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const root = resolve(__dirname, "../..");

/** What may be in the tarball besides what is built. */
export const texts = ["CHANGELOG.md", "LICENSE", "README.md", "package.json"];

export interface Packed {
  /** A folder of its own, for the test to work in. */
  folder: string;
  tarball: string;
  /** Paths in the tarball. */
  files: string[];
  /** The folder that was packed. */
  source: string;
}

/**
 * Builds and packs the package as `npm publish` would. In a copy: so the tarball is never older than the sources, and
 * nothing that runs at the same time sees `dist` come and go.
 */
export function pack(): Packed {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "tillkit-package-")));
  try {
    return packInto(folder);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function packInto(folder: string): Packed {
  const source = join(folder, "source");
  const copied = [
    "src",
    "scripts/build.mjs",
    "scripts/tsc.mjs",
    "examples/express-shop/package.json",
    ...texts,
  ];
  for (const path of [...copied, "tsconfig.json", "tsconfig.esm.json", "tsconfig.cjs.json"]) {
    if (!existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(source, path)), { recursive: true });
    cpSync(join(root, path), join(source, path), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(source, "node_modules"));
  run(source, process.execPath, "scripts/build.mjs");
  const [report] = JSON.parse(
    run(source, "npm", "pack", "--json", "--ignore-scripts", "--pack-destination", folder),
  );
  return {
    folder,
    source,
    tarball: join(folder, report.filename),
    files: report.files.map(({ path }: { path: string }) => path).toSorted(),
  };
}

/** A project of somebody who installs the tarball, without any install script, beside these packages. */
export function install({ folder, tarball }: Packed, name: string, ...packages: string[]): string {
  const project = join(folder, name);
  mkdirSync(project);
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--prefer-offline"];
  run(project, "npm", "install", "--prefix", project, ...flags, tarball, ...packages);
  return project;
}

/** Runs a command to its end and gives its output; a failure has all of the output in its message. */
export function run(cwd: string, command: string, ...args: string[]): string {
  try {
    return execFileSync(command, args, { cwd, env: plainEnvironment(), encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** The environment without what jest and npm put into it for their own children. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const own = /^(npm_|JEST_|NODE_ENV$|NODE_OPTIONS$|TILLKIT_|INIT_CWD$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}

/** Removes everything; nothing to do where packing failed. */
export function discard(packed: Packed | undefined): void {
  if (packed !== undefined) rmSync(packed.folder, { recursive: true, force: true });
}
