import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const root = resolve(__dirname, "../..");

/** The files that may be in the tarball beside the built ones. */
export const documents = ["CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md", "llms.txt", "package.json"];

/** The folders and files that are packed as they are, beside the documents. */
export const guides = [
  "docs",
  "examples/init",
  "examples/scenarios",
  "examples/stores/prisma/schema.prisma",
  "examples/stores/orms/prisma/schema.prisma",
  "examples/stores/orms/mysql/prisma/schema.prisma",
  ...["examples/stores", "examples/stores/orms", "examples/stores/orms/mysql"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((file) => file.endsWith(".ts"))
      .map((file) => `${folder}/${file}`),
  ),
  "bench/README.md",
];

export interface Packed {
  /** A folder for the test. */
  folder: string;
  tarball: string;
  /** Paths in the tarball. */
  files: string[];
  /** The folder that was packed. */
  source: string;
}

/**
 * Builds and packs the package like `npm publish`. It does so in a copy, so that the tarball is never older than the sources,
 * and concurrent tests do not see `dist` change.
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
    "scripts/bundle.mjs",
    "scripts/inside.mjs",
    "scripts/tsc.mjs",
    "examples/express-shop/package.json",
    ...documents,
    ...guides,
  ];
  for (const path of [...copied, "tsconfig.json", "tsconfig.esm.json", "tsconfig.cjs.json"]) {
    if (!existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(source, path)), { recursive: true });
    cpSync(join(root, path), join(source, path), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(source, "node_modules"));
  // Builds first, by its script `prepack`, as `npm publish` does.
  const [report] = JSON.parse(run(source, "npm", "pack", "--json", "--pack-destination", folder));
  return {
    folder,
    source,
    tarball: join(folder, report.filename),
    files: report.files.map(({ path }: { path: string }) => path).toSorted(),
  };
}

/** Makes a project that installs the tarball and these packages, without install scripts. */
export function install({ folder, tarball }: Packed, name: string, ...packages: string[]): string {
  const project = join(folder, name);
  mkdirSync(project, { recursive: true });
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--prefer-offline"];
  run(project, "npm", "install", "--prefix", project, ...flags, tarball, ...packages);
  return project;
}

/** Runs a command to its end and returns its output. The error of a failure contains the output. */
export function run(cwd: string, command: string, ...args: string[]): string {
  try {
    return execFileSync(command, args, { cwd, env: plainEnvironment(), encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** Returns the environment without the variables that jest and npm set for their children. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const own = /^(npm_|JEST_|NODE_ENV$|NODE_OPTIONS$|TILLKIT_|INIT_CWD$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}

/** Removes everything. Does nothing where packing failed. */
export function discard(packed: Packed | undefined): void {
  if (packed !== undefined) rmSync(packed.folder, { recursive: true, force: true });
}
