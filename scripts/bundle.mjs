// Writes the code of the package: CommonJS in few files.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { rollup } from "rollup";
import { codeOnly, tsc } from "./tsc.mjs";

const root = path.resolve(import.meta.dirname, "..");

/** The entry points that package.json exports. */
export const entries = ["index", "store/sql/index", "statement/index", "sandbox/index", "testing/index"];

/**
 * Compiles the sources in `from`, and writes the entry points, the command and what they share to `folder`.
 * They are few files, because opening files is most of an import. Throws where the sources do not compile.
 */
export async function bundle(folder, from = root) {
  mkdirSync(path.join(root, ".tmp"), { recursive: true });
  const compiled = mkdtempSync(path.join(root, ".tmp/compiled-"));
  try {
    if (tsc("-p", path.join(from, "tsconfig.esm.json"), ...codeOnly, "--outDir", compiled) !== 0)
      throw new TypeError("The sources do not compile.");
    const build = await rollup({
      input: Object.fromEntries(
        [...entries, "cli/main"].map((name) => [name, path.join(compiled, `${name}.js`)]),
      ),
      external: (id) => !/^[./]/.test(id),
      treeshake: { moduleSideEffects: false },
      plugins: [{ name: "imports", renderDynamicImport, renderChunk: requireInsideTry }],
      onwarn: ({ message }) => {
        throw new TypeError(message);
      },
    });
    await build.write({
      dir: folder,
      format: "cjs",
      exports: "named",
      esModule: true,
      interop: "auto",
      externalLiveBindings: false,
      dynamicImportInCjs: false,
      generatedCode: "es2015",
      chunkFileNames: "chunks/[name].js",
    });
  } finally {
    rmSync(compiled, { recursive: true, force: true });
  }
  writeFileSync(path.join(folder, "package.json"), '{"type":"commonjs"}\n');
}

/** Keeps the import of a file that the user names. It may be an ES module. */
function renderDynamicImport({ targetModuleId, customResolution }) {
  return targetModuleId === null && customResolution === null ? { left: "import(", right: ")" } : undefined;
}

/**
 * Moves each require of another package back into the try around its import. A bundler accepts that a package
 * is missing only if its require is inside of a try.
 */
function requireInsideTry(code) {
  const moved = /Promise\.resolve\(\)\.then\(\(\) => (\/\*#__PURE__\*\/\w+\(require\('[^.'][^']*'\)\))\)/g;
  return { code: code.replace(moved, "$1"), map: null };
}
